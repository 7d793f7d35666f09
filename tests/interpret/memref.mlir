// RUN: stablehlo-interp --split-input-file %s

// Constants in globals, as exporters write them.
memref.global "private" constant @weights : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]> {alignment = 64 : i64}
memref.global @splat : memref<3xi32> = dense<7>
memref.global "private" @declared : memref<3xi32>
memref.global @open : memref<3xi32> = uninitialized
func.func @main() {
  %0 = memref.get_global @weights : memref<2x2xf32>
  %1 = bufferization.to_tensor %0 restrict writable : memref<2x2xf32> to tensor<2x2xf32>
  check.expect_eq_const %1, dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %2 = memref.get_global @splat : memref<3xi32>
  %3 = bufferization.to_tensor %2 : memref<3xi32>
  check.expect_eq_const %3, dense<7> : tensor<3xi32>
  %4 = bufferization.to_buffer %1 read_only : tensor<2x2xf32> to memref<2x2xf32>
  %5 = bufferization.to_tensor %4 : memref<2x2xf32> to tensor<2x2xf32>
  check.expect_eq %5, %1 : tensor<2x2xf32>
  %6 = bufferization.to_memref %3 : memref<3xi32>
  %7 = bufferization.to_memref %3 : tensor<3xi32> to memref<3xi32>
  %8 = bufferization.to_tensor %6 : memref<3xi32> to tensor<3xi32>
  %9 = bufferization.to_tensor %7 : memref<3xi32> to tensor<3xi32>
  check.expect_eq %8, %9 : tensor<3xi32>
  %10 = memref.cast %6 : memref<3xi32> to memref<*xi32>
  %11 = memref.cast %10 : memref<*xi32> to memref<?xi32>
  %12 = memref.cast %11 : memref<?xi32> to memref<3xi32>
  %13 = bufferization.to_tensor %12 : memref<3xi32> to tensor<3xi32>
  check.expect_eq %13, %3 : tensor<3xi32>
  return
}
