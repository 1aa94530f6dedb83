// RUN: kiln-opt %s --kiln-inject-gm-pipe=report=true -split-input-file -verify-diagnostics
// RUN: not kiln-opt %s --kiln-inject-gm-pipe=machine=abacus -split-input-file 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: there is no machine 'abacus'

!p = !tile.pipe<aic -> aiv, 1024x8192xf32>
kiln.func @cube(%p: !p) role(aic) {
  %z = arith.constant 0.0 : f32
  %t = tile.full %z : !tile.tile<1024x8192xf32>
  tile.push %t, %p
}
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aiv) {
  %t = tile.pop %p : !tile.tile<1024x8192xf32>
}
kiln.func @big(%x: !kiln.tensor<8x8xf32>) group {
  // expected-remark@+1 {{pipe 'to_aiv' takes 35184372088832 bytes of global memory a block: 1048576 slots of 33554432}}
  %p = tile.pipe slots(1048576) : !p
  kiln.call @cube(%p)
  kiln.call @vec(%x, %p)
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>) orchestration {
  // expected-error@+1 {{needs 35184372088832 bytes for the pipes of each of 1000000 blocks, more than can be addressed}}
  %t = kiln.submit @big(%x) grid(1000, 1000)
}


// -----

// The rings are the 256th tensor.
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @cube(%p: !p) role(aic) {
  %z = arith.constant 0.0 : f32
  %t = tile.full %z : !tile.tile<8x8xf32>
  tile.push %t, %p
}
kiln.func @vec(%p: !p) role(aiv) {
  %t = tile.pop %p : !tile.tile<8x8xf32>
}
// expected-error@+1 {{has 255 tensors already; the rings of its pipes need one more, and a task carries at most 255}}
kiln.func @g(%x0: !kiln.tensor<1xf32>, %x1: !kiln.tensor<1xf32>, %x2: !kiln.tensor<1xf32>, %x3: !kiln.tensor<1xf32>, %x4: !kiln.tensor<1xf32>, %x5: !kiln.tensor<1xf32>, %x6: !kiln.tensor<1xf32>, %x7: !kiln.tensor<1xf32>, %x8: !kiln.tensor<1xf32>, %x9: !kiln.tensor<1xf32>, %x10: !kiln.tensor<1xf32>, %x11: !kiln.tensor<1xf32>, %x12: !kiln.tensor<1xf32>, %x13: !kiln.tensor<1xf32>, %x14: !kiln.tensor<1xf32>, %x15: !kiln.tensor<1xf32>, %x16: !kiln.tensor<1xf32>, %x17: !kiln.tensor<1xf32>, %x18: !kiln.tensor<1xf32>, %x19: !kiln.tensor<1xf32>, %x20: !kiln.tensor<1xf32>, %x21: !kiln.tensor<1xf32>, %x22: !kiln.tensor<1xf32>, %x23: !kiln.tensor<1xf32>, %x24: !kiln.tensor<1xf32>, %x25: !kiln.tensor<1xf32>, %x26: !kiln.tensor<1xf32>, %x27: !kiln.tensor<1xf32>, %x28: !kiln.tensor<1xf32>, %x29: !kiln.tensor<1xf32>, %x30: !kiln.tensor<1xf32>, %x31: !kiln.tensor<1xf32>, %x32: !kiln.tensor<1xf32>, %x33: !kiln.tensor<1xf32>, %x34: !kiln.tensor<1xf32>, %x35: !kiln.tensor<1xf32>, %x36: !kiln.tensor<1xf32>, %x37: !kiln.tensor<1xf32>, %x38: !kiln.tensor<1xf32>, %x39: !kiln.tensor<1xf32>, %x40: !kiln.tensor<1xf32>, %x41: !kiln.tensor<1xf32>, %x42: !kiln.tensor<1xf32>, %x43: !kiln.tensor<1xf32>, %x44: !kiln.tensor<1xf32>, %x45: !kiln.tensor<1xf32>, %x46: !kiln.tensor<1xf32>, %x47: !kiln.tensor<1xf32>, %x48: !kiln.tensor<1xf32>, %x49: !kiln.tensor<1xf32>, %x50: !kiln.tensor<1xf32>, %x51: !kiln.tensor<1xf32>, %x52: !kiln.tensor<1xf32>, %x53: !kiln.tensor<1xf32>, %x54: !kiln.tensor<1xf32>, %x55: !kiln.tensor<1xf32>, %x56: !kiln.tensor<1xf32>, %x57: !kiln.tensor<1xf32>, %x58: !kiln.tensor<1xf32>, %x59: !kiln.tensor<1xf32>, %x60: !kiln.tensor<1xf32>, %x61: !kiln.tensor<1xf32>, %x62: !kiln.tensor<1xf32>, %x63: !kiln.tensor<1xf32>, %x64: !kiln.tensor<1xf32>, %x65: !kiln.tensor<1xf32>, %x66: !kiln.tensor<1xf32>, %x67: !kiln.tensor<1xf32>, %x68: !kiln.tensor<1xf32>, %x69: !kiln.tensor<1xf32>, %x70: !kiln.tensor<1xf32>, %x71: !kiln.tensor<1xf32>, %x72: !kiln.tensor<1xf32>, %x73: !kiln.tensor<1xf32>, %x74: !kiln.tensor<1xf32>, %x75: !kiln.tensor<1xf32>, %x76: !kiln.tensor<1xf32>, %x77: !kiln.tensor<1xf32>, %x78: !kiln.tensor<1xf32>, %x79: !kiln.tensor<1xf32>, %x80: !kiln.tensor<1xf32>, %x81: !kiln.tensor<1xf32>, %x82: !kiln.tensor<1xf32>, %x83: !kiln.tensor<1xf32>, %x84: !kiln.tensor<1xf32>, %x85: !kiln.tensor<1xf32>, %x86: !kiln.tensor<1xf32>, %x87: !kiln.tensor<1xf32>, %x88: !kiln.tensor<1xf32>, %x89: !kiln.tensor<1xf32>, %x90: !kiln.tensor<1xf32>, %x91: !kiln.tensor<1xf32>, %x92: !kiln.tensor<1xf32>, %x93: !kiln.tensor<1xf32>, %x94: !kiln.tensor<1xf32>, %x95: !kiln.tensor<1xf32>, %x96: !kiln.tensor<1xf32>, %x97: !kiln.tensor<1xf32>, %x98: !kiln.tensor<1xf32>, %x99: !kiln.tensor<1xf32>, %x100: !kiln.tensor<1xf32>, %x101: !kiln.tensor<1xf32>, %x102: !kiln.tensor<1xf32>, %x103: !kiln.tensor<1xf32>, %x104: !kiln.tensor<1xf32>, %x105: !kiln.tensor<1xf32>, %x106: !kiln.tensor<1xf32>, %x107: !kiln.tensor<1xf32>, %x108: !kiln.tensor<1xf32>, %x109: !kiln.tensor<1xf32>, %x110: !kiln.tensor<1xf32>, %x111: !kiln.tensor<1xf32>, %x112: !kiln.tensor<1xf32>, %x113: !kiln.tensor<1xf32>, %x114: !kiln.tensor<1xf32>, %x115: !kiln.tensor<1xf32>, %x116: !kiln.tensor<1xf32>, %x117: !kiln.tensor<1xf32>, %x118: !kiln.tensor<1xf32>, %x119: !kiln.tensor<1xf32>, %x120: !kiln.tensor<1xf32>, %x121: !kiln.tensor<1xf32>, %x122: !kiln.tensor<1xf32>, %x123: !kiln.tensor<1xf32>, %x124: !kiln.tensor<1xf32>, %x125: !kiln.tensor<1xf32>, %x126: !kiln.tensor<1xf32>, %x127: !kiln.tensor<1xf32>, %x128: !kiln.tensor<1xf32>, %x129: !kiln.tensor<1xf32>, %x130: !kiln.tensor<1xf32>, %x131: !kiln.tensor<1xf32>, %x132: !kiln.tensor<1xf32>, %x133: !kiln.tensor<1xf32>, %x134: !kiln.tensor<1xf32>, %x135: !kiln.tensor<1xf32>, %x136: !kiln.tensor<1xf32>, %x137: !kiln.tensor<1xf32>, %x138: !kiln.tensor<1xf32>, %x139: !kiln.tensor<1xf32>, %x140: !kiln.tensor<1xf32>, %x141: !kiln.tensor<1xf32>, %x142: !kiln.tensor<1xf32>, %x143: !kiln.tensor<1xf32>, %x144: !kiln.tensor<1xf32>, %x145: !kiln.tensor<1xf32>, %x146: !kiln.tensor<1xf32>, %x147: !kiln.tensor<1xf32>, %x148: !kiln.tensor<1xf32>, %x149: !kiln.tensor<1xf32>, %x150: !kiln.tensor<1xf32>, %x151: !kiln.tensor<1xf32>, %x152: !kiln.tensor<1xf32>, %x153: !kiln.tensor<1xf32>, %x154: !kiln.tensor<1xf32>, %x155: !kiln.tensor<1xf32>, %x156: !kiln.tensor<1xf32>, %x157: !kiln.tensor<1xf32>, %x158: !kiln.tensor<1xf32>, %x159: !kiln.tensor<1xf32>, %x160: !kiln.tensor<1xf32>, %x161: !kiln.tensor<1xf32>, %x162: !kiln.tensor<1xf32>, %x163: !kiln.tensor<1xf32>, %x164: !kiln.tensor<1xf32>, %x165: !kiln.tensor<1xf32>, %x166: !kiln.tensor<1xf32>, %x167: !kiln.tensor<1xf32>, %x168: !kiln.tensor<1xf32>, %x169: !kiln.tensor<1xf32>, %x170: !kiln.tensor<1xf32>, %x171: !kiln.tensor<1xf32>, %x172: !kiln.tensor<1xf32>, %x173: !kiln.tensor<1xf32>, %x174: !kiln.tensor<1xf32>, %x175: !kiln.tensor<1xf32>, %x176: !kiln.tensor<1xf32>, %x177: !kiln.tensor<1xf32>, %x178: !kiln.tensor<1xf32>, %x179: !kiln.tensor<1xf32>, %x180: !kiln.tensor<1xf32>, %x181: !kiln.tensor<1xf32>, %x182: !kiln.tensor<1xf32>, %x183: !kiln.tensor<1xf32>, %x184: !kiln.tensor<1xf32>, %x185: !kiln.tensor<1xf32>, %x186: !kiln.tensor<1xf32>, %x187: !kiln.tensor<1xf32>, %x188: !kiln.tensor<1xf32>, %x189: !kiln.tensor<1xf32>, %x190: !kiln.tensor<1xf32>, %x191: !kiln.tensor<1xf32>, %x192: !kiln.tensor<1xf32>, %x193: !kiln.tensor<1xf32>, %x194: !kiln.tensor<1xf32>, %x195: !kiln.tensor<1xf32>, %x196: !kiln.tensor<1xf32>, %x197: !kiln.tensor<1xf32>, %x198: !kiln.tensor<1xf32>, %x199: !kiln.tensor<1xf32>, %x200: !kiln.tensor<1xf32>, %x201: !kiln.tensor<1xf32>, %x202: !kiln.tensor<1xf32>, %x203: !kiln.tensor<1xf32>, %x204: !kiln.tensor<1xf32>, %x205: !kiln.tensor<1xf32>, %x206: !kiln.tensor<1xf32>, %x207: !kiln.tensor<1xf32>, %x208: !kiln.tensor<1xf32>, %x209: !kiln.tensor<1xf32>, %x210: !kiln.tensor<1xf32>, %x211: !kiln.tensor<1xf32>, %x212: !kiln.tensor<1xf32>, %x213: !kiln.tensor<1xf32>, %x214: !kiln.tensor<1xf32>, %x215: !kiln.tensor<1xf32>, %x216: !kiln.tensor<1xf32>, %x217: !kiln.tensor<1xf32>, %x218: !kiln.tensor<1xf32>, %x219: !kiln.tensor<1xf32>, %x220: !kiln.tensor<1xf32>, %x221: !kiln.tensor<1xf32>, %x222: !kiln.tensor<1xf32>, %x223: !kiln.tensor<1xf32>, %x224: !kiln.tensor<1xf32>, %x225: !kiln.tensor<1xf32>, %x226: !kiln.tensor<1xf32>, %x227: !kiln.tensor<1xf32>, %x228: !kiln.tensor<1xf32>, %x229: !kiln.tensor<1xf32>, %x230: !kiln.tensor<1xf32>, %x231: !kiln.tensor<1xf32>, %x232: !kiln.tensor<1xf32>, %x233: !kiln.tensor<1xf32>, %x234: !kiln.tensor<1xf32>, %x235: !kiln.tensor<1xf32>, %x236: !kiln.tensor<1xf32>, %x237: !kiln.tensor<1xf32>, %x238: !kiln.tensor<1xf32>, %x239: !kiln.tensor<1xf32>, %x240: !kiln.tensor<1xf32>, %x241: !kiln.tensor<1xf32>, %x242: !kiln.tensor<1xf32>, %x243: !kiln.tensor<1xf32>, %x244: !kiln.tensor<1xf32>, %x245: !kiln.tensor<1xf32>, %x246: !kiln.tensor<1xf32>, %x247: !kiln.tensor<1xf32>, %x248: !kiln.tensor<1xf32>, %x249: !kiln.tensor<1xf32>, %x250: !kiln.tensor<1xf32>, %x251: !kiln.tensor<1xf32>, %x252: !kiln.tensor<1xf32>, %x253: !kiln.tensor<1xf32>, %x254: !kiln.tensor<1xf32>) group {
  // expected-remark@+1 {{pipe 'to_aiv' takes 512 bytes of global memory a block: 1 slots of 512}}
  %p = tile.pipe slots(1) : !p
  kiln.call @cube(%p)
  kiln.call @vec(%p)
}
