func.func @cast_C1(%source: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1): compatible(source, dest)}}
  %0 = "tensor.cast"(%source) : (tensor<2x3xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @cast_C1_element_type(%source: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1): compatible(source, dest)}}
  %0 = "tensor.cast"(%source) : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @collapse_shape_C1(%src: tensor<2x3x4xf32>) {
  // expected-error@+1 {{(C1): covers_in_order(reassociation, src)}}
  %0 = "tensor.collapse_shape"(%src) <{reassociation = [[0], [2, 1]]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @collapse_shape_C1_missing(%src: tensor<2x3x4xf32>) {
  // expected-error@+1 {{(C1): covers_in_order(reassociation, src)}}
  %0 = "tensor.collapse_shape"(%src) <{reassociation = [[0, 1]]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @collapse_shape_C2(%src: tensor<2x3x4xf32>) {
  // expected-error@+1 {{(C2): compatible(result, infer())}}
  %0 = "tensor.collapse_shape"(%src) <{reassociation = [[0, 1], [2]]}> : (tensor<2x3x4xf32>) -> tensor<6x5xf32>
  return
}

// -----

func.func @expand_shape_C1(%src: tensor<6x4xf32>) {
  // expected-error@+1 {{(C1): size(reassociation) == rank(src) and covers_in_order(reassociation, result)}}
  %0 = "tensor.expand_shape"(%src) <{reassociation = [[0], [2, 1]], static_output_shape = array<i64: 2, 3, 4>}> : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @expand_shape_C1_rank(%src: tensor<6x4xf32>) {
  // expected-error@+1 {{(C1): size(reassociation) == rank(src) and covers_in_order(reassociation, result)}}
  %0 = "tensor.expand_shape"(%src) <{reassociation = [[0, 1, 2]], static_output_shape = array<i64: 2, 3, 4>}> : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @expand_shape_C2(%src: tensor<5x4xf32>) {
  // expected-error@+1 {{(C2): all(n == product(result, group) for n, group in zip(shape(src), reassociation))}}
  %0 = "tensor.expand_shape"(%src) <{reassociation = [[0, 1], [2]], static_output_shape = array<i64: 2, 3, 4>}> : (tensor<5x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @expand_shape_C3(%src: tensor<6x4xf32>) {
  // expected-error@+1 {{(C3): size(sizes) == rank(result) and all(n in (DYNAMIC, m) for n, m in zip(sizes, shape(result)))}}
  %0 = "tensor.expand_shape"(%src) <{reassociation = [[0, 1], [2]], static_output_shape = array<i64: 2, 3>}> : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @expand_shape_C4(%src: tensor<6x4xf32>, %output_shape: index) {
  // expected-error@+1 {{(C4): size(output_shape) == sizes.count(DYNAMIC)}}
  %0 = "tensor.expand_shape"(%src, %output_shape) <{reassociation = [[0, 1], [2]], static_output_shape = array<i64: 2, 3, 4>}> : (tensor<6x4xf32>, index) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @concat_C1(%inputs0: tensor<2x3xf32>, %inputs1: tensor<4x3xf32>) {
  // expected-error@+1 {{(C1): size(inputs) > 0 and 0 <= dim < rank(result) and all(rank(x) == rank(result) for x in inputs)}}
  %0 = "tensor.concat"(%inputs0, %inputs1) <{dim = 2 : i64}> : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  return
}

// -----

func.func @concat_C1_none() {
  // expected-error@+1 {{(C1): size(inputs) > 0 and 0 <= dim < rank(result) and all(rank(x) == rank(result) for x in inputs)}}
  %0 = "tensor.concat"() <{dim = 0 : i64}> : () -> tensor<6x3xf32>
  return
}

// -----

func.func @concat_C1_rank(%inputs0: tensor<2x3xf32>, %inputs1: tensor<3xf32>) {
  // expected-error@+1 {{(C1): size(inputs) > 0 and 0 <= dim < rank(result) and all(rank(x) == rank(result) for x in inputs)}}
  %0 = "tensor.concat"(%inputs0, %inputs1) <{dim = 0 : i64}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<6x3xf32>
  return
}

// -----

func.func @concat_C2(%inputs0: tensor<2x3xf32>, %inputs1: tensor<4x3xf64>) {
  // expected-error@+1 {{(C2): all(element_type(x) == element_type(result) for x in inputs)}}
  %0 = "tensor.concat"(%inputs0, %inputs1) <{dim = 0 : i64}> : (tensor<2x3xf32>, tensor<4x3xf64>) -> tensor<6x3xf32>
  return
}

// -----

func.func @concat_C3(%inputs0: tensor<2x3xf32>, %inputs1: tensor<4x4xf32>) {
  // expected-error@+1 {{(C3): all(without(shape(x), [dim]) == without(shape(result), [dim]) for x in inputs)}}
  %0 = "tensor.concat"(%inputs0, %inputs1) <{dim = 0 : i64}> : (tensor<2x3xf32>, tensor<4x4xf32>) -> tensor<6x3xf32>
  return
}

// -----

func.func @concat_C4(%inputs0: tensor<2x3xf32>, %inputs1: tensor<4x3xf32>) {
  // expected-error@+1 {{(C4): compatible(result, infer())}}
  %0 = "tensor.concat"(%inputs0, %inputs1) <{dim = 0 : i64}> : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<7x3xf32>
  return
}

// -----

func.func @empty_C1() {
  // expected-error@+1 {{(C1): "dynamic_sizes" in constants or size(dynamic_sizes) == result.shape.count(None)}}
  %0 = "tensor.empty"() : () -> tensor<2x?xf32>
  return
}

// -----

func.func @empty_C1_many(%dynamic_sizes0: index, %dynamic_sizes1: index) {
  // expected-error@+1 {{(C1): "dynamic_sizes" in constants or size(dynamic_sizes) == result.shape.count(None)}}
  %0 = "tensor.empty"(%dynamic_sizes0, %dynamic_sizes1) : (index, index) -> tensor<2x?xf32>
  return
}

// -----

func.func @extract_C1(%tensor: tensor<2x3xf32>, %indices: index) {
  // expected-error@+1 {{(C1): size(indices) == rank(tensor)}}
  %0 = "tensor.extract"(%tensor, %indices) : (tensor<2x3xf32>, index) -> f32
  return
}

// -----

func.func @extract_C2(%tensor: tensor<2x3xf32>, %indices0: index, %indices1: index) {
  // expected-error@+1 {{(C2): result == element_type(tensor)}}
  %0 = "tensor.extract"(%tensor, %indices0, %indices1) : (tensor<2x3xf32>, index, index) -> f64
  return
}

// -----

func.func @from_elements_C1(%elements: f32) {
  // expected-error@+1 {{(C1): size(result) == len(elements)}}
  %0 = "tensor.from_elements"(%elements) : (f32) -> tensor<2xf32>
  return
}

// -----

func.func @from_elements_C2(%elements0: f32, %elements1: f64) {
  // expected-error@+1 {{(C2): all(e == element_type(result) for e in elements)}}
  %0 = "tensor.from_elements"(%elements0, %elements1) : (f32, f64) -> tensor<2xf32>
  return
}

// -----

func.func @insert_C1(%scalar: f32, %dest: tensor<2x3xf32>, %indices: index) {
  // expected-error@+1 {{(C1): size(indices) == rank(dest)}}
  %0 = "tensor.insert"(%scalar, %dest, %indices) : (f32, tensor<2x3xf32>, index) -> tensor<2x3xf32>
  return
}

// -----

func.func @insert_C2(%scalar: f64, %dest: tensor<2x3xf32>, %indices0: index, %indices1: index) {
  // expected-error@+1 {{(C2): scalar == element_type(dest)}}
  %0 = "tensor.insert"(%scalar, %dest, %indices0, %indices1) : (f64, tensor<2x3xf32>, index, index) -> tensor<2x3xf32>
  return
}

// -----

func.func @insert_C3(%scalar: f32, %dest: tensor<2x3xf32>, %indices0: index, %indices1: index) {
  // expected-error@+1 {{(C3): compatible(dest, result)}}
  %0 = "tensor.insert"(%scalar, %dest, %indices0, %indices1) : (f32, tensor<2x3xf32>, index, index) -> tensor<2x4xf32>
  return
}

// -----

func.func @reshape_C1(%source: tensor<2x3xf32>, %shape: tensor<1xindex>) {
  // expected-error@+1 {{(C1): size(source) == size(result)}}
  %0 = "tensor.reshape"(%source, %shape) : (tensor<2x3xf32>, tensor<1xindex>) -> tensor<5xf32>
  return
}

// -----

func.func @reshape_C2(%source: tensor<2x3xf32>, %shape: tensor<1xindex>) {
  // expected-error@+1 {{(C2): element_type(source) == element_type(result)}}
  %0 = "tensor.reshape"(%source, %shape) : (tensor<2x3xf32>, tensor<1xindex>) -> tensor<6xf64>
  return
}

// -----

func.func @splat_C1(%input: f32) {
  // expected-error@+1 {{(C1): "dynamic_sizes" in constants or size(dynamic_sizes) == result.shape.count(None)}}
  %0 = "tensor.splat"(%input) : (f32) -> tensor<2x?xf32>
  return
}

// -----

func.func @splat_C2(%input: f64, %dynamic_sizes: index) {
  // expected-error@+1 {{(C2): input == element_type(result)}}
  %0 = "tensor.splat"(%input, %dynamic_sizes) : (f64, index) -> tensor<2x?xf32>
  return
}

// -----

func.func @expand_shape_C5(%src: tensor<6xf32>) {
  // expected-error@+1 {{(C5): element_type(src) == element_type(result)}}
  %0 = tensor.expand_shape %src [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xi32>
  return
}
