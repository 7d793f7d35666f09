// RUN: stablehlo-interp --split-input-file %s

// A broadcast as exporters write it that know no shapes.
func.func @dynamic_broadcast() {
  %a = stablehlo.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>
  %b = stablehlo.constant dense<[[10], [20]]> : tensor<2x1xi32>
  %x = tensor.cast %a : tensor<1x3xi32> to tensor<?x?xi32>
  %y = tensor.cast %b : tensor<2x1xi32> to tensor<?x?xi32>
  %0 = shape.shape_of %x : tensor<?x?xi32> -> tensor<2xindex>
  %1 = shape.shape_of %y : tensor<?x?xi32> -> tensor<2xindex>
  %2 = shape.cstr_broadcastable %0, %1 : tensor<2xindex>, tensor<2xindex>
  %3 = shape.assuming %2 -> (tensor<?x?xi32>) {
    %4 = shape.broadcast %0, %1 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
    %5 = stablehlo.dynamic_broadcast_in_dim %x, %4, dims = [0, 1] : (tensor<?x?xi32>, tensor<2xindex>) -> tensor<?x?xi32>
    %6 = stablehlo.dynamic_broadcast_in_dim %y, %4, dims = [0, 1] : (tensor<?x?xi32>, tensor<2xindex>) -> tensor<?x?xi32>
    %7 = stablehlo.add %5, %6 : tensor<?x?xi32>
    shape.assuming_yield %7 : tensor<?x?xi32>
  }
  %8 = tensor.cast %3 : tensor<?x?xi32> to tensor<2x3xi32>
  check.expect_eq_const %8, dense<[[11, 12, 13], [21, 22, 23]]> : tensor<2x3xi32>
  func.return
}

// -----

func.func @arithmetic() {
  %x = stablehlo.constant dense<0.0> : tensor<2x3x4xf32>
  %0 = shape.shape_of %x : tensor<2x3x4xf32> -> !shape.shape
  %1 = shape.num_elements %0 : !shape.shape -> !shape.size
  %2 = shape.size_to_index %1 : !shape.size
  %3 = shape.const_shape [5, 6] : tensor<2xindex>
  %4 = shape.num_elements %3 : tensor<2xindex> -> index
  %5 = shape.rank %0 : !shape.shape -> !shape.size
  %6 = shape.const_size 100
  %7 = shape.add %5, %6 : !shape.size, !shape.size -> !shape.size
  %8 = shape.mul %7, %2 : !shape.size, index -> !shape.size
  %9 = shape.size_to_index %8 : !shape.size
  %c1 = arith.constant 1 : index
  %10 = shape.dim %x, %c1 : tensor<2x3x4xf32>, index -> index
  %11 = shape.get_extent %3, %c1 : tensor<2xindex>, index -> index
  %12 = tensor.from_elements %2, %4, %9, %10, %11 : tensor<5xindex>
  %13 = arith.index_cast %12 : tensor<5xindex> to tensor<5xi32>
  check.expect_eq_const %13, dense<[24, 30, 2472, 3, 6]> : tensor<5xi32>
  %14 = shape.from_extents %c1, %10 : index, index
  %15 = shape.concat %14, %0 : !shape.shape, !shape.shape -> !shape.shape
  %16 = shape.to_extent_tensor %15 : !shape.shape -> tensor<5xindex>
  %17 = arith.index_cast %16 : tensor<5xindex> to tensor<5xi32>
  check.expect_eq_const %17, dense<[1, 3, 2, 3, 4]> : tensor<5xi32>
  func.return
}

// -----

func.func @questions() {
  %a = shape.const_shape [2, 1] : tensor<2xindex>
  %b = shape.const_shape [1, 3] : tensor<2xindex>
  %c = shape.const_shape [4, 3] : tensor<2xindex>
  %0 = shape.shape_eq %a, %a : tensor<2xindex>, tensor<2xindex>
  %1 = shape.shape_eq %a, %b : tensor<2xindex>, tensor<2xindex>
  %2 = shape.is_broadcastable %a, %b : tensor<2xindex>, tensor<2xindex>
  %3 = shape.is_broadcastable %a, %c : tensor<2xindex>, tensor<2xindex>
  %4 = tensor.from_elements %0, %1, %2, %3 : tensor<4xi1>
  check.expect_eq_const %4, dense<[true, false, true, false]> : tensor<4xi1>
  %5 = shape.cstr_eq %a, %a : tensor<2xindex>, tensor<2xindex>
  %6 = shape.cstr_require %2, "they broadcast"
  %7 = shape.const_witness true
  %8 = shape.assuming_all %5, %6, %7
  shape.assuming %8 {
    shape.assuming_yield
  }
  func.return
}

// -----

func.func @reshapes() {
  %n = arith.constant 12 : index
  %s = stablehlo.constant dense<[2, -1]> : tensor<2xi32>
  %0 = stablehlo.compute_reshape_shape %n, %s : (index, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[2, 6]> : tensor<2xi32>
  %1 = stablehlo.cstr_reshapable %n, %s : (index, tensor<2xi32>) -> !shape.witness
  shape.assuming %1 {
    shape.assuming_yield
  }
  func.return
}
