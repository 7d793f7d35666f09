func.func @add_C1(%lhs: index, %rhs: !shape.size) {
  // expected-error@+1 {{(C1): propagates_errors(result, lhs, rhs)}}
  %0 = "shape.add"(%lhs, %rhs) : (index, !shape.size) -> index
  return
}

// -----

func.func @div_C1(%lhs: index, %rhs: !shape.size) {
  // expected-error@+1 {{(C1): propagates_errors(result, lhs, rhs)}}
  %0 = "shape.div"(%lhs, %rhs) : (index, !shape.size) -> index
  return
}

// -----

func.func @mul_C1(%lhs: index, %rhs: !shape.size) {
  // expected-error@+1 {{(C1): propagates_errors(result, lhs, rhs)}}
  %0 = "shape.mul"(%lhs, %rhs) : (index, !shape.size) -> index
  return
}

// -----

func.func @assuming_C1(%witness: !shape.witness) {
  // expected-error@+1 {{(C1): body.outputs == tuple(results)}}
  %0 = "shape.assuming"(%witness) ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    shape.assuming_yield %c : tensor<f32>
  }) : (!shape.witness) -> tensor<f64>
  return
}

// -----

func.func @assuming_C1_size(%witness: !shape.witness) {
  // expected-error@+1 {{(C1): body.outputs == tuple(results)}}
  "shape.assuming"(%witness) ({
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    shape.assuming_yield %c : tensor<f32>
  }) : (!shape.witness) -> ()
  return
}

// -----

func.func @assuming_all_C1() {
  // expected-error@+1 {{(C1): 1 <= size(inputs)}}
  %0 = "shape.assuming_all"() : () -> !shape.witness
  return
}

// -----

func.func @broadcast_C1(%shapes0: tensor<2xindex>, %shapes1: !shape.shape) {
  // expected-error@+1 {{(C1): propagates_errors(result, *shapes)}}
  %0 = "shape.broadcast"(%shapes0, %shapes1) : (tensor<2xindex>, !shape.shape) -> tensor<2xindex>
  return
}

// -----

func.func @broadcast_C2(%shapes0: tensor<2xindex>, %shapes1: tensor<2xindex>) {
  // expected-error@+1 {{(C2): length(result) == largest(map(length, shapes))}}
  %0 = "shape.broadcast"(%shapes0, %shapes1) : (tensor<2xindex>, tensor<2xindex>) -> tensor<3xindex>
  return
}

// -----

func.func @concat_C1(%lhs: tensor<2xindex>, %rhs: tensor<2xindex>) {
  // expected-error@+1 {{(C1): length(result) == length(lhs) + length(rhs)}}
  %0 = "shape.concat"(%lhs, %rhs) : (tensor<2xindex>, tensor<2xindex>) -> tensor<3xindex>
  return
}

// -----

func.func @const_shape_C1() {
  // expected-error@+1 {{(C1): mlir_types.shape.holds(result) or result == tensor_type((size(sizes),), INDEX)}}
  %0 = "shape.const_shape"() <{shape = array<i64: 1, 2>}> : () -> tensor<3xindex>
  return
}

// -----

func.func @const_shape_C2() {
  // expected-error@+1 {{(C2): all(map(fits, sizes))}}
  %0 = "shape.const_shape"() <{shape = [1 : index, 9223372036854775808 : index]}> : () -> tensor<2xindex>
  return
}

// -----

func.func @const_size_C1() {
  // expected-error@+1 {{(C1): fits(value)}}
  %0 = "shape.const_size"() <{value = 9223372036854775808 : index}> : () -> !shape.size
  return
}

// -----

func.func @cstr_broadcastable_C1(%shapes: tensor<2xindex>) {
  // expected-error@+1 {{(C1): 2 <= size(shapes)}}
  %0 = "shape.cstr_broadcastable"(%shapes) : (tensor<2xindex>) -> !shape.witness
  return
}

// -----

func.func @is_broadcastable_C1(%shapes: tensor<2xindex>) {
  // expected-error@+1 {{(C1): 2 <= size(shapes)}}
  %0 = "shape.is_broadcastable"(%shapes) : (tensor<2xindex>) -> i1
  return
}

// -----

func.func @dim_C1(%value: tensor<2x3xf32>, %index: !shape.size) {
  // expected-error@+1 {{(C1): propagates_errors(extent, value, index)}}
  %0 = "shape.dim"(%value, %index) : (tensor<2x3xf32>, !shape.size) -> index
  return
}

// -----

func.func @from_extent_tensor_C1(%input: tensor<2xindex>) {
  // expected-error@+1 {{(C1): length(input) == length(result)}}
  %0 = "shape.from_extent_tensor"(%input) : (tensor<2xindex>) -> tensor<3xindex>
  return
}

// -----

func.func @to_extent_tensor_C1(%input: tensor<2xindex>) {
  // expected-error@+1 {{(C1): length(input) == length(result)}}
  %0 = "shape.to_extent_tensor"(%input) : (tensor<2xindex>) -> tensor<3xindex>
  return
}

// -----

func.func @value_as_shape_C1(%input: tensor<2xindex>) {
  // expected-error@+1 {{(C1): length(input) == length(result)}}
  %0 = "shape.value_as_shape"(%input) : (tensor<2xindex>) -> tensor<3xindex>
  return
}

// -----

func.func @from_extents_C1(%extents0: index, %extents1: index) {
  // expected-error@+1 {{(C1): length(shape) == size(extents)}}
  %0 = "shape.from_extents"(%extents0, %extents1) : (index, index) -> tensor<3xindex>
  return
}

// -----

func.func @get_extent_C1(%shape: !shape.shape, %dim: index) {
  // expected-error@+1 {{(C1): propagates_errors(extent, shape, dim)}}
  %0 = "shape.get_extent"(%shape, %dim) : (!shape.shape, index) -> index
  return
}

// -----

func.func @max_C1(%lhs: tensor<2xindex>, %rhs: !shape.shape) {
  // expected-error@+1 {{(C1): propagates_errors(result, lhs, rhs)}}
  %0 = "shape.max"(%lhs, %rhs) : (tensor<2xindex>, !shape.shape) -> tensor<2xindex>
  return
}

// -----

func.func @max_C2(%lhs: tensor<2xindex>, %rhs: index) {
  // expected-error@+1 {{(C2): shape_like.holds(lhs) == shape_like.holds(rhs) == shape_like.holds(result)}}
  %0 = "shape.max"(%lhs, %rhs) : (tensor<2xindex>, index) -> tensor<2xindex>
  return
}

// -----

func.func @max_C3(%lhs: tensor<2xindex>, %rhs: tensor<2xindex>) {
  // expected-error@+1 {{(C3): length(lhs) == length(rhs) == length(result)}}
  %0 = "shape.max"(%lhs, %rhs) : (tensor<2xindex>, tensor<2xindex>) -> tensor<3xindex>
  return
}

// -----

func.func @min_C1(%lhs: tensor<2xindex>, %rhs: !shape.shape) {
  // expected-error@+1 {{(C1): propagates_errors(result, lhs, rhs)}}
  %0 = "shape.min"(%lhs, %rhs) : (tensor<2xindex>, !shape.shape) -> tensor<2xindex>
  return
}

// -----

func.func @min_C2(%lhs: tensor<2xindex>, %rhs: index) {
  // expected-error@+1 {{(C2): shape_like.holds(lhs) == shape_like.holds(rhs) == shape_like.holds(result)}}
  %0 = "shape.min"(%lhs, %rhs) : (tensor<2xindex>, index) -> tensor<2xindex>
  return
}

// -----

func.func @min_C3(%lhs: tensor<2xindex>, %rhs: tensor<2xindex>) {
  // expected-error@+1 {{(C3): length(lhs) == length(rhs) == length(result)}}
  %0 = "shape.min"(%lhs, %rhs) : (tensor<2xindex>, tensor<2xindex>) -> tensor<3xindex>
  return
}

// -----

func.func @num_elements_C1(%shape: !shape.shape) {
  // expected-error@+1 {{(C1): propagates_errors(result, shape)}}
  %0 = "shape.num_elements"(%shape) : (!shape.shape) -> index
  return
}

// -----

func.func @rank_C1(%shape: !shape.shape) {
  // expected-error@+1 {{(C1): propagates_errors(rank, shape)}}
  %0 = "shape.rank"(%shape) : (!shape.shape) -> index
  return
}

// -----

func.func @shape_of_C1(%arg: !shape.shape) {
  // expected-error@+1 {{(C1): propagates_errors(result, arg)}}
  %0 = "shape.shape_of"(%arg) : (!shape.shape) -> tensor<2xindex>
  return
}

// -----

func.func @shape_of_C2(%arg: tensor<2x3xf32>) {
  // expected-error@+1 {{(C2): not is_tensor(arg) or length(result) == rank(arg)}}
  %0 = "shape.shape_of"(%arg) : (tensor<2x3xf32>) -> tensor<3xindex>
  return
}

// -----

func.func @split_at_C1(%operand: !shape.shape, %index: index) {
  // expected-error@+1 {{(C1): propagates_errors(head, operand, index) and propagates_errors(tail, operand, index)}}
  %0:2 = "shape.split_at"(%operand, %index) : (!shape.shape, index) -> (tensor<2xindex>, tensor<2xindex>)
  return
}

// -----

func.func @split_at_C1_index(%operand: tensor<4xindex>, %index: !shape.size) {
  // expected-error@+1 {{(C1): propagates_errors(head, operand, index) and propagates_errors(tail, operand, index)}}
  %0:2 = "shape.split_at"(%operand, %index) : (tensor<4xindex>, !shape.size) -> (tensor<2xindex>, tensor<2xindex>)
  return
}

// -----

func.func @split_at_C2(%operand: tensor<4xindex>, %index: index) {
  // expected-error@+1 {{(C2): length(operand) == length(head) + length(tail)}}
  %0:2 = "shape.split_at"(%operand, %index) : (tensor<4xindex>, index) -> (tensor<2xindex>, tensor<3xindex>)
  return
}
