func.func @abs_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): result == part_of(complex_)}}
  %0 = "complex.abs"(%a) : (complex<f32>) -> f64
  return
}

// -----

func.func @add_C1(%a: complex<f32>, %b: complex<f32>) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "complex.add"(%a, %b) : (complex<f32>, complex<f32>) -> complex<f64>
  return
}

// -----

func.func @angle_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): result == part_of(complex_)}}
  %0 = "complex.angle"(%a) : (complex<f32>) -> f64
  return
}

// -----

func.func @atan2_C1(%a: complex<f32>, %b: complex<f32>) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "complex.atan2"(%a, %b) : (complex<f32>, complex<f32>) -> complex<f64>
  return
}

// -----

func.func @conj_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.conj"(%a) : (complex<f32>) -> complex<f64>
  return
}

// -----

func.func @constant_C1() {
  // expected-error@+1 {{(C1): isinstance(value, tuple) and len(value) == 2 and all(isinstance(x, FloatAttribute) for x in value)}}
  %0 = "complex.constant"() <{value = [1.0 : f32]}> : () -> complex<f32>
  return
}

// -----

func.func @cos_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.cos"(%a) : (complex<f32>) -> complex<f64>
  return
}

// -----

func.func @create_C1(%a: f32, %b: f32) {
  // expected-error@+1 {{(C1): real == imaginary == part_of(complex_)}}
  %0 = "complex.create"(%a, %b) : (f32, f32) -> complex<f64>
  return
}

// -----

func.func @div_C1(%a: complex<f32>, %b: complex<f32>) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "complex.div"(%a, %b) : (complex<f32>, complex<f32>) -> complex<f64>
  return
}

// -----

func.func @eq_C1(%a: complex<f32>, %b: complex<f64>) {
  // expected-error@+1 {{(C1): lhs == rhs}}
  %0 = "complex.eq"(%a, %b) : (complex<f32>, complex<f64>) -> i1
  return
}

// -----

func.func @exp_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.exp"(%a) : (complex<f32>) -> complex<f64>
  return
}

// -----

func.func @expm1_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.expm1"(%a) : (complex<f32>) -> complex<f64>
  return
}

// -----

func.func @im_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): result == part_of(complex_)}}
  %0 = "complex.im"(%a) : (complex<f32>) -> f64
  return
}

// -----

func.func @log_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.log"(%a) : (complex<f32>) -> complex<f64>
  return
}

// -----

func.func @log1p_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.log1p"(%a) : (complex<f32>) -> complex<f64>
  return
}

// -----

func.func @mul_C1(%a: complex<f32>, %b: complex<f32>) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "complex.mul"(%a, %b) : (complex<f32>, complex<f32>) -> complex<f64>
  return
}

// -----

func.func @neg_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.neg"(%a) : (complex<f32>) -> complex<f64>
  return
}

// -----

func.func @neq_C1(%a: complex<f32>, %b: complex<f64>) {
  // expected-error@+1 {{(C1): lhs == rhs}}
  %0 = "complex.neq"(%a, %b) : (complex<f32>, complex<f64>) -> i1
  return
}

// -----

func.func @pow_C1(%a: complex<f32>, %b: complex<f32>) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "complex.pow"(%a, %b) : (complex<f32>, complex<f32>) -> complex<f64>
  return
}

// -----

func.func @re_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): result == part_of(complex_)}}
  %0 = "complex.re"(%a) : (complex<f32>) -> f64
  return
}

// -----

func.func @rsqrt_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.rsqrt"(%a) : (complex<f32>) -> complex<f64>
  return
}

// -----

func.func @sign_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.sign"(%a) : (complex<f32>) -> complex<f64>
  return
}

// -----

func.func @sin_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.sin"(%a) : (complex<f32>) -> complex<f64>
  return
}

// -----

func.func @sqrt_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.sqrt"(%a) : (complex<f32>) -> complex<f64>
  return
}

// -----

func.func @sub_C1(%a: complex<f32>, %b: complex<f32>) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "complex.sub"(%a, %b) : (complex<f32>, complex<f32>) -> complex<f64>
  return
}

// -----

func.func @tan_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.tan"(%a) : (complex<f32>) -> complex<f64>
  return
}

// -----

func.func @tanh_C1(%a: complex<f32>) {
  // expected-error@+1 {{(C1): complex_ == result}}
  %0 = "complex.tanh"(%a) : (complex<f32>) -> complex<f64>
  return
}
