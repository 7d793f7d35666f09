func.func @_asin_acos_kernel_C1(%operand: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo._asin_acos_kernel"(%operand) : (tensor<2xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @_asin_acos_kernel_types(%operand: tensor<2xi32>, %operand_1: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of complex type, but is tensor<2xi32>}}
  %0 = "chlo._asin_acos_kernel"(%operand) : (tensor<2xi32>) -> tensor<2xcomplex<f32>>
  // expected-error@+1 {{result #0 (result) must be tensor of complex type, but is tensor<2xi32>}}
  %1 = "chlo._asin_acos_kernel"(%operand_1) : (tensor<2xcomplex<f32>>) -> tensor<2xi32>
  return
}

// -----

func.func @acos_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.acos"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @acos_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "chlo.acos"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %1 = "chlo.acos"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @acosh_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.acosh"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @acosh_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "chlo.acosh"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %1 = "chlo.acosh"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @asin_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.asin"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @asin_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "chlo.asin"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %1 = "chlo.asin"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @asinh_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.asinh"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @asinh_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "chlo.asinh"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %1 = "chlo.asinh"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @atan_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.atan"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @atan_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "chlo.atan"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %1 = "chlo.atan"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @atanh_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.atanh"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @atanh_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "chlo.atanh"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %1 = "chlo.atanh"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @bessel_i1e_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.bessel_i1e"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @bessel_i1e_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "chlo.bessel_i1e"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %1 = "chlo.bessel_i1e"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @conj_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.conj"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @conj_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "chlo.conj"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %1 = "chlo.conj"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @cosh_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.cosh"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @cosh_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "chlo.cosh"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %1 = "chlo.cosh"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @sinh_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.sinh"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @sinh_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "chlo.sinh"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %1 = "chlo.sinh"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @square_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.square"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @square_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "chlo.square"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %1 = "chlo.square"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @tan_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.tan"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @tan_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %0 = "chlo.tan"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type, but is tensor<2xi32>}}
  %1 = "chlo.tan"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @digamma_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.digamma"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @digamma_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point type, but is tensor<2xi32>}}
  %0 = "chlo.digamma"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2xi32>}}
  %1 = "chlo.digamma"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @erf_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.erf"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @erf_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point type, but is tensor<2xi32>}}
  %0 = "chlo.erf"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2xi32>}}
  %1 = "chlo.erf"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @erf_inv_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.erf_inv"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @erf_inv_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point type, but is tensor<2xi32>}}
  %0 = "chlo.erf_inv"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2xi32>}}
  %1 = "chlo.erf_inv"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @erfc_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.erfc"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @erfc_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point type, but is tensor<2xi32>}}
  %0 = "chlo.erfc"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2xi32>}}
  %1 = "chlo.erfc"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @lgamma_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(operand, result)}}
  %0 = "chlo.lgamma"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @lgamma_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point type, but is tensor<2xi32>}}
  %0 = "chlo.lgamma"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2xi32>}}
  %1 = "chlo.lgamma"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @is_inf_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): shape(operand) == shape(result)}}
  %0 = "chlo.is_inf"(%operand) : (tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @is_inf_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point type, but is tensor<2xi32>}}
  %0 = "chlo.is_inf"(%operand) : (tensor<2xi32>) -> tensor<2xi1>
  // expected-error@+1 {{result #0 (result) must be tensor of boolean type, but is tensor<2xi32>}}
  %1 = "chlo.is_inf"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @is_neg_inf_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): shape(operand) == shape(result)}}
  %0 = "chlo.is_neg_inf"(%operand) : (tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @is_neg_inf_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point type, but is tensor<2xi32>}}
  %0 = "chlo.is_neg_inf"(%operand) : (tensor<2xi32>) -> tensor<2xi1>
  // expected-error@+1 {{result #0 (result) must be tensor of boolean type, but is tensor<2xi32>}}
  %1 = "chlo.is_neg_inf"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @is_pos_inf_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): shape(operand) == shape(result)}}
  %0 = "chlo.is_pos_inf"(%operand) : (tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @is_pos_inf_types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point type, but is tensor<2xi32>}}
  %0 = "chlo.is_pos_inf"(%operand) : (tensor<2xi32>) -> tensor<2xi1>
  // expected-error@+1 {{result #0 (result) must be tensor of boolean type, but is tensor<2xi32>}}
  %1 = "chlo.is_pos_inf"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @mulhi_C1(%lhs: tensor<2xi32>, %rhs: tensor<3xi32>) {
  // expected-error@+1 {{(C1): compatible(lhs, rhs, result)}}
  %0 = "chlo.mulhi"(%lhs, %rhs) : (tensor<2xi32>, tensor<3xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @mulhi_types(%lhs: tensor<2xf32>, %rhs: tensor<2xi32>, %lhs_1: tensor<2xi32>, %rhs_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of integer type, but is tensor<2xf32>}}
  %0 = "chlo.mulhi"(%lhs, %rhs) : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xi32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of integer type, but is tensor<2xf32>}}
  %1 = "chlo.mulhi"(%lhs_1, %rhs_1) : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xi32>
  // expected-error@+1 {{result #0 (result) must be tensor of integer type, but is tensor<2xf32>}}
  %2 = "chlo.mulhi"(%lhs_1, %rhs) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @next_after_C1(%lhs: tensor<2xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C1): compatible(lhs, rhs, result)}}
  %0 = "chlo.next_after"(%lhs, %rhs) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @next_after_types(%lhs: tensor<2xi32>, %rhs: tensor<2xf32>, %lhs_1: tensor<2xf32>, %rhs_1: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of floating-point type, but is tensor<2xi32>}}
  %0 = "chlo.next_after"(%lhs, %rhs) : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of floating-point type, but is tensor<2xi32>}}
  %1 = "chlo.next_after"(%lhs_1, %rhs_1) : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2xi32>}}
  %2 = "chlo.next_after"(%lhs_1, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @polygamma_C1(%lhs: tensor<2xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C1): compatible(lhs, rhs, result)}}
  %0 = "chlo.polygamma"(%lhs, %rhs) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @polygamma_types(%lhs: tensor<2xi32>, %rhs: tensor<2xf32>, %lhs_1: tensor<2xf32>, %rhs_1: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of floating-point type, but is tensor<2xi32>}}
  %0 = "chlo.polygamma"(%lhs, %rhs) : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of floating-point type, but is tensor<2xi32>}}
  %1 = "chlo.polygamma"(%lhs_1, %rhs_1) : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2xi32>}}
  %2 = "chlo.polygamma"(%lhs_1, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @zeta_C1(%lhs: tensor<2xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C1): compatible(lhs, rhs, result)}}
  %0 = "chlo.zeta"(%lhs, %rhs) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @zeta_types(%lhs: tensor<2xi32>, %rhs: tensor<2xf32>, %lhs_1: tensor<2xf32>, %rhs_1: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of floating-point type, but is tensor<2xi32>}}
  %0 = "chlo.zeta"(%lhs, %rhs) : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of floating-point type, but is tensor<2xi32>}}
  %1 = "chlo.zeta"(%lhs_1, %rhs_1) : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2xi32>}}
  %2 = "chlo.zeta"(%lhs_1, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @constant_C1() {
  // expected-error@+1 {{(C1): value.type == output}}
  %0 = "chlo.constant"() <{value = dense<0> : tensor<2xi32>}> : () -> tensor<3xi32>
  return
}

// -----

func.func @constant_types() {
  // expected-error@+1 {{result #0 (output) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.constant"() <{value = dense<0> : tensor<2xi32>}> : () -> !stablehlo.token
  // expected-error@+1 {{requires attribute 'value'}}
  %1 = "chlo.constant"() : () -> tensor<2xi32>
  // expected-error@+1 {{attribute 'value' must be a tensor constant}}
  %2 = "chlo.constant"() <{value = "wrong"}> : () -> tensor<2xi32>
  return
}

// -----

func.func @constant_like_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): type_of(value) == element_type(result)}}
  %0 = "chlo.constant_like"(%operand) <{value = 0.0 : f32}> : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @constant_like_C2(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C2): shape(operand) == shape(result)}}
  %0 = "chlo.constant_like"(%operand) <{value = 0.0 : f32}> : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @constant_like_types(%operand: tensor<2x!quant.uniform<i8:f32, 1.0>>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor, but is tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %0 = "chlo.constant_like"(%operand) <{value = 0.0 : f32}> : (tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor, but is tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %1 = "chlo.constant_like"(%operand_1) <{value = 0.0 : f32}> : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  // expected-error@+1 {{requires attribute 'value'}}
  %2 = "chlo.constant_like"(%operand_1) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'value' must be a number}}
  %3 = "chlo.constant_like"(%operand_1) <{value = "wrong"}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
