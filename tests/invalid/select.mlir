func.func @C1(%pred: tensor<3xi1>, %on_true: tensor<2xf32>, %on_false: tensor<2xf32>) {
  // expected-error@+1 {{(C1): rank(pred) == 0 or shape(pred) == shape(on_true)}}
  %0 = "stablehlo.select"(%pred, %on_true, %on_false) : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C2(%pred: tensor<2xi1>, %on_true: tensor<2xf32>, %on_false: tensor<3xf32>) {
  // expected-error@+1 {{(C2): compatible(baseline_type(on_true), baseline_type(on_false), baseline_type(result))}}
  %0 = "stablehlo.select"(%pred, %on_true, %on_false) : (tensor<2xi1>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C2_result(%pred: tensor<2xi1>, %on_true: tensor<2xf32>, %on_false: tensor<2xf32>) {
  // expected-error@+1 {{(C2): compatible(baseline_type(on_true), baseline_type(on_false), baseline_type(result))}}
  %0 = "stablehlo.select"(%pred, %on_true, %on_false) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @types(%pred: tensor<2xi32>, %on_true: tensor<2xf32>, %on_false: tensor<2xf32>, %pred_1: tensor<2xi1>, %on_true_1: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %on_false_1: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{operand #0 (pred) must be tensor of boolean type, but is tensor<2xi32>}}
  %0 = "stablehlo.select"(%pred, %on_true, %on_false) : (tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{operand #1 (on_true) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %1 = "stablehlo.select"(%pred_1, %on_true_1, %on_false) : (tensor<2xi1>, tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{operand #2 (on_false) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %2 = "stablehlo.select"(%pred_1, %on_true, %on_false_1) : (tensor<2xi1>, tensor<2xf32>, tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %3 = "stablehlo.select"(%pred_1, %on_true, %on_false) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}
