// RUN: stablehlo-interp --split-input-file %s

// Functions are called before and after their definition, have any number of results, and call each other.
func.func private @swap(%a: tensor<i32>, %b: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
  return %b, %a : tensor<f32>, tensor<i32>
}
func.func @main() {
  %i = stablehlo.constant dense<1> : tensor<i32>
  %f = stablehlo.constant dense<2.0> : tensor<f32>
  call @nothing() : () -> ()
  %0:2 = call @swap(%i, %f) : (tensor<i32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<2.0> : tensor<f32>
  check.expect_eq_const %0#1, dense<1> : tensor<i32>
  %1:2 = func.call @swap_twice(%i, %f) : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  check.expect_eq_const %1#0, dense<1> : tensor<i32>
  check.expect_eq_const %1#1, dense<2.0> : tensor<f32>
  func.return
}
func.func private @nothing() {
  func.return
}
func.func private @swap_twice(%a: tensor<i32>, %b: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  %0:2 = call @swap(%a, %b) : (tensor<i32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)
  return %0#1, %0#0 : tensor<i32>, tensor<f32>
}

// -----

// A function may call itself: 5! is 120.
func.func @main() {
  %n = stablehlo.constant dense<5> : tensor<i64>
  %0 = call @factorial(%n) : (tensor<i64>) -> tensor<i64>
  check.expect_eq_const %0, dense<120> : tensor<i64>
  return
}
func.func private @factorial(%n: tensor<i64>) -> tensor<i64> {
  %one = stablehlo.constant dense<1> : tensor<i64>
  %p = stablehlo.compare LE, %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %one : tensor<i64>
  }, {
    %1 = stablehlo.subtract %n, %one : tensor<i64>
    %2 = func.call @factorial(%1) : (tensor<i64>) -> tensor<i64>
    %3 = stablehlo.multiply %n, %2 : tensor<i64>
    stablehlo.return %3 : tensor<i64>
  }) : (tensor<i1>) -> tensor<i64>
  return %0 : tensor<i64>
}

// -----

// Scalars, tuples and quantized tensors are passed unchanged; attributes and visibilities have no effect.
func.func @main() attributes {execution_thread = "main"} {
  %n = arith.constant 7 : index
  %0 = call @index(%n) : (index) -> index
  %1 = tensor.from_elements %0 : tensor<1xindex>
  %2 = arith.index_cast %1 : tensor<1xindex> to tensor<1xi32>
  check.expect_eq_const %2, dense<7> : tensor<1xi32>
  %f = stablehlo.constant dense<1.5> : tensor<f32>
  %q = stablehlo.uniform_quantize %f : (tensor<f32>) -> tensor<!quant.uniform<i8:f32, 0.5:1>>
  %t = stablehlo.tuple %q, %f : tuple<tensor<!quant.uniform<i8:f32, 0.5:1>>, tensor<f32>>
  %3 = call @first(%t) : (tuple<tensor<!quant.uniform<i8:f32, 0.5:1>>, tensor<f32>>) -> tensor<!quant.uniform<i8:f32, 0.5:1>>
  check.expect_eq_const %3, dense<4> : tensor<!quant.uniform<i8:f32, 0.5:1>>
  return
}
func.func nested @index(%n: index {jax.arg_info = "n"}) -> (index {jax.result_info = "n"}) {
  return %n : index
}
func.func public @first(%t: tuple<tensor<!quant.uniform<i8:f32, 0.5:1>>, tensor<f32>>) -> tensor<!quant.uniform<i8:f32, 0.5:1>> {
  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<!quant.uniform<i8:f32, 0.5:1>>, tensor<f32>>) -> tensor<!quant.uniform<i8:f32, 0.5:1>>
  return %0 : tensor<!quant.uniform<i8:f32, 0.5:1>>
}

// -----

// A function as a value, which an indirect call calls.
func.func private @subtract(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.subtract %a, %b : tensor<i32>
  return %0 : tensor<i32>
}
func.func @main() {
  %a = stablehlo.constant dense<7> : tensor<i32>
  %b = stablehlo.constant dense<4> : tensor<i32>
  %f = func.constant @subtract : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %0 = call_indirect %f(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %0, dense<3> : tensor<i32>
  return
}
