# Prints a program whose kernel has so many tensors and scalars, interleaved; every third tensor is written.
import sys

tensors, scalars = int(sys.argv[1]), int(sys.argv[2])
kinds = []
for i in range(max(tensors, scalars)):
    if i < tensors:
        kinds.append(("t", i))
    if i < scalars:
        kinds.append(("s", i))
params = ", ".join(
    f"%t{i}: !kiln.tensor<8x8xf32>" if kind == "t" else f"%s{i}: index" for kind, i in kinds)
print(f"kiln.func @many({params}) incore {{")
for i in range(tensors):
    if i % 3 == 2:
        print(f"  tile.store %x{i - 1}, %t{i}[0, 0]")
    else:
        print(f"  %x{i} = tile.load %t{i}[0, 0] : !tile.tile<8x8xf32>")
print("}")
args = ", ".join(f"%t{i}" if kind == "t" else f"%c{i}" for kind, i in kinds)
print("kiln.func @main(" + ", ".join(f"%t{i}: !kiln.tensor<8x8xf32>" for i in range(tensors)) + ") orchestration {")
for i in range(scalars):
    print(f"  %c{i} = arith.constant {i} : index")
print(f"  %task = kiln.submit @many({args})")
print("}")
