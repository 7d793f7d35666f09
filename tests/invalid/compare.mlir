func.func @C1(%lhs: tensor<2xf32>, %rhs: tensor<2xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "stablehlo.compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xi1>
  return
}

// -----

func.func @C2(%lhs: tensor<2xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C2): shape(lhs) == shape(rhs) == shape(result)}}
  %0 = "stablehlo.compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xi1>
  return
}

// -----

func.func @C2_result(%lhs: tensor<2xf32>, %rhs: tensor<2xf32>) {
  // expected-error@+1 {{(C2): shape(lhs) == shape(rhs) == shape(result)}}
  %0 = "stablehlo.compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @C3(%lhs: tensor<2xcomplex<f32>>, %rhs: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{(C3): compare_type != ComparisonType.TOTALORDER or not is_complex(lhs)}}
  %0 = "stablehlo.compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  return
}

// -----

func.func @types(%lhs: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %rhs: tensor<2xf32>, %lhs_1: tensor<2xf32>, %rhs_1: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2xf32>) -> tensor<2xi1>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.compare"(%lhs_1, %rhs_1) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2xf32>, tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2xi1>
  // expected-error@+1 {{result #0 (result) must be tensor of boolean type, but is tensor<2xi32>}}
  %2 = "stablehlo.compare"(%lhs_1, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi32>
  // expected-error@+1 {{requires attribute 'comparison_direction'}}
  %3 = "stablehlo.compare"(%lhs_1, %rhs) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // expected-error@+1 {{attribute 'comparison_direction' must be a comparison_direction: one of EQ, NE, GE, GT, LE, LT}}
  %4 = "stablehlo.compare"(%lhs_1, %rhs) <{comparison_direction = "wrong"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // expected-error@+1 {{attribute 'compare_type' must be a comparison_type: one of FLOAT, TOTALORDER, SIGNED, UNSIGNED, NOTYPE}}
  %5 = "stablehlo.compare"(%lhs_1, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = "wrong"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}
