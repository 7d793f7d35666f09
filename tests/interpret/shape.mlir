// RUN: stablehlo-interp --split-input-file %s

// A broadcast as exporters write it if shapes are unknown.
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

// -----

// Split positions count from either end; a part may be empty.
func.func @splits() {
  %s = shape.const_shape [4, 5, 6] : !shape.shape
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = shape.const_size 3
  %minus_one = arith.constant -1 : index
  %h0, %t0 = "shape.split_at"(%s, %zero) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
  %h1, %t1 = "shape.split_at"(%s, %one) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
  %h2, %t2 = "shape.split_at"(%s, %three) : (!shape.shape, !shape.size) -> (!shape.shape, !shape.shape)
  %h3, %t3 = "shape.split_at"(%s, %minus_one) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
  %0 = shape.to_extent_tensor %h1 : !shape.shape -> tensor<1xindex>
  %1 = shape.to_extent_tensor %t1 : !shape.shape -> tensor<2xindex>
  %2 = shape.to_extent_tensor %h3 : !shape.shape -> tensor<2xindex>
  %3 = shape.to_extent_tensor %t3 : !shape.shape -> tensor<1xindex>
  %4 = shape.concat %0, %1 : tensor<1xindex>, tensor<2xindex> -> tensor<3xindex>
  %5 = arith.index_cast %4 : tensor<3xindex> to tensor<3xi64>
  check.expect_eq_const %5, dense<[4, 5, 6]> : tensor<3xi64>
  %6 = shape.concat %3, %2 : tensor<1xindex>, tensor<2xindex> -> tensor<3xindex>
  %7 = arith.index_cast %6 : tensor<3xindex> to tensor<3xi64>
  check.expect_eq_const %7, dense<[6, 4, 5]> : tensor<3xi64>
  %8 = shape.rank %h0 : !shape.shape -> !shape.size
  %9 = shape.rank %t2 : !shape.shape -> !shape.size
  %10 = shape.rank %h2 : !shape.shape -> !shape.size
  %11 = shape.size_to_index %8 : !shape.size
  %12 = shape.size_to_index %9 : !shape.size
  %13 = shape.size_to_index %10 : !shape.size
  %14 = tensor.from_elements %11, %12, %13 : tensor<3xindex>
  %15 = arith.index_cast %14 : tensor<3xindex> to tensor<3xi32>
  check.expect_eq_const %15, dense<[0, 0, 3]> : tensor<3xi32>
  func.return
}

// -----

// Quotients are rounded down, also for negative numbers; the elementwise maximum and minimum of shapes.
func.func @sizes() {
  %seven = shape.const_size 7
  %minus_two = shape.const_size -2
  %two = arith.constant 2 : index
  %0 = shape.div %seven, %two : !shape.size, index -> !shape.size
  %1 = shape.div %seven, %minus_two : !shape.size, !shape.size -> !shape.size
  %2 = shape.max %seven, %minus_two : !shape.size, !shape.size -> !shape.size
  %3 = shape.min %two, %two : index, index -> index
  %4 = shape.index_to_size %3
  %5 = shape.min %4, %minus_two : !shape.size, !shape.size -> !shape.size
  %6 = shape.size_to_index %0 : !shape.size
  %7 = shape.size_to_index %1 : !shape.size
  %8 = shape.size_to_index %2 : !shape.size
  %9 = shape.size_to_index %5 : !shape.size
  %10 = tensor.from_elements %6, %7, %8, %3, %9 : tensor<5xindex>
  %11 = arith.index_cast %10 : tensor<5xindex> to tensor<5xi32>
  check.expect_eq_const %11, dense<[3, -4, 7, 2, -2]> : tensor<5xi32>
  %a = shape.const_shape [1, 5] : tensor<2xindex>
  %b = shape.const_shape [3, 2] : tensor<2xindex>
  %12 = shape.max %a, %b : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
  %13 = shape.min %a, %b : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
  %14 = shape.concat %12, %13 : tensor<2xindex>, tensor<2xindex> -> tensor<4xindex>
  %15 = arith.index_cast %14 : tensor<4xindex> to tensor<4xi32>
  check.expect_eq_const %15, dense<[3, 5, 1, 2]> : tensor<4xi32>
  func.return
}

// -----

// One shape in each type that it can have; the shape of a scalar, with one element; a shape that contains 0.
func.func @types_of_shapes() {
  %sizes = stablehlo.constant dense<[2, 0]> : tensor<2xi64>
  %extents = arith.index_cast %sizes : tensor<2xi64> to tensor<2xindex>
  %0 = shape.from_extent_tensor %extents : tensor<2xindex>
  %1 = shape.value_as_shape %extents : tensor<2xindex> -> !shape.shape
  %2 = shape.shape_eq %0, %1, %extents : !shape.shape, !shape.shape, tensor<2xindex>
  %3 = tensor.from_elements %2 : tensor<1xi1>
  check.expect_eq_const %3, dense<true> : tensor<1xi1>
  %4 = shape.num_elements %0 : !shape.shape -> !shape.size
  %scalar = stablehlo.constant dense<1.0> : tensor<f32>
  %5 = shape.shape_of %scalar : tensor<f32> -> tensor<0xindex>
  %6 = shape.num_elements %5 : tensor<0xindex> -> index
  %7 = shape.rank %5 : tensor<0xindex> -> index
  %8 = shape.size_to_index %4 : !shape.size
  %9 = tensor.from_elements %8, %6, %7 : tensor<3xindex>
  %10 = arith.index_cast %9 : tensor<3xindex> to tensor<3xi32>
  check.expect_eq_const %10, dense<[0, 1, 0]> : tensor<3xi32>
  func.return
}

// -----

// Shapes of different ranks are aligned at the last dimension; 0 and 1 give 0.
func.func @broadcasts() {
  %a = shape.const_shape [3, 1, 0] : tensor<3xindex>
  %b = shape.const_shape [4, 1] : tensor<2xindex>
  %c = shape.const_shape [] : tensor<0xindex>
  %0 = shape.broadcast %a, %b, %c : tensor<3xindex>, tensor<2xindex>, tensor<0xindex> -> tensor<3xindex>
  %1 = arith.index_cast %0 : tensor<3xindex> to tensor<3xi32>
  check.expect_eq_const %1, dense<[3, 4, 0]> : tensor<3xi32>
  %2 = shape.broadcast %c, %c : tensor<0xindex>, tensor<0xindex> -> tensor<0xindex>
  %3 = arith.index_cast %2 : tensor<0xindex> to tensor<0xi32>
  check.expect_eq_const %3, dense<> : tensor<0xi32>
  %w = shape.cstr_broadcastable %a, %b, %c : tensor<3xindex>, tensor<2xindex>, tensor<0xindex>
  %4 = shape.is_broadcastable %a, %b, %c : tensor<3xindex>, tensor<2xindex>, tensor<0xindex>
  %5 = shape.assuming %w -> (i1) {
    shape.assuming_yield %4 : i1
  }
  %6 = tensor.from_elements %5 : tensor<1xi1>
  check.expect_eq_const %6, dense<true> : tensor<1xi1>
  func.return
}
