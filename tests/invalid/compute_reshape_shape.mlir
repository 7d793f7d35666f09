func.func @C1(%num_elements: index, %dynamic_shape: tensor<2xi32>) {
  // expected-error@+1 {{(C1): shape(dynamic_shape) == shape(result)}}
  %0 = "stablehlo.compute_reshape_shape"(%num_elements, %dynamic_shape) : (index, tensor<2xi32>) -> tensor<3xi32>
  return
}

// -----

func.func @types(%num_elements: tensor<i32>, %dynamic_shape: tensor<2xi32>, %num_elements_1: index, %dynamic_shape_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (num_elements) must be index, but is tensor<i32>}}
  %0 = "stablehlo.compute_reshape_shape"(%num_elements, %dynamic_shape) : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
  // expected-error@+1 {{operand #1 (dynamic_shape) must be 1-dimensional tensor of integer or index type, but is tensor<2xf32>}}
  %1 = "stablehlo.compute_reshape_shape"(%num_elements_1, %dynamic_shape_1) : (index, tensor<2xf32>) -> tensor<2xi32>
  // expected-error@+1 {{result #0 (result) must be 1-dimensional tensor of integer or index type, but is tensor<2xf32>}}
  %2 = "stablehlo.compute_reshape_shape"(%num_elements_1, %dynamic_shape) : (index, tensor<2xi32>) -> tensor<2xf32>
  return
}
