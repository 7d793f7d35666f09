func.func @main() {
  %seven = shape.const_size 7
  %zero = shape.const_size 0
  // expected-error@+1 {{division of size 7 by zero}}
  %0 = shape.div %seven, %zero : !shape.size, !shape.size -> !shape.size
  return
}

// -----

func.func @main() {
  %most = arith.constant 9223372036854775807 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{size 9223372036854775808 does not fit in 64 bits}}
  %0 = shape.add %most, %one : index, index -> index
  return
}

// -----

func.func @main() {
  %s = shape.const_shape [4294967296, 4294967296] : tensor<2xindex>
  // expected-error@+1 {{size 18446744073709551616 does not fit in 64 bits}}
  %0 = shape.num_elements %s : tensor<2xindex> -> index
  return
}

// -----

func.func @main() {
  %s = shape.const_shape [4, 5] : !shape.shape
  %two = arith.constant 2 : index
  // expected-error@+1 {{index 2 is out of bounds for size 2}}
  %0 = shape.get_extent %s, %two : !shape.shape, index -> !shape.size
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<1.0> : tensor<f32>
  %zero = arith.constant 0 : index
  // expected-error@+1 {{index 0 is out of bounds for size 0}}
  %0 = shape.dim %x, %zero : tensor<f32>, index -> index
  return
}

// -----

func.func @main() {
  %s = shape.const_shape [4, 5] : !shape.shape
  %n = arith.constant -3 : index
  // expected-error@+1 {{cannot split a shape of 2 sizes at index -3}}
  %h, %t = "shape.split_at"(%s, %n) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
  return
}

// -----

func.func @main() {
  %s = shape.const_shape [4, 5, 6] : tensor<3xindex>
  %n = arith.constant 1 : index
  // expected-error@+1 {{expected tensor<2xindex> and tensor<1xindex>, got 1 and 2 sizes}}
  %h, %t = "shape.split_at"(%s, %n) : (tensor<3xindex>, index) -> (tensor<2xindex>, tensor<1xindex>)
  return
}

// -----

func.func @main() {
  %a = shape.const_shape [4, 5] : !shape.shape
  %b = shape.const_shape [4] : !shape.shape
  // expected-error@+1 {{shapes [4, 5], [4] have different ranks}}
  %0 = shape.max %a, %b : !shape.shape, !shape.shape -> !shape.shape
  return
}

// -----

func.func @main() {
  %a = shape.const_shape [2, 3] : tensor<2xindex>
  %b = shape.const_shape [2] : tensor<1xindex>
  // expected-error@+1 {{shapes [2, 3], [2] do not broadcast}}
  %0 = shape.broadcast %a, %b : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
  return
}

// -----

func.func @main() {
  %a = shape.const_shape [2, 3] : tensor<2xindex>
  %b = shape.const_shape [2] : tensor<1xindex>
  // expected-error@+1 {{shapes [2, 3], [2] do not broadcast}}
  %0 = shape.cstr_broadcastable %a, %b : tensor<2xindex>, tensor<1xindex>
  return
}

// -----

func.func @main() {
  %a = shape.const_shape [2] : tensor<1xindex>
  %b = shape.const_shape [3] : tensor<1xindex>
  // expected-error@+1 {{shapes [2], [3] are not equal}}
  %0 = shape.cstr_eq %a, %b : tensor<1xindex>, tensor<1xindex>
  return
}

// -----

func.func @main() {
  %no = arith.constant false
  // expected-error@+1 {{two is odd}}
  %0 = shape.cstr_require %no, "two is odd"
  return
}

// -----

// A false witness is an error even if it is combined with others.
func.func @main() {
  %good = shape.const_witness true
  // expected-error@+1 {{the constant witness is false}}
  %bad = shape.const_witness false
  %0 = shape.assuming_all %good, %bad
  shape.assuming %0 {
    shape.assuming_yield
  }
  return
}

// -----

func.func @main() {
  %n = arith.constant 12 : index
  %s = stablehlo.constant dense<[5, -1]> : tensor<2xi32>
  // expected-error@+1 {{cannot reshape 12 elements to [5, -1]}}
  %0 = stablehlo.cstr_reshapable %n, %s : (index, tensor<2xi32>) -> !shape.witness
  return
}
