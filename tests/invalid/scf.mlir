func.func @if_C1(%c: i1, %x: i32) {
  // expected-error@+1 {{(C1): size(then_region.inputs) == size(else_region.inputs) == 0}}
  "scf.if"(%c) ({
  ^bb0(%a: i32):
    scf.yield
  }, {
  }) : (i1) -> ()
  return
}

// -----

func.func @if_C2(%c: i1, %x: i32) {
  // expected-error@+1 {{(C2): all_compatible(then_region.outputs, results)}}
  %0 = "scf.if"(%c) ({
    scf.yield
  }, {
    scf.yield %x : i32
  }) : (i1) -> i32
  return
}

// -----

func.func @if_C3(%c: i1, %x: i32) {
  // expected-error@+1 {{(C3): all_compatible(else_region.outputs, results)}}
  %0 = "scf.if"(%c) ({
    scf.yield %x : i32
  }, {
  }) : (i1) -> i32
  return
}

// -----

func.func @index_switch_C1(%i: index) {
  // expected-error@+1 {{(C1): size(cases) == size(case_regions)}}
  "scf.index_switch"(%i) <{cases = array<i64: 1, 2>}> ({
    scf.yield
  }, {
    scf.yield
  }) : (index) -> ()
  return
}

// -----

func.func @index_switch_C2(%i: index) {
  // expected-error@+1 {{(C2): is_unique(cases)}}
  "scf.index_switch"(%i) <{cases = array<i64: 1, 1>}> ({
    scf.yield
  }, {
    scf.yield
  }, {
    scf.yield
  }) : (index) -> ()
  return
}

// -----

func.func @index_switch_C3(%i: index) {
  // expected-error@+1 {{(C3): all(size(r.inputs) == 0 for r in (default_region, *case_regions))}}
  "scf.index_switch"(%i) <{cases = array<i64: 1>}> ({
    scf.yield
  }, {
  ^bb0(%x: i32):
    scf.yield
  }) : (index) -> ()
  return
}

// -----

func.func @index_switch_C4(%i: index, %x: i32) {
  // expected-error@+1 {{(C4): all(all_compatible(r.outputs, results) for r in (default_region, *case_regions))}}
  "scf.index_switch"(%i) <{cases = array<i64: 1>}> ({
    scf.yield
  }, {
    scf.yield %x : i32
  }) : (index) -> ()
  return
}

// -----

func.func @execute_region_C1() {
  // expected-error@+1 {{(C1): size(region.inputs) == 0}}
  "scf.execute_region"() ({
  ^bb0(%x: i32):
    scf.yield
  }) : () -> ()
  return
}

// -----

func.func @execute_region_C2(%x: i32) {
  // expected-error@+1 {{(C2): all_compatible(region.outputs, results)}}
  "scf.execute_region"() ({
    scf.yield %x : i32
  }) : () -> ()
  return
}

// -----

func.func @execute_region_empty(%x: i32) {
  // expected-error@+1 {{'scf.execute_region' op expects regions with at least one block}}
  "scf.execute_region"() ({
  }) : () -> ()
  return
}

// -----

func.func @execute_region_returns(%x: i32, %y: i64, %c: i1) {
  %0 = scf.execute_region -> i32 {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    scf.yield %x : i32
  ^bb2:
    // expected-error@+1 {{'scf.yield' op returns (i64), but an earlier block (i32)}}
    scf.yield %y : i64
  }
  return
}

// -----

func.func @for_C1(%a: index, %b: i32) {
  // expected-error@+1 {{(C1): lower_bound == upper_bound == step}}
  "scf.for"(%a, %a, %b) ({
  ^bb0(%i: index):
    scf.yield
  }) : (index, index, i32) -> ()
  return
}

// -----

func.func @for_C2(%a: index) {
  // expected-error@+1 {{(C2): all_compatible(region.inputs, (lower_bound, *init_args))}}
  "scf.for"(%a, %a, %a) ({
  ^bb0(%i: i32):
    scf.yield
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @for_C3(%a: index, %x: f32) {
  // expected-error@+1 {{(C3): all_compatible(region.outputs, init_args)}}
  %0 = scf.for %i = %a to %a step %a iter_args(%y = %x) -> (f32) {
    scf.yield %i : index
  }
  return
}

// -----

func.func @for_C4(%a: index, %x: f32) {
  // expected-error@+1 {{(C4): all_compatible(results, init_args)}}
  %0 = "scf.for"(%a, %a, %a, %x) ({
  ^bb0(%i: index, %y: f32):
    scf.yield %y : f32
  }) : (index, index, index, f32) -> f64
  return
}

// -----

func.func @while_C1(%x: f32, %c: i1) {
  // expected-error@+1 {{(C1): all_compatible(before.inputs, inits)}}
  "scf.while"(%x) ({
    scf.condition(%c)
  }, {
    scf.yield %x : f32
  }) : (f32) -> ()
  return
}

// -----

func.func @while_C2(%x: f32, %c: i1) {
  // expected-error@+1 {{(C2): all_compatible(before.outputs, (BOOLEAN, *results))}}
  "scf.while"() ({
    scf.condition(%c) %x : f32
  }, {
    scf.yield
  }) : () -> ()
  return
}

// -----

func.func @while_C3(%x: f32, %c: i1) {
  // expected-error@+1 {{(C3): all_compatible(after.inputs, results)}}
  %0 = "scf.while"() ({
    scf.condition(%c) %x : f32
  }, {
    scf.yield
  }) : () -> f32
  return
}

// -----

func.func @while_C4(%x: f32, %c: i1) {
  // expected-error@+1 {{(C4): all_compatible(after.outputs, inits)}}
  "scf.while"() ({
    scf.condition(%c)
  }, {
    scf.yield %x : f32
  }) : () -> ()
  return
}

// -----

func.func @condition(%x: f32) {
  // expected-error@+1 {{(C2): all_compatible(before.outputs, (BOOLEAN, *results))}}
  "scf.while"() ({
    // expected-error@+1 {{must be i1, but is f32}}
    "scf.condition"(%x) : (f32) -> ()
  }, {
    scf.yield
  }) : () -> ()
  return
}
