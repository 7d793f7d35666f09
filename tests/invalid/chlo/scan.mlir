func.func @C1(%inputs_and_inits0: tensor<4xf32>, %inputs_and_inits1: tensor<f32>) {
  // expected-error@+1 {{(C1): sum(operand_segment_sizes) == size(inputs_and_inits)}}
  %0:2 = "chlo.scan"(%inputs_and_inits0, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 2>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @C2(%inputs_and_inits0: tensor<4xf32>, %inputs_and_inits1: tensor<f32>) {
  // expected-error@+1 {{(C2): sum(result_segment_sizes) == size(outputs_and_carries)}}
  %0:2 = "chlo.scan"(%inputs_and_inits0, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 2>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @C3(%inputs_and_inits0: tensor<4xf32>, %inputs_and_inits1: tensor<f32>) {
  // expected-error@+1 {{(C3): operand_segment_sizes[1] == result_segment_sizes[1]}}
  %0:2 = "chlo.scan"(%inputs_and_inits0, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 2, 0>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @C4(%inputs_and_inits: tensor<f32>) {
  // expected-error@+1 {{(C4): 0 < size(inputs) + size(outputs)}}
  %0 = "chlo.scan"(%inputs_and_inits) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 0, 1>, resultSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%s: tensor<f32>):
      stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @C5(%inputs_and_inits0: tensor<4xf32>, %inputs_and_inits1: tensor<f32>) {
  // expected-error@+1 {{(C5): all(0 <= dimension < rank(x) for x in inputs + outputs)}}
  %0:2 = "chlo.scan"(%inputs_and_inits0, %inputs_and_inits1) <{dimension = 1 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @C5_negative(%inputs_and_inits0: tensor<4xf32>, %inputs_and_inits1: tensor<f32>) {
  // expected-error@+1 {{(C5): all(0 <= dimension < rank(x) for x in inputs + outputs)}}
  %0:2 = "chlo.scan"(%inputs_and_inits0, %inputs_and_inits1) <{dimension = -1 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @C6(%inputs_and_inits0: tensor<4xf32>, %inputs_and_inits1: tensor<f32>) {
  // expected-error@+1 {{(C6): same((*given, *[dim(x, dimension) for x in inputs + outputs]))}}
  %0:2 = "chlo.scan"(%inputs_and_inits0, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<5xf32>, tensor<f32>)
  return
}

// -----

func.func @C6_scan_dim_size(%inputs_and_inits0: tensor<4xf32>, %inputs_and_inits1: tensor<f32>) {
  // expected-error@+1 {{(C6): same((*given, *[dim(x, dimension) for x in inputs + outputs]))}}
  %0:2 = "chlo.scan"(%inputs_and_inits0, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>, scan_dim_size = 5 : i64}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @C7(%inputs_and_inits0: tensor<4xf32>, %inputs_and_inits1: tensor<f32>) {
  // expected-error@+1 {{(C7): body == FunctionType(tuple(arguments), tuple(returned))}}
  %0:2 = "chlo.scan"(%inputs_and_inits0, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f64>, %sum: tensor<f64>):
      %r = stablehlo.add %x, %sum : tensor<f64>
      stablehlo.return %r, %r : tensor<f64>, tensor<f64>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @C7_size(%inputs_and_inits0: tensor<4xf32>, %inputs_and_inits1: tensor<f32>) {
  // expected-error@+1 {{(C7): body == FunctionType(tuple(arguments), tuple(returned))}}
  %0:2 = "chlo.scan"(%inputs_and_inits0, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @C8(%inputs_and_inits0: tensor<4xf32>, %inputs_and_inits1: tensor<f64>) {
  // expected-error@+1 {{(C8): all(compatible(init, carry) for init, carry in zip(inits, carries))}}
  %0:2 = "chlo.scan"(%inputs_and_inits0, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f64>):
      %r = stablehlo.add %x, %x : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f64>) -> (tensor<4xf32>, tensor<f32>)
  return
}

// -----

func.func @types(%inputs_and_inits0: tensor<4x!quant.uniform<i8:f32, 1.0>>, %inputs_and_inits1: tensor<f32>, %inputs_and_inits0_1: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 (inputs_and_inits) must be tensor, but is tensor<4x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %0:2 = "chlo.scan"(%inputs_and_inits0, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4x!quant.uniform<i8:f32, 1.0>>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  // expected-error@+1 {{result #0 (outputs_and_carries) must be tensor, but is tensor<4x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %1:2 = "chlo.scan"(%inputs_and_inits0_1, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4x!quant.uniform<i8:f32, 1.0>>, tensor<f32>)
  // expected-error@+1 {{requires attribute 'operandSegmentSizes'}}
  %2:2 = "chlo.scan"(%inputs_and_inits0_1, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  // expected-error@+1 {{attribute 'operandSegmentSizes' must be a list of two 32-bit integers}}
  %3:2 = "chlo.scan"(%inputs_and_inits0_1, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = "wrong", resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  // expected-error@+1 {{requires attribute 'resultSegmentSizes'}}
  %4:2 = "chlo.scan"(%inputs_and_inits0_1, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  // expected-error@+1 {{attribute 'resultSegmentSizes' must be a list of two 32-bit integers}}
  %5:2 = "chlo.scan"(%inputs_and_inits0_1, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = "wrong"}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  // expected-error@+1 {{requires attribute 'dimension'}}
  %6:2 = "chlo.scan"(%inputs_and_inits0_1, %inputs_and_inits1) <{is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  // expected-error@+1 {{attribute 'dimension' must be a 64-bit integer}}
  %7:2 = "chlo.scan"(%inputs_and_inits0_1, %inputs_and_inits1) <{dimension = "wrong", is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  // expected-error@+1 {{attribute 'scan_dim_size' must be a 64-bit integer}}
  %8:2 = "chlo.scan"(%inputs_and_inits0_1, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>, scan_dim_size = "wrong"}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  // expected-error@+1 {{attribute 'is_reverse' must be a boolean}}
  %9:2 = "chlo.scan"(%inputs_and_inits0_1, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = "wrong", operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  // expected-error@+1 {{attribute 'is_associative' must be a boolean}}
  %10:2 = "chlo.scan"(%inputs_and_inits0_1, %inputs_and_inits1) <{dimension = 0 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>, is_associative = "wrong"}> ({
    ^bb0(%x: tensor<f32>, %sum: tensor<f32>):
      %r = stablehlo.add %x, %sum : tensor<f32>
      stablehlo.return %r, %r : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}
