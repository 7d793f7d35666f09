func.func @main() {
  %x = stablehlo.constant dense<0> : tensor<2x3xi32>
  %i = arith.constant 2 : index
  // expected-error@+1 {{index 2 is out of bounds for size 2}}
  %0 = tensor.dim %x, %i : tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<0> : tensor<2x3xi32>
  %zero = arith.constant 0 : index
  %i = arith.constant -1 : index
  // expected-error@+1 {{index -1 is out of bounds for size 3}}
  %0 = tensor.extract %x[%zero, %i] : tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<> : tensor<0xi32>
  %v = arith.constant 1 : i32
  %zero = arith.constant 0 : index
  // expected-error@+1 {{index 0 is out of bounds for size 0}}
  %0 = tensor.insert %v into %x[%zero] : tensor<0xi32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %0 = tensor.cast %x : tensor<3xi32> to tensor<?xi32>
  // expected-error@+1 {{expected a result of type tensor<2xi32>, got tensor<3xi32>}}
  %1 = tensor.cast %0 : tensor<?xi32> to tensor<2xi32>
  return
}

// -----

func.func @main() {
  %n = arith.constant -1 : index
  // expected-error@+1 {{expected a result of type tensor<?xf32>, got tensor<-1xf32>}}
  %0 = tensor.empty(%n) : tensor<?xf32>
  return
}

// -----

// Larger than any memory: the size is checked before anything is allocated.
func.func @main() {
  %n = arith.constant 1152921504606846976 : index
  // expected-error@+1 {{tensor<1152921504606846976xf64> is larger than the limit}}
  %0 = tensor.empty(%n) : tensor<?xf64>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<0> : tensor<12xi32>
  %shape = stablehlo.constant dense<[5, 2]> : tensor<2xi32>
  // expected-error@+1 {{(C1): size(source) == size(result)}}
  %0 = tensor.reshape %x(%shape) : (tensor<12xi32>, tensor<2xi32>) -> tensor<?x?xi32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<0> : tensor<12xi32>
  %n = arith.constant 5 : index
  // expected-error@+1 {{(C2)}}
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [%n, 2] : tensor<12xi32> into tensor<?x2xi32>
  return
}

// -----

func.func @main() {
  %a = stablehlo.constant dense<0> : tensor<2x3xi32>
  %b = stablehlo.constant dense<0> : tensor<2x4xi32>
  %x = tensor.cast %a : tensor<2x3xi32> to tensor<?x?xi32>
  %y = tensor.cast %b : tensor<2x4xi32> to tensor<?x?xi32>
  // expected-error@+1 {{(C3)}}
  %0 = tensor.concat dim(0) %x, %y : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<0> : tensor<4xi32>
  %i = arith.constant 3 : index
  // expected-error@+1 {{the slice [3] [2] [1] of dimension 0 is not inside its size 4}}
  %0 = tensor.extract_slice %x[%i] [2] [1] : tensor<4xi32> to tensor<2xi32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<0> : tensor<4xi32>
  %n = arith.constant -1 : index
  %f = arith.constant 0 : i32
  // expected-error@+1 {{padding (4,) by [-1] and [0] does not give a tensor<?xi32>}}
  %0 = tensor.pad %x low[%n] high[0] {
  ^bb0(%i: index):
    tensor.yield %f : i32
  } : tensor<4xi32> to tensor<?xi32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<0> : tensor<3xi32>
  %0 = bufferization.to_buffer %x : tensor<3xi32> to memref<3xi32>
  %1 = memref.cast %0 : memref<3xi32> to memref<*xi32>
  // expected-error@+1 {{expected a memref<2xi32>, got a buffer of sizes [3]}}
  %2 = memref.cast %1 : memref<*xi32> to memref<2xi32>
  return
}
