func.func @C1(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %offset: tensor<2xf32>) {
  // expected-error@+1 {{(C1): 0 <= feature_index < rank(operand)}}
  %0:3 = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C1_negative(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %offset: tensor<2xf32>) {
  // expected-error@+1 {{(C1): 0 <= feature_index < rank(operand)}}
  %0:3 = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = -1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C2(%operand: tensor<3x2xf32>, %scale: tensor<2xf64>, %offset: tensor<2xf32>) {
  // expected-error@+1 {{(C2): same(map(baseline_element_type, (operand, scale, offset, batch_mean, batch_var, output)))}}
  %0:3 = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf64>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C3(%operand: tensor<3x2xf32>, %scale: tensor<3xf32>, %offset: tensor<2xf32>) {
  // expected-error@+1 {{(C3): size(scale) == dim(operand, feature_index)}}
  %0:3 = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<3xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C4(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %offset: tensor<3xf32>) {
  // expected-error@+1 {{(C4): size(offset) == size(scale) == dim(operand, feature_index)}}
  %0:3 = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C5(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %offset: tensor<2xf32>) {
  // expected-error@+1 {{(C5): size(batch_mean) == size(scale) == dim(operand, feature_index)}}
  %0:3 = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C6(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %offset: tensor<2xf32>) {
  // expected-error@+1 {{(C6): size(batch_var) == size(scale) == dim(operand, feature_index)}}
  %0:3 = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<3xf32>)
  return
}

// -----

func.func @C7(%operand: tensor<3x2xf32>, %scale: tensor<2xf32>, %offset: tensor<2xf32>) {
  // expected-error@+1 {{(C7): compatible(baseline_type(output), baseline_type(operand))}}
  %0:3 = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @types(%operand: tensor<3x2xi32>, %scale: tensor<2xf32>, %offset: tensor<2xf32>, %operand_1: tensor<3x2xf32>, %scale_1: tensor<2xi32>, %offset_1: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point type or per-tensor quantized tensor, but is tensor<3x2xi32>}}
  %0:3 = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xi32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{operand #1 (scale) must be 1-dimensional tensor of floating-point or per-tensor quantized type, but is tensor<2xi32>}}
  %1:3 = "stablehlo.batch_norm_training"(%operand_1, %scale_1, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xi32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{operand #2 (offset) must be 1-dimensional tensor of floating-point or per-tensor quantized type, but is tensor<2xi32>}}
  %2:3 = "stablehlo.batch_norm_training"(%operand_1, %scale, %offset_1) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xi32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{result #0 (output) must be tensor of floating-point type or per-tensor quantized tensor, but is tensor<3x2xi32>}}
  %3:3 = "stablehlo.batch_norm_training"(%operand_1, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xi32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{result #1 (batch_mean) must be 1-dimensional tensor of floating-point or per-tensor quantized type, but is tensor<2xi32>}}
  %4:3 = "stablehlo.batch_norm_training"(%operand_1, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xi32>, tensor<2xf32>)
  // expected-error@+1 {{result #2 (batch_var) must be 1-dimensional tensor of floating-point or per-tensor quantized type, but is tensor<2xi32>}}
  %5:3 = "stablehlo.batch_norm_training"(%operand_1, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xi32>)
  // expected-error@+1 {{requires attribute 'epsilon'}}
  %6:3 = "stablehlo.batch_norm_training"(%operand_1, %scale, %offset) <{feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{attribute 'epsilon' must be a f32 number}}
  %7:3 = "stablehlo.batch_norm_training"(%operand_1, %scale, %offset) <{epsilon = "wrong", feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{requires attribute 'feature_index'}}
  %8:3 = "stablehlo.batch_norm_training"(%operand_1, %scale, %offset) <{epsilon = 1.0e-3 : f32}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // expected-error@+1 {{attribute 'feature_index' must be a 64-bit integer}}
  %9:3 = "stablehlo.batch_norm_training"(%operand_1, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = "wrong"}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @C4_unknown_size(%operand: tensor<2x?xf32>, %scale: tensor<2xf32>, %offset: tensor<3xf32>) {
  // expected-error@+1 {{(C4): size(offset) == size(scale) == dim(operand, feature_index)}}
  %0:3 = "stablehlo.batch_norm_training"(%operand, %scale, %offset) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<2x?xf32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<2x?xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
