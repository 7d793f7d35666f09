func.func @apply_C1(%i: index) {
  // expected-error@+1 {{(C1): map.dims + map.symbols == size(operands)}}
  %0 = "affine.apply"(%i) <{map = affine_map<(d0, d1) -> (d0)>}> : (index) -> index
  return
}

// -----

func.func @apply_C2(%i: index) {
  // expected-error@+1 {{(C2): size(map.results) == 1}}
  %0 = "affine.apply"(%i) <{map = affine_map<(d0) -> ()>}> : (index) -> index
  return
}

// -----

func.func @min_C1(%i: index) {
  // expected-error@+1 {{(C1): map.dims + map.symbols == size(operands)}}
  %0 = "affine.min"(%i) <{map = affine_map<(d0, d1) -> (d0)>}> : (index) -> index
  return
}

// -----

func.func @min_C2(%i: index) {
  // expected-error@+1 {{(C2): size(map.results) >= 1}}
  %0 = "affine.min"(%i) <{map = affine_map<(d0) -> ()>}> : (index) -> index
  return
}

// -----

func.func @max_C1(%i: index) {
  // expected-error@+1 {{(C1): map.dims + map.symbols == size(operands)}}
  %0 = "affine.max"(%i) <{map = affine_map<(d0, d1) -> (d0)>}> : (index) -> index
  return
}

// -----

func.func @max_C2(%i: index) {
  // expected-error@+1 {{(C2): size(map.results) >= 1}}
  %0 = "affine.max"(%i) <{map = affine_map<(d0) -> ()>}> : (index) -> index
  return
}

// -----

func.func @map(%i: index) {
  // expected-error@+1 {{attribute 'map' must be an affine map: unknown name 'd1'}}
  %0 = "affine.apply"(%i) <{map = affine_map<(d0) -> (d1)>}> : (index) -> index
  return
}

// -----

func.func @map(%i: index) {
  // expected-error@+1 {{attribute 'map' must be an affine map: malformed results 'd0 + * 2'}}
  %0 = "affine.apply"(%i) <{map = affine_map<(d0) -> (d0 + * 2)>}> : (index) -> index
  return
}
