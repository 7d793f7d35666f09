func.func private @f(tensor<f32>) -> tensor<f32>
func.func @constant_C1() {
  // expected-error@+1 {{(C1): type_of_function(symbol(value)) == result}}
  %0 = "func.constant"() <{value = @f}> : () -> (() -> ())
  return
}

// -----

func.func @constant_C1_unknown() {
  // expected-error@+1 {{(C1): type_of_function(symbol(value)) == result}}
  %0 = "func.constant"() <{value = @f}> : () -> (() -> ())
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func @call_indirect_C1(%x: tensor<f64>) {
  %0 = func.constant @f : (tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{(C1): callee == FunctionType(tuple(callee_operands), tuple(results))}}
  %1 = "func.call_indirect"(%0, %x) : ((tensor<f32>) -> tensor<f32>, tensor<f64>) -> tensor<f32>
  return
}
