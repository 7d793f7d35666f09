func.func @C1(%a: tensor<2x3x3xf64>, %b: tensor<2x3x4xf32>) {
  // expected-error@+1 {{(C1): baseline_element_type(a) == baseline_element_type(b)}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf64>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C2(%a: tensor<2x3x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{(C2): 2 <= rank(a) == rank(b)}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @C2_few(%a: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{(C2): 2 <= rank(a) == rank(b)}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @C3(%a: tensor<1x3x3xf32>, %b: tensor<2x3x4xf32>) {
  // expected-error@+1 {{(C3): shape(a)[: R - 2] == shape(b)[: R - 2]}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<1x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C3_square(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>) {
  // expected-error@+1 {{(C3): dim(a, R - 2) == dim(a, R - 1) == dim(b, R - 2 if left_side else R - 1)}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C3_left_side(%a: tensor<2x3x3xf32>, %b: tensor<2x4x3xf32>) {
  // expected-error@+1 {{(C3): dim(a, R - 2) == dim(a, R - 1) == dim(b, R - 2 if left_side else R - 1)}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @C3_right_side(%a: tensor<2x3x3xf32>, %b: tensor<2x3x4xf32>) {
  // expected-error@+1 {{(C3): dim(a, R - 2) == dim(a, R - 1) == dim(b, R - 2 if left_side else R - 1)}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @C4(%a: tensor<2x3x3xf32>, %b: tensor<2x3x4xf32>) {
  // expected-error@+1 {{(C4): compatible(baseline_type(b), baseline_type(result))}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @types(%a: tensor<2x3x3xi32>, %b: tensor<2x3x4xf32>, %a_1: tensor<2x3x3xf32>, %b_1: tensor<2x3x4xi32>) {
  // expected-error@+1 {{operand #0 (a) must be tensor of floating-point or complex type or per-tensor quantized tensor, but is tensor<2x3x3xi32>}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xi32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{operand #1 (b) must be tensor of floating-point or complex type or per-tensor quantized tensor, but is tensor<2x3x4xi32>}}
  %1 = "stablehlo.triangular_solve"(%a_1, %b_1) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<2x3x4xi32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type or per-tensor quantized tensor, but is tensor<2x3x4xi32>}}
  %2 = "stablehlo.triangular_solve"(%a_1, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xi32>
  // expected-error@+1 {{requires attribute 'left_side'}}
  %3 = "stablehlo.triangular_solve"(%a_1, %b) <{lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{attribute 'left_side' must be a boolean}}
  %4 = "stablehlo.triangular_solve"(%a_1, %b) <{left_side = "wrong", lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{requires attribute 'lower'}}
  %5 = "stablehlo.triangular_solve"(%a_1, %b) <{left_side = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{attribute 'lower' must be a boolean}}
  %6 = "stablehlo.triangular_solve"(%a_1, %b) <{left_side = true, lower = "wrong", unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{requires attribute 'unit_diagonal'}}
  %7 = "stablehlo.triangular_solve"(%a_1, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{attribute 'unit_diagonal' must be a boolean}}
  %8 = "stablehlo.triangular_solve"(%a_1, %b) <{left_side = true, lower = true, unit_diagonal = "wrong", transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{requires attribute 'transpose_a'}}
  %9 = "stablehlo.triangular_solve"(%a_1, %b) <{left_side = true, lower = true, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{attribute 'transpose_a' must be a transpose: one of NO_TRANSPOSE, TRANSPOSE, ADJOINT}}
  %10 = "stablehlo.triangular_solve"(%a_1, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = "wrong"}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}
