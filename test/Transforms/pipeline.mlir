// The passes in their order, by one name.
// RUN: kiln-opt %s --kiln-pipeline=platform=a2a3sim | FileCheck %s --check-prefix=ROLES
// RUN: kiln-opt %s --kiln-pipeline=platform=ascend950 | FileCheck %s --check-prefix=ROLES
// RUN: kiln-opt %s --kiln-pipeline=platform=h200 | FileCheck %s --check-prefix=HOPPER
// RUN: kiln-opt %s --kiln-pipeline=platform=cpu | FileCheck %s --check-prefix=CPU
// RUN: kiln-opt %s --kiln-pipeline="platform=a2a3sim last=kiln-outline" | FileCheck %s --check-prefix=OUTLINED
// RUN: kiln-opt %s --kiln-pipeline="platform=a2a3sim report=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// Applied to its own result it changes nothing.
// RUN: kiln-opt %s --kiln-pipeline=platform=a2a3sim -o %t.a2a3 && kiln-opt %t.a2a3 --kiln-pipeline=platform=a2a3sim | diff %t.a2a3 -
// RUN: kiln-opt %s --kiln-pipeline=platform=h200 -o %t.h200 && kiln-opt %t.h200 --kiln-pipeline=platform=h200 | diff %t.h200 -
// RUN: not kiln-opt %s --kiln-pipeline=platform=abacus 2>&1 | FileCheck %s --check-prefix=PLATFORM
// RUN: not kiln-opt %s --kiln-pipeline="platform=cpu last=frob" 2>&1 | FileCheck %s --check-prefix=PASS

// ROLES:        kiln.func @proj_aic({{.*}}) role(aic)
// ROLES:        kiln.func @proj_aiv({{.*}}) role(aiv)
// ROLES:          tile.free
// ROLES:        kiln.func @proj({{.*}}) group
// HOPPER:       kiln.func @proj({{.*}}) role(compute)
// CPU:          kiln.func @proj({{.*}}) incore
// CPU:            tile.matmul
// OUTLINED:     kiln.func @proj({{.*}}) incore
// OUTLINED-NOT: tile.pipe
// REPORT:       remark: @proj is split over aic and aiv
// REPORT:       remark: pipes of @proj proved
// PLATFORM:     there is no platform 'abacus'; kiln machines lists them
// PASS:         there is no pass 'frob'; the passes are, in order: kiln-inline, kiln-exact-indices, canonicalize, cse, kiln-outline,
kiln.func @main(%x: !kiln.tensor<64x64xf32>, %y: !kiln.tensor<64x64xf32>) orchestration {
  %t = kiln.incore "proj" grid(1) {
    %a = tile.load %x[0, 0] : !tile.tile<64x64xf32>
    %p = tile.matmul %a, %a : !tile.tile<64x64xf32>
    %e = tile.exp %p : !tile.tile<64x64xf32>
    tile.store %e, %y[0, 0]
  }
}
