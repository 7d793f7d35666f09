func.func @C1_same_width(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): shape(result) == shape(operand)}}
  %0 = "stablehlo.bitcast_convert"(%operand) : (tensor<2xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @C1_narrower(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): rank(result) == rank(operand) + 1 and shape(result)[:-1] == shape(operand) and dim(result, rank(operand)) * result_bits == bits}}
  %0 = "stablehlo.bitcast_convert"(%operand) : (tensor<2xi32>) -> tensor<2x3xi16>
  return
}

// -----

func.func @C1_wider(%operand: tensor<2x3xi16>) {
  // expected-error@+1 {{(C1): rank(result) == rank(operand) - 1 and shape(result) == shape(operand)[:-1] and dim(operand, rank(result)) * bits == result_bits}}
  %0 = "stablehlo.bitcast_convert"(%operand) : (tensor<2x3xi16>) -> tensor<2xi32>
  return
}

// -----

func.func @C1_of_a_scalar(%operand: tensor<i16>) {
  // expected-error@+1 {{(C1): rank(result) == rank(operand) - 1 and shape(result) == shape(operand)[:-1] and dim(operand, rank(result)) * bits == result_bits}}
  %0 = "stablehlo.bitcast_convert"(%operand) : (tensor<i16>) -> tensor<i32>
  return
}

// -----

func.func @C2(%operand: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{(C2): is_complex(operand) == is_complex(result)}}
  %0 = "stablehlo.bitcast_convert"(%operand) : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

func.func @types(%operand: !stablehlo.token, %operand_1: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "stablehlo.bitcast_convert"(%operand) : (!stablehlo.token) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "stablehlo.bitcast_convert"(%operand_1) : (tensor<2xi32>) -> !stablehlo.token
  return
}
