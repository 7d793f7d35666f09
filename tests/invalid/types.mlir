func.func @C3(%lhs: tensor<2x!quant.uniform<i8<5:5>:f32, 1.0>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8<5:5>:f32, 1.000000e+00> violates (C3): min_value(storage_type) <= storage_min < storage_max <= max_value(storage_type)}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8<5:5>:f32, 1.0>>, tensor<2x!quant.uniform<i8<5:5>:f32, 1.0>>) -> tensor<2x!quant.uniform<i8<5:5>:f32, 1.0>>
  return
}

// -----

func.func @C3_storage_min(%lhs: tensor<2x!quant.uniform<i8<-129:127>:f32, 1.0>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8<-129:127>:f32, 1.000000e+00> violates (C3): min_value(storage_type) <= storage_min < storage_max <= max_value(storage_type)}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8<-129:127>:f32, 1.0>>, tensor<2x!quant.uniform<i8<-129:127>:f32, 1.0>>) -> tensor<2x!quant.uniform<i8<-129:127>:f32, 1.0>>
  return
}

// -----

func.func @C3_storage_max(%lhs: tensor<2x!quant.uniform<i8<-128:128>:f32, 1.0>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8<-128:128>:f32, 1.000000e+00> violates (C3): min_value(storage_type) <= storage_min < storage_max <= max_value(storage_type)}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8<-128:128>:f32, 1.0>>, tensor<2x!quant.uniform<i8<-128:128>:f32, 1.0>>) -> tensor<2x!quant.uniform<i8<-128:128>:f32, 1.0>>
  return
}

// -----

func.func @C5(%lhs: tensor<2x!quant.uniform<i8:f32, 0.0>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8:f32, 0.000000e+00> violates (C5): 0 < scales}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8:f32, 0.0>>, tensor<2x!quant.uniform<i8:f32, 0.0>>) -> tensor<2x!quant.uniform<i8:f32, 0.0>>
  return
}

// -----

func.func @C5_negative(%lhs: tensor<2x!quant.uniform<i8:f32, -1.0>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8:f32, -1.000000e+00> violates (C5): 0 < scales}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8:f32, -1.0>>, tensor<2x!quant.uniform<i8:f32, -1.0>>) -> tensor<2x!quant.uniform<i8:f32, -1.0>>
  return
}

// -----

func.func @C5_after_rounding(%lhs: tensor<2x!quant.uniform<i8:f16, 2.9e-8>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8:f16, 2.900000e-08> violates (C5): 0 < scales}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8:f16, 2.9e-8>>, tensor<2x!quant.uniform<i8:f16, 2.9e-8>>) -> tensor<2x!quant.uniform<i8:f16, 2.9e-8>>
  return
}

// -----

func.func @C6(%lhs: tensor<2x!quant.uniform<i8:f32, 1.0e39>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8:f32, 1.000000e+39> violates (C6): is_finite(scales...)}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8:f32, 1.0e39>>, tensor<2x!quant.uniform<i8:f32, 1.0e39>>) -> tensor<2x!quant.uniform<i8:f32, 1.0e39>>
  return
}

// -----

func.func @C6_f16(%lhs: tensor<2x!quant.uniform<i8:f16, 65520.0>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8:f16, 6.552000e+04> violates (C6): is_finite(scales...)}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8:f16, 65520.0>>, tensor<2x!quant.uniform<i8:f16, 65520.0>>) -> tensor<2x!quant.uniform<i8:f16, 65520.0>>
  return
}

// -----

func.func @C6_bf16(%lhs: tensor<2x!quant.uniform<i8:bf16, 3.4e38>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8:bf16, 3.400000e+38> violates (C6): is_finite(scales...)}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8:bf16, 3.4e38>>, tensor<2x!quant.uniform<i8:bf16, 3.4e38>>) -> tensor<2x!quant.uniform<i8:bf16, 3.4e38>>
  return
}

// -----

func.func @C6_f64(%lhs: tensor<2x!quant.uniform<i8:f64, 1.0e309>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8:f64, inf> violates (C6): is_finite(scales...)}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8:f64, 1.0e309>>, tensor<2x!quant.uniform<i8:f64, 1.0e309>>) -> tensor<2x!quant.uniform<i8:f64, 1.0e309>>
  return
}

// -----

func.func @C7(%lhs: tensor<2x!quant.uniform<i8:f32, 1.0:128>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8:f32, 1.000000e+00:128> violates (C7): storage_min <= zero_points <= storage_max}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8:f32, 1.0:128>>, tensor<2x!quant.uniform<i8:f32, 1.0:128>>) -> tensor<2x!quant.uniform<i8:f32, 1.0:128>>
  return
}

// -----

func.func @C7_storage_min(%lhs: tensor<2x!quant.uniform<i8<0:127>:f32, 1.0:-1>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8<0:127>:f32, 1.000000e+00:-1> violates (C7): storage_min <= zero_points <= storage_max}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8<0:127>:f32, 1.0:-1>>, tensor<2x!quant.uniform<i8<0:127>:f32, 1.0:-1>>) -> tensor<2x!quant.uniform<i8<0:127>:f32, 1.0:-1>>
  return
}

// -----

func.func @C11(%lhs: tensor<2x!quant.uniform<i8:f32:-1, {1.0, 2.0}>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8:f32:-1, {1.000000e+00,2.000000e+00}> violates (C11): 0 <= quantization_dimension}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8:f32:-1, {1.0, 2.0}>>, tensor<2x!quant.uniform<i8:f32:-1, {1.0, 2.0}>>) -> tensor<2x!quant.uniform<i8:f32:-1, {1.0, 2.0}>>
  return
}

// -----

func.func @C12(%lhs: tensor<2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: tensor<2x!quant.uniform<i8:f32:1, {1.000000e+00,2.000000e+00}>> violates (C12): quantization_dimension < rank(self)}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>, tensor<2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) -> tensor<2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @C13(%lhs: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00}>> violates (C13): dim(self, quantization_dimension) = size(scales)}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>
  return
}

// -----

func.func @storage_type(%lhs: tensor<2x!quant.uniform<i9:f32, 1.0>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i9:f32, 1.000000e+00> violates storage_type is an integer type}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i9:f32, 1.0>>, tensor<2x!quant.uniform<i9:f32, 1.0>>) -> tensor<2x!quant.uniform<i9:f32, 1.0>>
  return
}

// -----

func.func @expressed_type(%lhs: tensor<2x!quant.uniform<i8:i32, 1.0>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: !quant.uniform<i8:i32, 1.000000e+00> violates expressed_type is a floating-point type}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2x!quant.uniform<i8:i32, 1.0>>, tensor<2x!quant.uniform<i8:i32, 1.0>>) -> tensor<2x!quant.uniform<i8:i32, 1.0>>
  return
}

// -----

func.func @integer(%lhs: tensor<2xi7>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: unsupported element type i7}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2xi7>, tensor<2xi7>) -> tensor<2xi7>
  return
}

// -----

func.func @wide_integer(%lhs: tensor<2xi128>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: unsupported element type i128}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2xi128>, tensor<2xi128>) -> tensor<2xi128>
  return
}

// -----

func.func @float(%lhs: tensor<2xf80>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: unsupported element type f80}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2xf80>, tensor<2xf80>) -> tensor<2xf80>
  return
}

// -----

func.func @complex(%lhs: tensor<2xcomplex<f16>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: unsupported element type complex<f16>}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2xcomplex<f16>>, tensor<2xcomplex<f16>>) -> tensor<2xcomplex<f16>>
  return
}

// -----

func.func @complex_integer(%lhs: tensor<2xcomplex<i32>>) {
  // expected-error@+1 {{operand #0 (lhs) has an invalid type: unsupported element type complex<i32>}}
  %0 = "stablehlo.add"(%lhs, %lhs) : (tensor<2xcomplex<i32>>, tensor<2xcomplex<i32>>) -> tensor<2xcomplex<i32>>
  return
}

// -----

// Element types that only other dialects have.

func.func @index(%x: tensor<2xindex>, %y: tensor<2xtf32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is tensor<2xindex>}}
  %0 = stablehlo.add %x, %x : tensor<2xindex>
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is tensor<2xtf32>}}
  %1 = stablehlo.add %y, %y : tensor<2xtf32>
  return
}

// -----

// Types of functions and blocks.

// expected-error@+1 {{argument #0 has an invalid type: !quant.uniform<i8:f32, 0.000000e+00> violates (C5): 0 < scales}}
func.func @scale(%x: tensor<2x!quant.uniform<i8:f32, 0.0>>) {
  return
}

// -----

// expected-error@+1 {{argument #0 has an invalid type: !quant.uniform<i8:f32, 0.000000e+00> violates (C5): 0 < scales}}
func.func @scalar(%x: !quant.uniform<i8:f32, 0.0>) {
  return
}

// -----

// expected-error@+1 {{result #0 has an invalid type: tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00}>> violates (C13): dim(self, quantization_dimension) = size(scales)}}
func.func private @scales() -> tensor<2x!quant.uniform<i8:f32:0, {1.0,2.0,3.0}>>

// -----

// expected-error@+1 {{argument #0 has an invalid type: !quant.uniform<si8:f32, 1.000000e+00> violates storage_type is an integer type, signless or unsigned}}
func.func private @storage(tensor<2x!quant.uniform<si8:f32, 1.0>>)

// -----

// expected-error@+1 {{argument #0 has an invalid type: unsupported element type i128}}
func.func private @wide(tensor<2xi128>)

// -----

func.func @block(%x: tensor<f32>) {
  %0 = stablehlo.while(%a = %x) : tensor<f32>
  cond {
    %p = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    // expected-error@+1 {{block argument #0 has an invalid type: unsupported element type i128}}
    %1 = "stablehlo.map"(%a) <{dimensions = array<i64>}> ({
    ^bb0(%b: tensor<i128>):
      // expected-error@+1 {{operand #0 (results) has an invalid type: unsupported element type i128}}
      stablehlo.return %b : tensor<i128>
    }) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %a : tensor<f32>
  }
  return
}

// -----

func.func @bound(%x: tensor<?xf32, #stablehlo.bounds<4>>) {
  // expected-error@+1 {{(C1): compatible(lhs, rhs, result)}}
  %0 = "stablehlo.add"(%x, %x) : (tensor<?xf32, #stablehlo.bounds<4>>, tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<5xf32>
  // expected-error@+1 {{(C3): all(0 <= start <= limit <= n for start, limit, n in zip(start_indices, limit_indices, most(operand)))}}
  %1 = "stablehlo.slice"(%x) <{start_indices = array<i64: 0>, limit_indices = array<i64: 5>, strides = array<i64: 1>}> : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<5xf32>
  return
}
