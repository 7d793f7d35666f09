func.func @C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(operand), baseline_type(result))}}
  %0 = "stablehlo.exponential"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @C1_element_type(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(baseline_type(operand), baseline_type(result))}}
  %0 = "stablehlo.exponential"(%operand) : (tensor<2xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @types(%operand: tensor<2xi32>, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor of floating-point or complex type or per-tensor quantized tensor, but is tensor<2xi32>}}
  %0 = "stablehlo.exponential"(%operand) : (tensor<2xi32>) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point or complex type or per-tensor quantized tensor, but is tensor<2xi32>}}
  %1 = "stablehlo.exponential"(%operand_1) : (tensor<2xf32>) -> tensor<2xi32>
  // expected-error@+1 {{attribute 'result_accuracy' must be a stablehlo.result_accuracy}}
  %2 = "stablehlo.exponential"(%operand_1) <{result_accuracy = "high"}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @result_accuracy(%x: tensor<f32>) {
  // expected-error@+1 {{attribute 'result_accuracy' must have tolerances that are not negative}}
  %0 = "stablehlo.exponential"(%x) <{result_accuracy = #stablehlo.result_accuracy<atol = -1.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{attribute 'result_accuracy' must have one of the modes DEFAULT, HIGHEST, TOLERANCE, got BOGUS}}
  %1 = "stablehlo.exponential"(%x) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<BOGUS>>}> : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{attribute 'result_accuracy' must have tolerances that are numbers}}
  %2 = "stablehlo.exponential"(%x) <{result_accuracy = #stablehlo.result_accuracy<ulps = #stablehlo<precision DEFAULT>>}> : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{attribute 'result_accuracy' must have tolerances that are numbers}}
  %3 = "stablehlo.exponential"(%x) <{result_accuracy = #stablehlo.result_accuracy<atol = [1.0]>}> : (tensor<f32>) -> tensor<f32>
  return
}
