// cf

func.func @main() {
  %no = arith.constant false
  // expected-error@+1 {{assertion failed: n > 3}}
  cf.assert %no, "n > 3"
  return
}

// -----

// ml_program

ml_program.global private mutable @unset : tensor<i64>
func.func @main() {
  // expected-error@+1 {{@unset is loaded before a value is stored}}
  %0 = ml_program.global_load @unset : tensor<i64>
  return
}

// -----

// func: the depth of nested calls is limited.

func.func @main() {
  call @forever() : () -> ()
  return
}
func.func private @forever() {
  // expected-error@+1 {{nest}}
  call @forever() : () -> ()
  return
}

// -----

// interpreter, check: an iteration that a probe did not record.

func.func @main() {
  %x = stablehlo.constant dense<1> : tensor<i32>
  %0 = interpreter.probe %x, probe_id = "x" : tensor<i32>
  // expected-error@+1 {{x}}
  check.expect_serialized_eq %x, probe_id = "x", iter = 1 : tensor<i32>
  return
}

// -----

// check: all failed checks are reported, in the order of execution.

func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = stablehlo.constant dense<[1.0, 2.5]> : tensor<2xf32>
  // expected-error@+1 {{'check.expect_eq' failed}}
  check.expect_eq %x, %y : tensor<2xf32>
  // expected-error@+1 {{'check.expect_eq_const' failed}}
  check.expect_eq_const %x, dense<1.0> : tensor<2xf32>
  // expected-error@+1 {{'check.expect_almost_eq' failed}}
  check.expect_almost_eq %x, %y, tolerance = 4.9e-1 : tensor<2xf32>
  check.expect_almost_eq %x, %y, tolerance = 5.1e-1 : tensor<2xf32>
  // expected-error@+1 {{'check.expect_almost_eq_const' failed}}
  check.expect_almost_eq_const %x, dense<[1.0, 2.001]> : tensor<2xf32>
  // expected-error@+1 {{'check.expect_close' failed}}
  check.expect_close %x, %y, max_ulp_difference = 2097151 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %x, %y, max_ulp_difference = 2097152 : tensor<2xf32>, tensor<2xf32>
  // expected-error@+1 {{'check.expect_close' failed}}
  check.expect_close %x, %y, max_ulp_difference = 2097152, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

// NaN equals NaN with any sign and payload, and no other value.

func.func @main() {
  %x = stablehlo.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %y = stablehlo.constant dense<[0xFFC00001, 0x7FC00000]> : tensor<2xf32>
  // expected-error@+1 {{'check.expect_eq' failed}}
  check.expect_eq %x, %y : tensor<2xf32>
  // expected-error@+1 {{'check.expect_almost_eq' failed}}
  check.expect_almost_eq %x, %y, tolerance = 1.0e30 : tensor<2xf32>
  return
}

// -----

// stablehlo: operands checked at run time.

func.func @main() {
  %x = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi32>
  %start = stablehlo.constant dense<2> : tensor<1xi64>
  %limit = stablehlo.add %start, %start : tensor<1xi64>
  %stride = stablehlo.constant dense<1> : tensor<1xi64>
  // expected-error@+1 {{(C3)}}
  %0 = stablehlo.real_dynamic_slice %x, %start, %limit, %stride : (tensor<3xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %n = stablehlo.add %two, %two : tensor<i32>
  // expected-error@+1 {{(C2)}}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<3xi32>, tensor<i32>) -> tensor<?xi32, #stablehlo.bounds<3>>
  return
}

// -----

// sdy: a dynamic size that the mesh does not divide.

sdy.mesh @mesh = <["x"=2]>
func.func @main() {
  %x = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi32>
  %0 = tensor.cast %x : tensor<3xi32> to tensor<?xi32>
  // expected-error@+1 {{cannot split a tensor of shape [3] into [2] equal parts}}
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<?xi32>) {
    sdy.return %p : tensor<?xi32>
  } : (tensor<?xi32>) -> tensor<?xi32>
  return
}

// -----

// sdy: a deadlock between devices; the error shows the op that waits.

sdy.mesh @mesh = <["x"=2]>
func.func @main() {
  %x = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<1xi32>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %zero = stablehlo.constant dense<0> : tensor<ui32>
    %first = stablehlo.compare EQ, %id, %zero : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %1 = "stablehlo.if"(%first) ({
      // expected-error@+1 {{all_reduce}}
      %2 = "stablehlo.all_reduce"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %3 = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %3 : tensor<i32>
      }) : (tensor<1xi32>) -> tensor<1xi32>
      stablehlo.return %2 : tensor<1xi32>
    }, {
      stablehlo.return %p : tensor<1xi32>
    }) : (tensor<i1>) -> tensor<1xi32>
    sdy.return %1 : tensor<1xi32>
  } : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

// rng_bit_generator: a state that is accepted, but is not of type ui64.

func.func @main() {
  %s = stablehlo.constant dense<0.0> : tensor<2xf32>
  // expected-error@+1 {{cannot evaluate its initial_state: expected a 1-dimensional tensor of type ui64, got tensor<2xf32>}}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xui32>)
  return
}

// -----

// Six elements are more than the bound allows, and not a multiple of four.
func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  // expected-error@+1 {{'stablehlo.reshape' op: expected elements of a tensor<1x?xi32, #stablehlo.bounds<?, 5>>, got tensor<6xi32>}}
  %0 = stablehlo.reshape %x : (tensor<6xi32>) -> tensor<1x?xi32, #stablehlo.bounds<?, 5>>
  func.return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  // expected-error@+1 {{'stablehlo.reshape' op: expected elements of a tensor<4x?xi32, #stablehlo.bounds<?, 5>>, got tensor<6xi32>}}
  %0 = stablehlo.reshape %x : (tensor<6xi32>) -> tensor<4x?xi32, #stablehlo.bounds<?, 5>>
  func.return
}

// -----

func.func @main() {
  %i = arith.constant 0 : index
  // expected-error@+1 {{division by 0 in an affine map}}
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%i)[%i]
  return
}

// -----

memref.global @open : memref<3xi32> = uninitialized
func.func @main() {
  // expected-error@+1 {{the contents of @open are not in the program}}
  %0 = memref.get_global @open : memref<3xi32>
  return
}

// -----

func.func @main() {
  %zero = arith.constant 0 : index
  // expected-error@+1 {{the step of the loop is 0, not a positive number}}
  scf.for %i = %zero to %zero step %zero {
  }
  return
}

// -----

// chlo: ops whose types CHLO does not restrict as far as the op that they are lowered to.

func.func @main() {
  %x = stablehlo.constant dense<true> : tensor<i1>
  // expected-error@+1 {{'stablehlo.subtract', which the op is lowered to, takes a}}
  %0 = chlo.broadcast_subtract %x, %x : (tensor<i1>, tensor<i1>) -> tensor<i1>
  return
}
