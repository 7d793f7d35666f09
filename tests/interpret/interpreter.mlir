// RUN: stablehlo-interp --split-input-file %s

// print changes nothing; what it prints is in a unit test.
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  interpreter.print %x : tensor<2xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  interpreter.print %q : tensor<2x!quant.uniform<i8:f32, 0.5>>
  %0 = stablehlo.slice %x [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  check.expect_eq_const %0, dense<1.0> : tensor<1xf32>
  return
}

// -----

// A probe returns its operand; the values under one id are in the order of the run, across functions.
func.func @main() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = interpreter.probe %x, probe_id = "x" : tensor<2xi32>
  check.expect_eq %0, %x : tensor<2xi32>
  %1 = call @doubled(%0) : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_serialized_eq %x, probe_id = "x", iter = 0 : tensor<2xi32>
  check.expect_serialized_eq %1, probe_id = "x", iter = 1 : tensor<2xi32>
  check.expect_eq_const %1, dense<[2, 4]> : tensor<2xi32>
  return
}
func.func private @doubled(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.add %x, %x : tensor<2xi32>
  %1 = interpreter.probe %0, probe_id = "x" : tensor<2xi32>
  return %1 : tensor<2xi32>
}

// -----

// Each process of the grid has its own function and inputs; results are in row-major order.
func.func @main() {
  %a = stablehlo.constant dense<1> : tensor<i32>
  %b = stablehlo.constant dense<10> : tensor<i32>
  %c = stablehlo.constant dense<100> : tensor<i32>
  %0:4 = "interpreter.run_parallel"(%a, %b, %c) {programs = [[@sum, @none], [@sum, @sum]]} : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<ui32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<11> : tensor<i32>
  check.expect_eq_const %0#1, dense<1> : tensor<ui32>
  check.expect_eq_const %0#2, dense<11> : tensor<i32>
  check.expect_eq_const %0#3, dense<100> : tensor<i32>
  return
}
// The sum over the replicas of a partition, where @none contributes 0.
func.func private @sum(%x: tensor<i32>) -> tensor<i32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %1 = stablehlo.add %p, %q : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
func.func private @none() -> tensor<ui32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = call @sum(%zero) : (tensor<i32>) -> tensor<i32>
  %1 = stablehlo.partition_id : tensor<ui32>
  return %1 : tensor<ui32>
}
