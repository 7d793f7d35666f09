// RUN: stablehlo-interp --split-input-file %s

// The module may be written out, with a name and with attributes.
module @program attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main() {
    %0 = stablehlo.constant dense<1> : tensor<i32>
    check.expect_eq_const %0, dense<1> : tensor<i32>
    return
  }
}

// -----

// Casts between types with the same values: indices are 64-bit integers.
func.func @main() {
  %a = arith.constant -7 : index
  %0 = builtin.unrealized_conversion_cast %a : index to i64
  %1 = tensor.from_elements %0 : tensor<1xi64>
  check.expect_eq_const %1, dense<-7> : tensor<1xi64>
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %2 = builtin.unrealized_conversion_cast %x : tensor<2x2xi64> to tensor<2x2xindex>
  %3 = arith.index_cast %2 : tensor<2x2xindex> to tensor<2x2xi8>
  check.expect_eq_const %3, dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %4:2 = builtin.unrealized_conversion_cast %x, %a : tensor<2x2xi64>, index to tensor<2x?xi64>, i64
  %5 = tensor.cast %4#0 : tensor<2x?xi64> to tensor<2x2xi64>
  check.expect_eq %5, %x : tensor<2x2xi64>
  %6 = tensor.from_elements %4#1 : tensor<1xi64>
  check.expect_eq %6, %1 : tensor<1xi64>
  return
}

// -----

// Indices as integers and back, and scalars as tensors without dimensions.
func.func @indices() {
  %i = arith.constant 7 : index
  %0 = builtin.unrealized_conversion_cast %i : index to tensor<i32>
  check.expect_eq_const %0, dense<7> : tensor<i32>
  %shape = shape.const_shape [2, 3] : tensor<2xindex>
  %1 = builtin.unrealized_conversion_cast %shape : tensor<2xindex> to tensor<2xi32>
  check.expect_eq_const %1, dense<[2, 3]> : tensor<2xi32>
  %2 = builtin.unrealized_conversion_cast %0 : tensor<i32> to index
  %3 = builtin.unrealized_conversion_cast %2 : index to tensor<i64>
  check.expect_eq_const %3, dense<7> : tensor<i64>
  %x = arith.constant 1.5 : f32
  %4 = builtin.unrealized_conversion_cast %x : f32 to tensor<f32>
  check.expect_eq_const %4, dense<1.5> : tensor<f32>
  func.return
}
