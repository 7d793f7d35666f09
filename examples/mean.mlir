// The mean over 8 partitions, each of which has its own `%x`.
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %sum = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %0 : tensor<f32>
  }) {
    replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    use_global_device_ids
  } : (tensor<2xf32>) -> tensor<2xf32>
  %count = stablehlo.constant dense<8.0> : tensor<2xf32>
  %mean = stablehlo.divide %sum, %count : tensor<2xf32>
  return %mean : tensor<2xf32>
}
