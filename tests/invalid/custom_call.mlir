func.func @Special_custom_call_targets_CreateBuffer(%inputs: tensor<4xf32>) {
  // expected-error@+1 {{(Special custom_call targets): size(inputs) == 0 and size(results) == 1 and is_buffer(results[0])}}
  %0 = "stablehlo.custom_call"(%inputs) <{call_target_name = "CreateBuffer"}> : (tensor<4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @Special_custom_call_targets_CreateBuffer_of_a_tensor() {
  // expected-error@+1 {{(Special custom_call targets): size(inputs) == 0 and size(results) == 1 and is_buffer(results[0])}}
  %0 = "stablehlo.custom_call"() <{call_target_name = "CreateBuffer"}> : () -> tensor<4xf32>
  return
}

// -----

func.func @Special_custom_call_targets_CreateBuffer_results() {
  // expected-error@+1 {{(Special custom_call targets): size(inputs) == 0 and size(results) == 1 and is_buffer(results[0])}}
  %0:2 = "stablehlo.custom_call"() <{call_target_name = "CreateBuffer"}> : () -> (memref<4xf32>, memref<4xf32>)
  return
}

// -----

func.func @Special_custom_call_targets_Pin(%inputs: tensor<5xf32>) {
  // expected-error@+1 {{(Special custom_call targets): size(inputs) == size(results) == 1 and is_buffer(results[0]) and isinstance(inputs[0], TensorType) and same_content(inputs[0], results[0])}}
  %0 = "stablehlo.custom_call"(%inputs) <{call_target_name = "Pin"}> : (tensor<5xf32>) -> memref<4xf32>
  return
}

// -----

func.func @Special_custom_call_targets_Pin_element_type(%inputs: tensor<4xf64>) {
  // expected-error@+1 {{(Special custom_call targets): size(inputs) == size(results) == 1 and is_buffer(results[0]) and isinstance(inputs[0], TensorType) and same_content(inputs[0], results[0])}}
  %0 = "stablehlo.custom_call"(%inputs) <{call_target_name = "Pin"}> : (tensor<4xf64>) -> memref<4xf32>
  return
}

// -----

func.func @Special_custom_call_targets_Pin_a_buffer(%inputs: memref<4xf32>) {
  // expected-error@+1 {{(Special custom_call targets): size(inputs) == size(results) == 1 and is_buffer(results[0]) and isinstance(inputs[0], TensorType) and same_content(inputs[0], results[0])}}
  %0 = "stablehlo.custom_call"(%inputs) <{call_target_name = "Pin"}> : (memref<4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @Special_custom_call_targets_Unpin_a_tensor(%inputs: tensor<4xf32>) {
  // expected-error@+1 {{(Special custom_call targets): size(inputs) == size(results) == 1 and is_buffer(inputs[0]) and isinstance(results[0], TensorType) and same_content(inputs[0], results[0])}}
  %0 = "stablehlo.custom_call"(%inputs) <{call_target_name = "Unpin"}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @Special_custom_call_targets_Unpin(%inputs: memref<4xf32>) {
  // expected-error@+1 {{(Special custom_call targets): size(inputs) == size(results) == 1 and is_buffer(inputs[0]) and isinstance(results[0], TensorType) and same_content(inputs[0], results[0])}}
  %0 = "stablehlo.custom_call"(%inputs) <{call_target_name = "Unpin"}> : (memref<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @Alias_operand_index(%inputs: memref<4xf32>) {
  // expected-error@+1 {{(Alias): all(0 <= operand[0] < size(inputs) for operand in operands)}}
  %0 = "stablehlo.custom_call"(%inputs) <{call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]}> : (memref<4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @Alias_negative_index(%inputs: memref<4xf32>) {
  // expected-error@+1 {{(Alias): all(0 <= operand[0] < size(inputs) for operand in operands)}}
  %0 = "stablehlo.custom_call"(%inputs) <{call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = -1, operand_tuple_indices = []>]}> : (memref<4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @Alias_types(%inputs: memref<5xf32>) {
  // expected-error@+1 {{(Alias): all(compatible(part_at(output, path), part_at(inputs[i], inner)) for path, (i, *inner) in pairs)}}
  %0 = "stablehlo.custom_call"(%inputs) <{call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}> : (memref<5xf32>) -> memref<4xf32>
  return
}

// -----

func.func @Alias_no_such_part(%inputs: memref<4xf32>) {
  // expected-error@+1 {{(Alias): all(compatible(part_at(output, path), part_at(inputs[i], inner)) for path, (i, *inner) in pairs)}}
  %0 = "stablehlo.custom_call"(%inputs) <{call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>]}> : (memref<4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @Alias_no_such_part_of_an_operand(%inputs: memref<4xf32>) {
  // expected-error@+1 {{(Alias): all(compatible(part_at(output, path), part_at(inputs[i], inner)) for path, (i, *inner) in pairs)}}
  %0 = "stablehlo.custom_call"(%inputs) <{call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [0]>]}> : (memref<4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @Alias_operand_twice(%inputs: memref<4xf32>) {
  // expected-error@+1 {{(Alias): is_unique(buffers)}}
  %0:2 = "stablehlo.custom_call"(%inputs) <{call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>]}> : (memref<4xf32>) -> (memref<4xf32>, memref<4xf32>)
  return
}

// -----

func.func @Alias_result_twice(%inputs0: memref<4xf32>, %inputs1: memref<4xf32>) {
  // expected-error@+1 {{(Alias): is_unique(written) and set(written) == set(buffers_in(output))}}
  %0 = "stablehlo.custom_call"(%inputs0, %inputs1) <{call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]}> : (memref<4xf32>, memref<4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @Alias_without_operand() {
  // expected-error@+1 {{(Alias): is_unique(written) and set(written) == set(buffers_in(output))}}
  %0 = "stablehlo.custom_call"() <{call_target_name = "f"}> : () -> memref<4xf32>
  return
}

// -----

func.func @types() {
  // expected-error@+1 {{requires attribute 'call_target_name'}}
  %0 = "stablehlo.custom_call"() : () -> memref<4xf32>
  // expected-error@+1 {{attribute 'call_target_name' must be a string}}
  %1 = "stablehlo.custom_call"() <{call_target_name = 1 : i64}> : () -> memref<4xf32>
  // expected-error@+1 {{attribute 'has_side_effect' must be a boolean}}
  %2 = "stablehlo.custom_call"() <{call_target_name = "CreateBuffer", has_side_effect = "wrong"}> : () -> memref<4xf32>
  // expected-error@+1 {{attribute 'api_version' must be a 32-bit integer}}
  %3 = "stablehlo.custom_call"() <{call_target_name = "CreateBuffer", api_version = "wrong"}> : () -> memref<4xf32>
  // expected-error@+1 {{attribute 'called_computations' must be a list of symbol reference}}
  %4 = "stablehlo.custom_call"() <{call_target_name = "CreateBuffer", called_computations = "wrong"}> : () -> memref<4xf32>
  // expected-error@+1 {{attribute 'output_operand_aliases' must be a list of stablehlo.output_operand_alias}}
  %5 = "stablehlo.custom_call"() <{call_target_name = "CreateBuffer", output_operand_aliases = "wrong"}> : () -> memref<4xf32>
  return
}

// -----

func.func @types(%x: i32, %y: tensor<f32>, %z: tensor<index>) {
  // expected-error@+1 {{operand #0 (inputs) must be tensor, token, tuple, buffer or future or unranked tensor, but is i32}}
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (i32) -> tensor<f32>
  // expected-error@+1 {{result #0 (results) must be tensor, token, tuple, buffer or future or unranked tensor, but is i32}}
  %1 = "stablehlo.custom_call"(%y) <{call_target_name = "f"}> : (tensor<f32>) -> i32
  // expected-error@+1 {{operand #0 (inputs) must be tensor, token, tuple, buffer or future or unranked tensor, but is tensor<index>}}
  %2 = "stablehlo.custom_call"(%z) <{call_target_name = "f"}> : (tensor<index>) -> tensor<f32>
  return
}

// -----

func.func @attributes(%x: tensor<2x3xf32>, %token: !stablehlo.token) {
  // expected-error@+1 {{(api_version): 0 <= api_version <= TYPED_FFI}}
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "f", api_version = -1 : i32}> : (tensor<2x3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{(backend_config): backend_config == "" or isinstance(backend_config, CONFIGS.get(api_version, str))}}
  %1 = "stablehlo.custom_call"(%x) <{call_target_name = "f", backend_config = {a = 1}}> : (tensor<2x3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{(backend_config): backend_config == "" or isinstance(backend_config, CONFIGS.get(api_version, str))}}
  %2 = "stablehlo.custom_call"(%x) <{call_target_name = "f", backend_config = "a", api_version = 4 : i32}> : (tensor<2x3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'operand_layouts' must be a list of list of 64-bit integers}}
  %3 = "stablehlo.custom_call"(%x) <{call_target_name = "f", operand_layouts = 1 : i64}> : (tensor<2x3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'result_layouts' must be a list of list of 64-bit integers}}
  %4 = "stablehlo.custom_call"(%x) <{call_target_name = "f", result_layouts = 1 : i64}> : (tensor<2x3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{(layouts): (operand_layouts is None) == (result_layouts is None)}}
  %5 = "stablehlo.custom_call"(%x) <{call_target_name = "f", operand_layouts = [dense<[1, 0]> : tensor<2xindex>]}> : (tensor<2x3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{(layouts): are_layouts_of(operand_layouts, inputs) and are_layouts_of(result_layouts, leaves(results))}}
  %6 = "stablehlo.custom_call"(%x) <{call_target_name = "f", operand_layouts = [dense<[1, 1]> : tensor<2xindex>], result_layouts = [dense<0> : tensor<1xindex>]}> : (tensor<2x3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{(layouts): are_layouts_of(operand_layouts, inputs) and are_layouts_of(result_layouts, leaves(results))}}
  %7 = "stablehlo.custom_call"(%x) <{call_target_name = "f", operand_layouts = [], result_layouts = [dense<0> : tensor<1xindex>]}> : (tensor<2x3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{(layouts): are_layouts_of(operand_layouts, inputs) and are_layouts_of(result_layouts, leaves(results))}}
  %8 = "stablehlo.custom_call"(%token) <{call_target_name = "f", operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]}> : (!stablehlo.token) -> tensor<2xf32>
  return
}
