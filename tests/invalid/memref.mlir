// expected-error@+1 {{(C1): isinstance(type, BufferType) and None not in type.shape}}
"memref.global"() <{sym_name = "x", type = memref<?xf32>}> : () -> ()

// -----

// expected-error@+1 {{(C2): initial_value in (None, UNIT) or type_of(initial_value) == tensor_of(type)}}
"memref.global"() <{sym_name = "x", type = memref<2xf32>, initial_value = dense<1.0> : tensor<3xf32>}> : () -> ()

// -----

memref.global @x : memref<2xf32> = dense<1.0>
func.func @get_global_C1() {
  // expected-error@+1 {{(C1): global_type(symbol(name)) == result}}
  %0 = "memref.get_global"() <{name = @x}> : () -> memref<3xf32>
  return
}

// -----

func.func @get_global_C1_unknown() {
  // expected-error@+1 {{(C1): global_type(symbol(name)) == result}}
  %0 = "memref.get_global"() <{name = @x}> : () -> memref<3xf32>
  return
}

// -----

func.func @to_tensor_C1(%x: memref<2xf32>) {
  // expected-error@+1 {{(C1): compatible(tensor_of(memref), result)}}
  %0 = "bufferization.to_tensor"(%x) : (memref<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @to_buffer_C1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(tensor, tensor_of(buffer))}}
  %0 = "bufferization.to_buffer"(%x) : (tensor<2xf32>) -> memref<3xf32>
  return
}

// -----

func.func @to_memref_C1(%x: tensor<2xf32>) {
  // expected-error@+1 {{(C1): compatible(tensor, tensor_of(buffer))}}
  %0 = "bufferization.to_memref"(%x) : (tensor<2xf32>) -> memref<3xf32>
  return
}

// -----

func.func @cast_C1(%x: memref<*xf32>) {
  // expected-error@+1 {{(C1): isinstance(source, BufferType) or isinstance(dest, BufferType)}}
  %0 = "memref.cast"(%x) : (memref<*xf32>) -> memref<*xf32>
  return
}

// -----

func.func @cast_C2(%x: memref<2xf32>) {
  // expected-error@+1 {{(C2): compatible(tensor_of(source), tensor_of(dest))}}
  %0 = "memref.cast"(%x) : (memref<2xf32>) -> memref<3xf32>
  return
}

// -----

func.func @cast_C3(%x: memref<*xf32>) {
  // expected-error@+1 {{(C3): source.element_type == dest.element_type}}
  %0 = "memref.cast"(%x) : (memref<*xf32>) -> memref<2xi32>
  return
}
