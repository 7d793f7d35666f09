// RUN: stablehlo-interp --split-input-file %s

// What one mesh computes goes to another; both see whole tensors.
!m1 = !mpmd.mesh_tensor<"m1", tensor<4xi32>>
!m1_sharded = !mpmd.mesh_tensor<"m1", tensor<4xi32>, sharding=<@mesh, [{"x"}]>, memory_kind = "device">
!m2 = !mpmd.mesh_tensor<"m2", tensor<4xi32>>
func.func @main() attributes {topology = #mpmd.topology<<"m1": <["x"=2, "y"=4]>>, <"m2": <["z"=3]>>>} {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %y = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %0 = mpmd.assign %x : (tensor<4xi32>) -> !m1
  %1 = mpmd.assign {origin = "here"} %y : (tensor<4xi32>) -> !m1
  %2:2 = mpmd.fragment<mesh="m1", origin=["f"(1), "g"], stage=1, in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>]> (%0, %1) (%a: tensor<4xi32>, %b: tensor<4xi32>) {
    %3 = stablehlo.add %a, %b : tensor<4xi32>
    mpmd.return %3, %a : tensor<4xi32>, tensor<4xi32>
  } : (!m1, !m1) -> (!m1_sharded, !m1)
  %4 = mpmd.transfer %2#0 : (!m1_sharded) -> !m2
  %5 = mpmd.fragment_call<mesh="m2", origin=[]> @twice(%4) : (!m2) -> !m2
  %6 = mpmd.unassign %5 : (!m2) -> tensor<4xi32>
  check.expect_eq_const %6, dense<[22, 44, 66, 88]> : tensor<4xi32>
  %7 = mpmd.unassign {origin = "there"} %2#1 : (!m1) -> tensor<4xi32>
  check.expect_eq_const %7, dense<[1, 2, 3, 4]> : tensor<4xi32>
  func.return
}
func.func private @twice(%x: tensor<4xi32>) -> tensor<4xi32> attributes {mesh_shape = #sdy.mesh<["z"=3]>} {
  %0 = stablehlo.add %x, %x : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = mpmd.named_computation<"f"(2)> (%x) (%a: tensor<2xi32>) {
    %1 = stablehlo.negate %a : tensor<2xi32>
    mpmd.return %1 : tensor<2xi32>
  } : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[-1, -2]> : tensor<2xi32>
  %2 = mpmd.named_tensor %0 name="negated" : tensor<2xi32>
  check.expect_eq_const %2, dense<[-1, -2]> : tensor<2xi32>
  %3 = mpmd.broadcast %2 : tensor<2xi32>
  check.expect_eq_const %3, dense<[-1, -2]> : tensor<2xi32>
  %4 = mpmd.call @minus_one(%3) {call_counter = 1 : ui32} : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %4, dense<[-2, -3]> : tensor<2xi32>
  func.return
}
func.func private @minus_one(%x: tensor<2xi32>) -> tensor<2xi32> {
  %c = stablehlo.constant dense<1> : tensor<2xi32>
  %0 = stablehlo.subtract %x, %c : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

func.func @reductions() {
  %x = stablehlo.constant dense<[1, 6]> : tensor<2xi32>
  %y = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %z = stablehlo.constant dense<[4, 5]> : tensor<2xi32>
  %0 = mpmd.reduce<none> %x : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[1, 6]> : tensor<2xi32>
  %1 = mpmd.reduce<add> %x, %y, %z : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %1, dense<[7, 14]> : tensor<2xi32>
  %2 = mpmd.reduce<max> %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %2, dense<[2, 6]> : tensor<2xi32>
  %3 = mpmd.reduce<min> %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %3, dense<[1, 3]> : tensor<2xi32>
  %4 = mpmd.reduce<mul> %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %4, dense<[2, 18]> : tensor<2xi32>
  %5 = mpmd.reduce<or> %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %5, dense<[3, 7]> : tensor<2xi32>
  %6 = mpmd.reduce<and> %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %6, dense<[0, 2]> : tensor<2xi32>
  // The first two come first: 2^24 + 1 is 2^24 in f32, -2^24 + 2^24 is 0.
  %a = stablehlo.constant dense<16777216.0> : tensor<f32>
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %c = stablehlo.constant dense<-16777216.0> : tensor<f32>
  %7 = mpmd.reduce<add> %a, %b, %c : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %7, dense<0.0> : tensor<f32>
  func.return
}

// -----

// Two values turn round, and one of them grows by 0, 1 and 2.
func.func @loop() {
  %x = stablehlo.constant dense<5> : tensor<i32>
  %y = stablehlo.constant dense<100> : tensor<i32>
  %0:2 = mpmd.for (%x, %y) {iterations = 3 : ui32, unroll_factor = 3 : ui32} (%a: tensor<i32>, %b: tensor<i32>, %index: tensor<ui32>) {
    %1 = stablehlo.convert %index : (tensor<ui32>) -> tensor<i32>
    %2 = stablehlo.add %a, %1 : tensor<i32>
    mpmd.return %b, %2 : tensor<i32>, tensor<i32>
  } : tensor<i32>, tensor<i32>
  // (5, 100), (100, 5), (5, 101), (101, 7)
  check.expect_eq_const %0#0, dense<101> : tensor<i32>
  check.expect_eq_const %0#1, dense<7> : tensor<i32>
  func.return
}

// -----

// A loop over what a mesh holds, whose index is on the mesh, too.
!m = !mpmd.mesh_tensor<"m", tensor<i32>>
func.func @loop_on_a_mesh() attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {
  %x = stablehlo.constant dense<1> : tensor<i32>
  %0 = mpmd.assign %x : (tensor<i32>) -> !m
  %1 = mpmd.for (%0) {iterations = 4 : ui32} (%a: !m, %index: !mpmd.mesh_tensor<"m", tensor<ui32>>) {
    %2 = mpmd.fragment<mesh="m", origin=[]> (%a) (%b: tensor<i32>) {
      %3 = stablehlo.add %b, %b : tensor<i32>
      mpmd.return %3 : tensor<i32>
    } : (!m) -> !m
    mpmd.return %2 : !m
  } : !m
  %4 = mpmd.unassign %1 : (!m) -> tensor<i32>
  check.expect_eq_const %4, dense<16> : tensor<i32>
  func.return
}
