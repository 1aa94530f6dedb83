"""Prints a program in which ranks send each other large tensors in a ring, and write what they sent or received, in a random order: random_ranks.py SEED"""
import random
import sys

TENSOR = '!kiln.tensor<?x1024xf32>'
START = f'''
kiln.func @main(%x: {TENSOR} inout, %y: {TENSOR} inout, %out: {TENSOR} inout) orchestration {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %me = kiln.rank
  %n = kiln.ranks
  %rows = kiln.dim %x, 0
  %blocks = arith.ceildivsi %rows, %c32 : index
  %up = arith.addi %me, %c1 : index
  %next = arith.remsi %up, %n : index
  %around = arith.addi %me, %n : index
  %down = arith.subi %around, %c1 : index
  %previous = arith.remsi %down, %n : index
  %k0 = kiln.alloc(%rows) : {TENSOR}
  %k1 = kiln.alloc(%rows) : {TENSOR}
  scf.for %step = %c0 to %c2 step %c1 {{'''
PLACE = '''  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %bi = tile.block_idx 0
  %bj = tile.block_idx 1
  %i = arith.muli %bi, %c32 : index
  %j = arith.muli %bj, %c64 : index
  %a = tile.load %x[%i, %j] : !tile.tile<32x64xf32>
'''
END = f'''  }}
}}
kiln.func @halve(%x: {TENSOR} inout) incore {{
{PLACE}  %f = arith.constant 0.5 : f32
  %s = tile.full %f : !tile.tile<32x64xf32>
  %b = tile.mul %a, %s : !tile.tile<32x64xf32>
  tile.store %b, %x[%i, %j]
}}
kiln.func @add(%x: {TENSOR} in, %y: {TENSOR} inout) incore {{
{PLACE}  %b = tile.load %y[%i, %j] : !tile.tile<32x64xf32>
  %c = tile.add %a, %b : !tile.tile<32x64xf32>
  tile.store %c, %y[%i, %j]
}}'''


def steps(choose):
    """What one step of the loop does; halving keeps numbers from growing."""
    known, places = ['%x', '%y'], ['%x', '%y', '%k0', '%k1']
    for number in range(choose.randint(4, 12)):
        what = choose.choice(['exchange'] * 3 + ['halve'] + ['add'] * 2 + ['alloc'])
        source = choose.choice(known)
        target = choose.choice([place for place in places if place != source])
        if what == 'alloc':
            places.append(f'%l{number}')
            yield f'%l{number} = kiln.alloc(%rows) : {TENSOR}'
        elif what == 'halve':
            yield f'%t{number} = kiln.submit @halve({source}) grid(%blocks, %c16)'
        elif what == 'exchange':
            yield f'%s{number} = kiln.send {source} to %next'
            yield f'%r{number} = kiln.recv {target} from %previous'
            known += [target] * (target not in known)
        elif target in known:
            yield f'%t{number} = kiln.submit @add({source}, {target}) grid(%blocks, %c16)'
    for number, tensor in enumerate(known):
        yield f'%h{number} = kiln.submit @halve({tensor}) grid(%blocks, %c16)'
        yield f'%o{number} = kiln.submit @add({tensor}, %out) grid(%blocks, %c16)'


print(START)
for line in steps(random.Random(int(sys.argv[1]))):
    print('   ', line)
print(END)
