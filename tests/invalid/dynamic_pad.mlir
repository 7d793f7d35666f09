func.func @C1(%operand: tensor<3xf32>, %padding_value: tensor<f64>, %edge_padding_low: tensor<1xi64>, %edge_padding_high: tensor<1xi64>, %interior_padding: tensor<1xi64>) {
  // expected-error@+1 {{(C1): element_type(operand) == element_type(padding_value) == element_type(result)}}
  %0 = "stablehlo.dynamic_pad"(%operand, %padding_value, %edge_padding_low, %edge_padding_high, %interior_padding) : (tensor<3xf32>, tensor<f64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<8xf32>
  return
}

// -----

func.func @C1_result(%operand: tensor<3xf32>, %padding_value: tensor<f32>, %edge_padding_low: tensor<1xi64>, %edge_padding_high: tensor<1xi64>, %interior_padding: tensor<1xi64>) {
  // expected-error@+1 {{(C1): element_type(operand) == element_type(padding_value) == element_type(result)}}
  %0 = "stablehlo.dynamic_pad"(%operand, %padding_value, %edge_padding_low, %edge_padding_high, %interior_padding) : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<8xf64>
  return
}

// -----

func.func @C2(%operand: tensor<3xf32>, %padding_value: tensor<f32>, %edge_padding_low: tensor<2xi64>, %edge_padding_high: tensor<1xi64>, %interior_padding: tensor<1xi64>) {
  // expected-error@+1 {{(C2): size(edge_padding_low) == size(edge_padding_high) == size(interior_padding) == rank(operand)}}
  %0 = "stablehlo.dynamic_pad"(%operand, %padding_value, %edge_padding_low, %edge_padding_high, %interior_padding) : (tensor<3xf32>, tensor<f32>, tensor<2xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<8xf32>
  return
}

// -----

func.func @C2_high(%operand: tensor<3xf32>, %padding_value: tensor<f32>, %edge_padding_low: tensor<1xi64>, %edge_padding_high: tensor<0xi64>, %interior_padding: tensor<1xi64>) {
  // expected-error@+1 {{(C2): size(edge_padding_low) == size(edge_padding_high) == size(interior_padding) == rank(operand)}}
  %0 = "stablehlo.dynamic_pad"(%operand, %padding_value, %edge_padding_low, %edge_padding_high, %interior_padding) : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<0xi64>, tensor<1xi64>) -> tensor<8xf32>
  return
}

// -----

func.func @C2_interior(%operand: tensor<3xf32>, %padding_value: tensor<f32>, %edge_padding_low: tensor<1xi64>, %edge_padding_high: tensor<1xi64>, %interior_padding: tensor<2xi64>) {
  // expected-error@+1 {{(C2): size(edge_padding_low) == size(edge_padding_high) == size(interior_padding) == rank(operand)}}
  %0 = "stablehlo.dynamic_pad"(%operand, %padding_value, %edge_padding_low, %edge_padding_high, %interior_padding) : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<2xi64>) -> tensor<8xf32>
  return
}

// -----

func.func @C4(%operand: tensor<3xf32>, %padding_value: tensor<f32>, %edge_padding_low: tensor<1xi64>, %edge_padding_high: tensor<1xi64>, %interior_padding: tensor<1xi64>) {
  // expected-error@+1 {{(C4): shape(result) == shape(infer())}}
  %0 = "stablehlo.dynamic_pad"(%operand, %padding_value, %edge_padding_low, %edge_padding_high, %interior_padding) : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<8x1xf32>
  return
}

// -----

func.func @C4_size(%operand: tensor<3xf32>, %padding_value: tensor<f32>) {
  %edge_padding_low = stablehlo.constant dense<[1]> : tensor<1xi64>
  %edge_padding_high = stablehlo.constant dense<[1]> : tensor<1xi64>
  %interior_padding = stablehlo.constant dense<[0]> : tensor<1xi64>
  // expected-error@+1 {{(C4): shape(result) == shape(infer())}}
  %0 = "stablehlo.dynamic_pad"(%operand, %padding_value, %edge_padding_low, %edge_padding_high, %interior_padding) : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<7xf32>
  return
}

// -----

func.func @C3(%operand: tensor<3xf32>, %padding_value: tensor<f32>) {
  %edge_padding_low = stablehlo.constant dense<[1]> : tensor<1xi64>
  %edge_padding_high = stablehlo.constant dense<[1]> : tensor<1xi64>
  %interior_padding = stablehlo.constant dense<[-1]> : tensor<1xi64>
  // expected-error@+1 {{(C3): all(0 <= n for n in interior_padding)}}
  %0 = "stablehlo.dynamic_pad"(%operand, %padding_value, %edge_padding_low, %edge_padding_high, %interior_padding) : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @main() {
  %operand = stablehlo.constant dense<0.0> : tensor<3xf32>
  %padding_value = stablehlo.constant dense<0.0> : tensor<f32>
  %edge_padding_low_0 = stablehlo.constant dense<[1]> : tensor<1xi64>
  %edge_padding_low = stablehlo.optimization_barrier %edge_padding_low_0 : tensor<1xi64>
  %edge_padding_high_0 = stablehlo.constant dense<[1]> : tensor<1xi64>
  %edge_padding_high = stablehlo.optimization_barrier %edge_padding_high_0 : tensor<1xi64>
  %interior_padding_0 = stablehlo.constant dense<[-1]> : tensor<1xi64>
  %interior_padding = stablehlo.optimization_barrier %interior_padding_0 : tensor<1xi64>
  // expected-error@+1 {{(C3): all(0 <= n for n in interior_padding)}}
  %0 = "stablehlo.dynamic_pad"(%operand, %padding_value, %edge_padding_low, %edge_padding_high, %interior_padding) : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @types(%operand: tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, %padding_value: tensor<f32>, %edge_padding_low: tensor<1xi64>, %edge_padding_high: tensor<1xi64>, %interior_padding: tensor<1xi64>, %operand_1: tensor<3xf32>, %padding_value_1: tensor<2xf32>, %edge_padding_low_1: tensor<1xf32>, %edge_padding_high_1: tensor<1xf32>, %interior_padding_1: tensor<1xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor or per-tensor quantized tensor, but is tensor<3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00}>>}}
  %0 = "stablehlo.dynamic_pad"(%operand, %padding_value, %edge_padding_low, %edge_padding_high, %interior_padding) : (tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<8xf32>
  // expected-error@+1 {{operand #1 (padding_value) must be 0-dimensional tensor, but is tensor<2xf32>}}
  %1 = "stablehlo.dynamic_pad"(%operand_1, %padding_value_1, %edge_padding_low, %edge_padding_high, %interior_padding) : (tensor<3xf32>, tensor<2xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<8xf32>
  // expected-error@+1 {{operand #2 (edge_padding_low) must be statically shaped 1-dimensional tensor of integer or index type, but is tensor<1xf32>}}
  %2 = "stablehlo.dynamic_pad"(%operand_1, %padding_value, %edge_padding_low_1, %edge_padding_high, %interior_padding) : (tensor<3xf32>, tensor<f32>, tensor<1xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<8xf32>
  // expected-error@+1 {{operand #3 (edge_padding_high) must be statically shaped 1-dimensional tensor of integer or index type, but is tensor<1xf32>}}
  %3 = "stablehlo.dynamic_pad"(%operand_1, %padding_value, %edge_padding_low, %edge_padding_high_1, %interior_padding) : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xf32>, tensor<1xi64>) -> tensor<8xf32>
  // expected-error@+1 {{operand #4 (interior_padding) must be statically shaped 1-dimensional tensor of integer or index type, but is tensor<1xf32>}}
  %4 = "stablehlo.dynamic_pad"(%operand_1, %padding_value, %edge_padding_low, %edge_padding_high, %interior_padding_1) : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xf32>) -> tensor<8xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or per-tensor quantized tensor, but is tensor<8x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00,5.000000e+00,6.000000e+00,7.000000e+00,8.000000e+00}>>}}
  %5 = "stablehlo.dynamic_pad"(%operand_1, %padding_value, %edge_padding_low, %edge_padding_high, %interior_padding) : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<8x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}>>
  return
}
