func.func @absf_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.absf"(%a) : (f32) -> f64
  return
}

// -----

func.func @absi_C1(%a: i32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.absi"(%a) : (i32) -> i64
  return
}

// -----

func.func @acos_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.acos"(%a) : (f32) -> f64
  return
}

// -----

func.func @acosh_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.acosh"(%a) : (f32) -> f64
  return
}

// -----

func.func @asin_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.asin"(%a) : (f32) -> f64
  return
}

// -----

func.func @asinh_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.asinh"(%a) : (f32) -> f64
  return
}

// -----

func.func @atan_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.atan"(%a) : (f32) -> f64
  return
}

// -----

func.func @atan2_C1(%a: f32, %b: f32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "math.atan2"(%a, %b) : (f32, f32) -> f64
  return
}

// -----

func.func @atanh_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.atanh"(%a) : (f32) -> f64
  return
}

// -----

func.func @cbrt_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.cbrt"(%a) : (f32) -> f64
  return
}

// -----

func.func @ceil_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.ceil"(%a) : (f32) -> f64
  return
}

// -----

func.func @copysign_C1(%a: f32, %b: f32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "math.copysign"(%a, %b) : (f32, f32) -> f64
  return
}

// -----

func.func @cos_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.cos"(%a) : (f32) -> f64
  return
}

// -----

func.func @cosh_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.cosh"(%a) : (f32) -> f64
  return
}

// -----

func.func @ctlz_C1(%a: i32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.ctlz"(%a) : (i32) -> i64
  return
}

// -----

func.func @ctpop_C1(%a: i32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.ctpop"(%a) : (i32) -> i64
  return
}

// -----

func.func @cttz_C1(%a: i32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.cttz"(%a) : (i32) -> i64
  return
}

// -----

func.func @erf_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.erf"(%a) : (f32) -> f64
  return
}

// -----

func.func @erfc_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.erfc"(%a) : (f32) -> f64
  return
}

// -----

func.func @exp_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.exp"(%a) : (f32) -> f64
  return
}

// -----

func.func @exp2_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.exp2"(%a) : (f32) -> f64
  return
}

// -----

func.func @expm1_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.expm1"(%a) : (f32) -> f64
  return
}

// -----

func.func @floor_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.floor"(%a) : (f32) -> f64
  return
}

// -----

func.func @fma_C1(%a: f32, %b: f32, %c: f32) {
  // expected-error@+1 {{(C1): a == b == c == result}}
  %0 = "math.fma"(%a, %b, %c) : (f32, f32, f32) -> f64
  return
}

// -----

func.func @fpowi_C1(%a: f32, %b: i32) {
  // expected-error@+1 {{(C1): lhs == result}}
  %0 = "math.fpowi"(%a, %b) : (f32, i32) -> f64
  return
}

// -----

func.func @fpowi_C2(%a: tensor<2xf32>, %b: tensor<3xi32>) {
  // expected-error@+1 {{(C2): alike(lhs, rhs)}}
  %0 = "math.fpowi"(%a, %b) : (tensor<2xf32>, tensor<3xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @ipowi_C1(%a: i32, %b: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "math.ipowi"(%a, %b) : (i32, i32) -> i64
  return
}

// -----

func.func @isfinite_C1(%a: f32) {
  // expected-error@+1 {{(C1): element_type(result) == BOOLEAN and alike(operand, result)}}
  %0 = "math.isfinite"(%a) : (f32) -> tensor<2xi1>
  return
}

// -----

func.func @isfinite_C2(%a: tensor<2xf32>) {
  // expected-error@+1 {{(C1): element_type(result) == BOOLEAN and alike(operand, result)}}
  %0 = "math.isfinite"(%a) : (tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @isinf_C1(%a: f32) {
  // expected-error@+1 {{(C1): element_type(result) == BOOLEAN and alike(operand, result)}}
  %0 = "math.isinf"(%a) : (f32) -> tensor<2xi1>
  return
}

// -----

func.func @isinf_C2(%a: tensor<2xf32>) {
  // expected-error@+1 {{(C1): element_type(result) == BOOLEAN and alike(operand, result)}}
  %0 = "math.isinf"(%a) : (tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @isnan_C1(%a: f32) {
  // expected-error@+1 {{(C1): element_type(result) == BOOLEAN and alike(operand, result)}}
  %0 = "math.isnan"(%a) : (f32) -> tensor<2xi1>
  return
}

// -----

func.func @isnan_C2(%a: tensor<2xf32>) {
  // expected-error@+1 {{(C1): element_type(result) == BOOLEAN and alike(operand, result)}}
  %0 = "math.isnan"(%a) : (tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @isnormal_C1(%a: f32) {
  // expected-error@+1 {{(C1): element_type(result) == BOOLEAN and alike(operand, result)}}
  %0 = "math.isnormal"(%a) : (f32) -> tensor<2xi1>
  return
}

// -----

func.func @isnormal_C2(%a: tensor<2xf32>) {
  // expected-error@+1 {{(C1): element_type(result) == BOOLEAN and alike(operand, result)}}
  %0 = "math.isnormal"(%a) : (tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @log_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.log"(%a) : (f32) -> f64
  return
}

// -----

func.func @log10_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.log10"(%a) : (f32) -> f64
  return
}

// -----

func.func @log1p_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.log1p"(%a) : (f32) -> f64
  return
}

// -----

func.func @log2_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.log2"(%a) : (f32) -> f64
  return
}

// -----

func.func @powf_C1(%a: f32, %b: f32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "math.powf"(%a, %b) : (f32, f32) -> f64
  return
}

// -----

func.func @round_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.round"(%a) : (f32) -> f64
  return
}

// -----

func.func @roundeven_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.roundeven"(%a) : (f32) -> f64
  return
}

// -----

func.func @rsqrt_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.rsqrt"(%a) : (f32) -> f64
  return
}

// -----

func.func @sin_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.sin"(%a) : (f32) -> f64
  return
}

// -----

func.func @sinh_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.sinh"(%a) : (f32) -> f64
  return
}

// -----

func.func @sqrt_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.sqrt"(%a) : (f32) -> f64
  return
}

// -----

func.func @tan_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.tan"(%a) : (f32) -> f64
  return
}

// -----

func.func @tanh_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.tanh"(%a) : (f32) -> f64
  return
}

// -----

func.func @trunc_C1(%a: f32) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "math.trunc"(%a) : (f32) -> f64
  return
}
