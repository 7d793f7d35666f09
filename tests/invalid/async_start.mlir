func.func @C1(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C1): size(operations) == 2 and operations[1].operands == operations[0].results}}
  %0 = "stablehlo.async_start"(%operands) ({
    ^bb0(%x: tensor<2xf32>):
      stablehlo.return %x : tensor<2xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  return
}

// -----

func.func @C1_other_results(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C1): size(operations) == 2 and operations[1].operands == operations[0].results}}
  %0 = "stablehlo.async_start"(%operands) ({
    ^bb0(%x: tensor<2xf32>):
      %r = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %x : tensor<2xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  return
}

// -----

func.func @C2(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C2): operations[0].name in MAY_BE_ASYNCHRONOUS}}
  %0 = "stablehlo.async_start"(%operands) ({
    ^bb0(%x: tensor<2xf32>):
      %r = stablehlo.abs %x : tensor<2xf32>
      stablehlo.return %r : tensor<2xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  return
}

// -----

func.func @C3(%operands0: tensor<2xf32>, %operands1: tensor<2xf32>) {
  // expected-error@+1 {{(C3): all_compatible(operands, operations[0].operand_types)}}
  %0 = "stablehlo.async_start"(%operands0, %operands1) ({
    ^bb0(%x: tensor<2xf32>):
      %r = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %r : tensor<2xf32>
  }) : (tensor<2xf32>, tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  return
}

// -----

func.func @C3_types(%operands: tensor<2xf64>) {
  // expected-error@+1 {{(C3): all_compatible(operands, operations[0].operand_types)}}
  %0 = "stablehlo.async_start"(%operands) ({
    ^bb0(%x: tensor<2xf32>):
      %r = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %r : tensor<2xf32>
  }) : (tensor<2xf64>) -> !stablehlo.future<tensor<2xf32>>
  return
}

// -----

func.func @C4(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C4): result.elements == body.outputs}}
  %0 = "stablehlo.async_start"(%operands) ({
    ^bb0(%x: tensor<2xf32>):
      %r = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %r : tensor<2xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<3xf32>>
  return
}

// -----

func.func @types(%operands: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %operands_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operands) must be tensor or per-tensor quantized tensor, but is tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>}}
  %0 = "stablehlo.async_start"(%operands) ({
    ^bb0(%x: tensor<2xf32>):
      %r = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %r : tensor<2xf32>
  }) : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> !stablehlo.future<tensor<2xf32>>
  // expected-error@+1 {{result #0 (result) must be future, but is tensor<2xf32>}}
  %1 = "stablehlo.async_start"(%operands_1) ({
    ^bb0(%x: tensor<2xf32>):
      %r = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %r : tensor<2xf32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @C3_sizes(%operands: tensor<2xf32>) {
  // expected-error@+1 {{(C3): taken == arguments and tuple(operands) == body.inputs}}
  %0 = "stablehlo.async_start"(%operands) ({
    ^bb0(%x: tensor<?xf32>):
      %r = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<?xf32>) -> tensor<?xf32>
      stablehlo.return %r : tensor<?xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<?xf32>>
  return
}
