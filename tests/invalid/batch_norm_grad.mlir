func.func @C1(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %mean: tensor<2xf32>, %variance: tensor<2xf32>, %grad_output: tensor<3x2xf32>) {
  // expected-error@+1 {{(C1): 0 <= feature_index < rank(operand)}}
  %0:3 = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C1_negative(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %mean: tensor<2xf32>, %variance: tensor<2xf32>, %grad_output: tensor<3x2xf32>) {
  // expected-error@+1 {{(C1): 0 <= feature_index < rank(operand)}}
  %0:3 = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = -1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C2(%operand: tensor<3x2xf32>, %scale: tensor<2xf64>, %mean: tensor<2xf32>, %variance: tensor<2xf32>, %grad_output: tensor<3x2xf32>) {
  // expected-error@+1 {{(C2): same(map(baseline_element_type, (operand, scale, mean, variance, grad_output, grad_operand, grad_scale, grad_offset)))}}
  %0:3 = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf64>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C3(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %mean: tensor<2xf32>, %variance: tensor<2xf32>, %grad_output: tensor<2x2xf32>) {
  // expected-error@+1 {{(C3): same(map(shape, (operand, grad_output, grad_operand)))}}
  %0:3 = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C3_result(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %mean: tensor<2xf32>, %variance: tensor<2xf32>, %grad_output: tensor<3x2xf32>) {
  // expected-error@+1 {{(C3): same(map(shape, (operand, grad_output, grad_operand)))}}
  %0:3 = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C4(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %mean: tensor<3xf32>, %variance: tensor<2xf32>, %grad_output: tensor<3x2xf32>) {
  // expected-error@+1 {{(C4): same(map(shape, (scale, mean, variance, grad_scale, grad_offset)))}}
  %0:3 = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C4_result(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %mean: tensor<2xf32>, %variance: tensor<2xf32>, %grad_output: tensor<3x2xf32>) {
  // expected-error@+1 {{(C4): same(map(shape, (scale, mean, variance, grad_scale, grad_offset)))}}
  %0:3 = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<3xf32>)
  return
}

// -----

func.func @C5(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %mean: tensor<2xf32>, %variance: tensor<2xf32>, %grad_output: tensor<3x2xf32>) {
  // expected-error@+1 {{(C5): size(scale) == dim(operand, feature_index)}}
  %0:3 = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 0 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @types(%operand: tensor<3x2xi32>, %scale: tensor<2xf32>, %mean: tensor<2xf32>, %variance: tensor<2xf32>, %grad_output: tensor<3x2xf32>, %operand_1: tensor<3x2xf32>, %scale_1: tensor<2xi32>, %mean_1: tensor<2xi32>, %variance_1: tensor<2xi32>, %grad_output_1: tensor<3x2xi32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point type or per-tensor quantized tensor, but is tensor<3x2xi32>}}
  %0:3 = "stablehlo.batch_norm_grad"(%operand, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xi32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{operand #1 (scale) must be 1-dimensional tensor of floating-point or per-tensor quantized type, but is tensor<2xi32>}}
  %1:3 = "stablehlo.batch_norm_grad"(%operand_1, %scale_1, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{operand #2 (mean) must be 1-dimensional tensor of floating-point or per-tensor quantized type, but is tensor<2xi32>}}
  %2:3 = "stablehlo.batch_norm_grad"(%operand_1, %scale, %mean_1, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{operand #3 (variance) must be 1-dimensional tensor of floating-point or per-tensor quantized type, but is tensor<2xi32>}}
  %3:3 = "stablehlo.batch_norm_grad"(%operand_1, %scale, %mean, %variance_1, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{operand #4 (grad_output) must be tensor of floating-point type or per-tensor quantized tensor, but is tensor<3x2xi32>}}
  %4:3 = "stablehlo.batch_norm_grad"(%operand_1, %scale, %mean, %variance, %grad_output_1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xi32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{result #0 (grad_operand) must be tensor of floating-point type or per-tensor quantized tensor, but is tensor<3x2xi32>}}
  %5:3 = "stablehlo.batch_norm_grad"(%operand_1, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xi32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{result #1 (grad_scale) must be 1-dimensional tensor of floating-point or per-tensor quantized type, but is tensor<2xi32>}}
  %6:3 = "stablehlo.batch_norm_grad"(%operand_1, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xi32>, tensor<2xf32>)
  // expected-error@+1 {{result #2 (grad_offset) must be 1-dimensional tensor of floating-point or per-tensor quantized type, but is tensor<2xi32>}}
  %7:3 = "stablehlo.batch_norm_grad"(%operand_1, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xi32>)
  // expected-error@+1 {{requires attribute 'epsilon'}}
  %8:3 = "stablehlo.batch_norm_grad"(%operand_1, %scale, %mean, %variance, %grad_output) <{feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{attribute 'epsilon' must be a f32 number}}
  %9:3 = "stablehlo.batch_norm_grad"(%operand_1, %scale, %mean, %variance, %grad_output) <{epsilon = "wrong", feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{requires attribute 'feature_index'}}
  %10:3 = "stablehlo.batch_norm_grad"(%operand_1, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{attribute 'feature_index' must be a 64-bit integer}}
  %11:3 = "stablehlo.batch_norm_grad"(%operand_1, %scale, %mean, %variance, %grad_output) <{epsilon = 1.0e-3 : f32, feature_index = "wrong"}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
