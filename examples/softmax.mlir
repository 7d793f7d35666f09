// The softmax of a vector, with the largest element subtracted first so that no exponential overflows.
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.reduce(%x init: %lowest) applies stablehlo.maximum across dimensions = [0]
    : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  %max_3 = stablehlo.broadcast_in_dim %max, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %shifted = stablehlo.subtract %x, %max_3 : tensor<3xf32>
  %exp = stablehlo.exponential %shifted : tensor<3xf32>
  %sum = stablehlo.reduce(%exp init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  %sum_3 = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %softmax = stablehlo.divide %exp, %sum_3 : tensor<3xf32>
  return %softmax : tensor<3xf32>
}
