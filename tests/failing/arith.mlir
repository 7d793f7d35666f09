// Results are rounded to nearest even; another mode is an error, also in the properties of an op.
func.func @main() {
  %x = arith.constant 1.0 : f32
  %0 = arith.addf %x, %x to_nearest_even : f32
  // expected-error@+1 {{unsupported rounding mode}}
  %1 = arith.addf %x, %x upward : f32
  return
}

// -----

func.func @main() {
  %x = arith.constant 1.0 : f32
  // expected-error@+1 {{unsupported rounding mode}}
  %0 = "arith.divf"(%x, %x) <{roundingmode = 3 : i32}> : (f32, f32) -> f32
  return
}

// -----

func.func @main() {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  // expected-error@+1 {{unsupported rounding mode}}
  %0 = arith.truncf %x downward : tensor<2xf32> to tensor<2xf16>
  return
}

// -----

func.func @main() {
  %x = arith.constant 1.0 : f64
  // expected-error@+1 {{unsupported rounding mode}}
  %0 = math.fma %x, %x, %x toward_zero : f64
  return
}
