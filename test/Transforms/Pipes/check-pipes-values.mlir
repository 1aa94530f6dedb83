// Pipes that are wrong for some values of a parameter only. The values come from the program: each condition is solved
// backwards for where it changes. Beside each wrong group is one where both ends do the same.
// RUN: kiln-opt %s --kiln-check-pipes=report -verify-diagnostics -split-input-file -o /dev/null

!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 137 : index
    %bad = arith.cmpi eq, %i, %k : index
    // expected-note @below {{how often role aiv pushes depends on this condition; role aic pops whether it holds or not}}
    scf.if %bad {
    } else {
      // expected-note @below {{role aiv pushes here}}
      tile.push %t, %p
    }
  }
}
kiln.func @pop(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{137 pushes into pipe 'to_aic' but 138 pops with n = 138: the last pop waits forever}}
    %u = tile.pop %p : !tile.tile<8x8xf32>
    tile.store %u, %y[0, 0]
  }
}
kiln.func @pop_alike(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 137 : index
    %bad = arith.cmpi eq, %i, %k : index
    scf.if %bad {
    } else {
      %u = tile.pop %p : !tile.tile<8x8xf32>
      tile.store %u, %y[0, 0]
    }
  }
}
// expected-note @below {{in group @equal}}
kiln.func @equal(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop(%y, %n, %p)
}
// expected-remark @below {{pipes of @equal_alike proved}}
kiln.func @equal_alike(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop_alike(%y, %n, %p)
}

// -----

!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 100003 : index
    %bad = arith.cmpi eq, %i, %k : index
    // expected-note @below {{how often role aiv pushes depends on this condition; role aic pops whether it holds or not}}
    scf.if %bad {
    } else {
      // expected-note @below {{role aiv pushes here}}
      tile.push %t, %p
    }
  }
}
kiln.func @pop(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{100003 pushes into pipe 'to_aic' but 100004 pops with n = 100004: the last pop waits forever}}
    %u = tile.pop %p : !tile.tile<8x8xf32>
    tile.store %u, %y[0, 0]
  }
}
kiln.func @pop_alike(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 100003 : index
    %bad = arith.cmpi eq, %i, %k : index
    scf.if %bad {
    } else {
      %u = tile.pop %p : !tile.tile<8x8xf32>
      tile.store %u, %y[0, 0]
    }
  }
}
// expected-note @below {{in group @far}}
kiln.func @far(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop(%y, %n, %p)
}
// expected-remark @below {{pipes of @far_alike proved}}
kiln.func @far_alike(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop_alike(%y, %n, %p)
}

// -----

!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 1000 : index
    %last = arith.constant 999 : index
    %m = arith.remsi %i, %k : index
    %bad = arith.cmpi eq, %m, %last : index
    // expected-note @below {{how often role aiv pushes depends on this condition; role aic pops whether it holds or not}}
    scf.if %bad {
    } else {
      // expected-note @below {{role aiv pushes here}}
      tile.push %t, %p
    }
  }
}
kiln.func @pop(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{999 pushes into pipe 'to_aic' but 1000 pops with n = 1000: the last pop waits forever}}
    %u = tile.pop %p : !tile.tile<8x8xf32>
    tile.store %u, %y[0, 0]
  }
}
kiln.func @pop_alike(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 1000 : index
    %last = arith.constant 999 : index
    %m = arith.remsi %i, %k : index
    %bad = arith.cmpi eq, %m, %last : index
    scf.if %bad {
    } else {
      %u = tile.pop %p : !tile.tile<8x8xf32>
      tile.store %u, %y[0, 0]
    }
  }
}
// expected-note @below {{in group @remainder}}
kiln.func @remainder(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop(%y, %n, %p)
}
// expected-remark @below {{pipes of @remainder_alike proved}}
kiln.func @remainder_alike(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop_alike(%y, %n, %p)
}

// -----

!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 49 : index
    %m = arith.muli %i, %i : index
    %bad = arith.cmpi eq, %m, %k : index
    // expected-note @below {{how often role aiv pushes depends on this condition; role aic pops whether it holds or not}}
    scf.if %bad {
    } else {
      // expected-note @below {{role aiv pushes here}}
      tile.push %t, %p
    }
  }
}
kiln.func @pop(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{7 pushes into pipe 'to_aic' but 8 pops with n = 8: the last pop waits forever}}
    %u = tile.pop %p : !tile.tile<8x8xf32>
    tile.store %u, %y[0, 0]
  }
}
kiln.func @pop_alike(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 49 : index
    %m = arith.muli %i, %i : index
    %bad = arith.cmpi eq, %m, %k : index
    scf.if %bad {
    } else {
      %u = tile.pop %p : !tile.tile<8x8xf32>
      tile.store %u, %y[0, 0]
    }
  }
}
// expected-note @below {{in group @square}}
kiln.func @square(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop(%y, %n, %p)
}
// expected-remark @below {{pipes of @square_alike proved}}
kiln.func @square_alike(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop_alike(%y, %n, %p)
}

// -----

!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 4660 : index
    %l = arith.constant 22136 : index
    %m = arith.xori %n, %k : index
    %bad = arith.cmpi eq, %m, %l : index
    // expected-note @below {{how often role aiv pushes depends on this condition; role aic pops whether it holds or not}}
    scf.if %bad {
    } else {
      // expected-note @below {{role aiv pushes here}}
      tile.push %t, %p
    }
  }
}
kiln.func @pop(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{0 pushes into pipe 'to_aic' but 17484 pops with n = 17484: the last pop waits forever}}
    %u = tile.pop %p : !tile.tile<8x8xf32>
    tile.store %u, %y[0, 0]
  }
}
kiln.func @pop_alike(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 4660 : index
    %l = arith.constant 22136 : index
    %m = arith.xori %n, %k : index
    %bad = arith.cmpi eq, %m, %l : index
    scf.if %bad {
    } else {
      %u = tile.pop %p : !tile.tile<8x8xf32>
      tile.store %u, %y[0, 0]
    }
  }
}
// expected-note @below {{in group @bits}}
kiln.func @bits(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop(%y, %n, %p)
}
// expected-remark @below {{pipes of @bits_alike proved}}
kiln.func @bits_alike(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop_alike(%y, %n, %p)
}

// -----

!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 3 : index
    %l = arith.constant 1234 : index
    %m = arith.divsi %n, %k : index
    %bad = arith.cmpi eq, %m, %l : index
    // expected-note @below {{how often role aiv pushes depends on this condition; role aic pops whether it holds or not}}
    scf.if %bad {
    } else {
      // expected-note @below {{role aiv pushes here}}
      tile.push %t, %p
    }
  }
}
kiln.func @pop(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{0 pushes into pipe 'to_aic' but 3702 pops with n = 3702: the last pop waits forever}}
    %u = tile.pop %p : !tile.tile<8x8xf32>
    tile.store %u, %y[0, 0]
  }
}
kiln.func @pop_alike(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 3 : index
    %l = arith.constant 1234 : index
    %m = arith.divsi %n, %k : index
    %bad = arith.cmpi eq, %m, %l : index
    scf.if %bad {
    } else {
      %u = tile.pop %p : !tile.tile<8x8xf32>
      tile.store %u, %y[0, 0]
    }
  }
}
// expected-note @below {{in group @quotient}}
kiln.func @quotient(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop(%y, %n, %p)
}
// expected-remark @below {{pipes of @quotient_alike proved}}
kiln.func @quotient_alike(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop_alike(%y, %n, %p)
}

// -----

!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 77 : index
    %l = arith.constant 6006 : index
    %m = arith.muli %n, %k : index
    %bad = arith.cmpi eq, %m, %l : index
    // expected-note @below {{how often role aiv pushes depends on this condition; role aic pops whether it holds or not}}
    scf.if %bad {
    } else {
      // expected-note @below {{role aiv pushes here}}
      tile.push %t, %p
    }
  }
}
kiln.func @pop(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{0 pushes into pipe 'to_aic' but 78 pops with n = 78: the last pop waits forever}}
    %u = tile.pop %p : !tile.tile<8x8xf32>
    tile.store %u, %y[0, 0]
  }
}
kiln.func @pop_alike(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 77 : index
    %l = arith.constant 6006 : index
    %m = arith.muli %n, %k : index
    %bad = arith.cmpi eq, %m, %l : index
    scf.if %bad {
    } else {
      %u = tile.pop %p : !tile.tile<8x8xf32>
      tile.store %u, %y[0, 0]
    }
  }
}
// expected-note @below {{in group @product}}
kiln.func @product(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop(%y, %n, %p)
}
// expected-remark @below {{pipes of @product_alike proved}}
kiln.func @product_alike(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop_alike(%y, %n, %p)
}

// -----

!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @push(%x: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 3 : index
    %l = arith.constant 40 : index
    %m = arith.shrui %i, %k : index
    %bad = arith.cmpi eq, %m, %l : index
    // expected-note @below {{how often role aiv pushes depends on this condition; role aic pops whether it holds or not}}
    scf.if %bad {
    } else {
      // expected-note @below {{role aiv pushes here}}
      tile.push %t, %p
    }
  }
}
kiln.func @pop(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{320 pushes into pipe 'to_aic' but 321 pops with n = 321: the last pop waits forever}}
    %u = tile.pop %p : !tile.tile<8x8xf32>
    tile.store %u, %y[0, 0]
  }
}
kiln.func @pop_alike(%y: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.constant 3 : index
    %l = arith.constant 40 : index
    %m = arith.shrui %i, %k : index
    %bad = arith.cmpi eq, %m, %l : index
    scf.if %bad {
    } else {
      %u = tile.pop %p : !tile.tile<8x8xf32>
      tile.store %u, %y[0, 0]
    }
  }
}
// expected-note @below {{in group @shift}}
kiln.func @shift(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop(%y, %n, %p)
}
// expected-remark @below {{pipes of @shift_alike proved}}
kiln.func @shift_alike(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @push(%x, %n, %p)
  kiln.call @pop_alike(%y, %n, %p)
}
