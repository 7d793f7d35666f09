func.func @bitcast_C1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1): shape(source) == shape(dest)}}
  %0 = tensor.bitcast %x : tensor<2xf32> to tensor<3xi32>
  return
}

// -----

func.func @bitcast_C2(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C2): num_bits(element_type(source)) == num_bits(element_type(dest))}}
  %0 = tensor.bitcast %x : tensor<2xf32> to tensor<2xi64>
  return
}

// -----

func.func @extract_slice_C1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1): size(static_offsets) == size(static_sizes) == size(static_strides) == rank(source)}}
  %0 = "tensor.extract_slice"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<2x3xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @extract_slice_C2(%x: tensor<3xf32>, %i: index) {
  // expected-error@+1 {{(C2): list(operand_segment_sizes) == [1, *dynamic] and size(positions) == sum(dynamic)}}
  %0 = "tensor.extract_slice"(%x, %i) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<3xf32>, index) -> tensor<1xf32>
  return
}

// -----

func.func @extract_slice_C3(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{(C3): is_slice(result, static_sizes, source)}}
  %0 = "tensor.extract_slice"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 2>, static_strides = array<i64: 1, 1>}> : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @insert_slice_C1(%x: tensor<1xf32>, %y: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1): size(static_offsets) == size(static_sizes) == size(static_strides) == rank(dest)}}
  %0 = "tensor.insert_slice"(%x, %y) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @insert_slice_C2(%x: tensor<1xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{(C2): list(operand_segment_sizes) == [1, 1, *dynamic] and size(positions) == sum(dynamic)}}
  %0 = "tensor.insert_slice"(%x, %y) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<1xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @insert_slice_C3(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{(C3): is_slice(source, static_sizes, dest)}}
  %0 = "tensor.insert_slice"(%x, %y) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @insert_slice_C4(%x: tensor<1xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{(C4): compatible(dest, result)}}
  %0 = "tensor.insert_slice"(%x, %y) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @generate_C1(%n: index) {
  // expected-error@+1 {{(C1): "dynamic_extents" in constants or size(dynamic_extents) == result.shape.count(None)}}
  %0 = tensor.generate %n {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<3xindex>
  return
}

// -----

func.func @generate_C2() {
  // expected-error@+1 {{(C2): body.inputs == (INDEX,) * rank(result) and body.outputs == (element_type(result),)}}
  %0 = tensor.generate {
  ^bb0(%i: index, %j: index):
    tensor.yield %i : index
  } : tensor<3xindex>
  return
}

// -----

func.func @pad_C1(%x: tensor<2xf32>, %f: f32) {
  // expected-error@+1 {{(C1): size(static_low) == size(static_high) == rank(source) == rank(result)}}
  %0 = "tensor.pad"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_high = array<i64: 1, 1>, static_low = array<i64: 1, 1>}> ({
  ^bb0(%i: index):
    tensor.yield %f : f32
  }) : (tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_C2(%x: tensor<2xf32>, %f: f32) {
  // expected-error@+1 {{(C2): list(operand_segment_sizes) == [1, *dynamic] and size(padding) == sum(dynamic)}}
  %0 = "tensor.pad"(%x) <{operandSegmentSizes = array<i32: 1, 1, 0>, static_low = array<i64: 1>, static_high = array<i64: 1>}> ({
  ^bb0(%i: index):
    tensor.yield %f : f32
  }) : (tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_C3(%x: tensor<2xf32>, %f: f64) {
  // expected-error@+1 {{(C3): element_type(source) == element_type(result)}}
  %0 = "tensor.pad"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_high = array<i64: 1>, static_low = array<i64: 1>}> ({
  ^bb0(%i: index):
    tensor.yield %f : f64
  }) : (tensor<2xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @pad_C4(%x: tensor<2xf32>, %f: f32) {
  // expected-error@+1 {{(C4): all(DYNAMIC in (low, high) or n + low + high == m for n, low, high, m in zip(shape(source), static_low, static_high, shape(result)))}}
  %0 = "tensor.pad"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_high = array<i64: 1>, static_low = array<i64: 1>}> ({
  ^bb0(%i: index):
    tensor.yield %f : f32
  }) : (tensor<2xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @pad_C5(%x: tensor<2xf32>, %f: f64) {
  // expected-error@+1 {{(C5): region.inputs == (INDEX,) * rank(result) and region.outputs == (element_type(result),)}}
  %0 = "tensor.pad"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_high = array<i64: 1>, static_low = array<i64: 1>}> ({
  ^bb0(%i: index):
    tensor.yield %f : f64
  }) : (tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @yield_C1(%x: tensor<f32>) {
  // expected-error@+1 {{(C2): body.inputs}}
  %0 = tensor.generate {
  ^bb0(%i: index):
    // expected-error@+1 {{(C1): not isinstance(value, TensorType)}}
    tensor.yield %x : tensor<f32>
  } : tensor<3xf32>
  return
}
