// RUN: stablehlo-interp --split-input-file %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @annotations() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}, {?}]> : tensor<2x2xi32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}], replicated={"y"}> : tensor<2x2xi32>
  sdy.sharding_group %1 group_id=21 : tensor<2x2xi32>
  %2 = sdy.propagation_barrier %1 allowed_direction=NONE : tensor<2x2xi32>
  check.expect_eq_const %2, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %token = stablehlo.after_all : !stablehlo.token
  %3 = sdy.sharding_constraint %token <@mesh, []> : !stablehlo.token
  %4 = sdy.reshard %3 <@mesh, []> : !stablehlo.token
  func.return
}

// -----

// Each device multiplies a row of blocks with a column of them; the sum over "y" is the matrix product.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @product_in_parts() {
  %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = stablehlo.constant dense<[[10, 20, 30], [1, 2, 3]]> : tensor<2x3xi32>
  %0 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%p: tensor<1x1xi32>, %q: tensor<1x3xi32>) {
    %1 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<1x1xi32>, tensor<1x3xi32>) -> tensor<1x3xi32>
    %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %3 = stablehlo.add %x, %y : tensor<i32>
      stablehlo.return %3 : tensor<i32>
    }) : (tensor<1x3xi32>) -> tensor<1x3xi32>
    sdy.return %2 : tensor<1x3xi32>
  } : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[12, 24, 36], [34, 68, 102]]> : tensor<2x3xi32>
  func.return
}

// -----

// Devices in another order; one dimension is split over two axes, of which the first is major; each adds its number.
sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
func.func @order_of_devices() {
  %a = stablehlo.constant dense<[0, 10, 20, 30]> : tensor<4xi32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y", "x"}]>] out_shardings=[<@mesh, [{"y", "x"}]>] manual_axes={"x", "y"} (%p: tensor<1xi32>) {
    %1 = stablehlo.partition_id : tensor<ui32>
    %2 = stablehlo.convert %1 : (tensor<ui32>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.add %p, %3 : tensor<1xi32>
    sdy.return %4 : tensor<1xi32>
  } : (tensor<4xi32>) -> tensor<4xi32>
  // (y, x) = (0, 0), (0, 1), (1, 0), (1, 1) are the devices 0, 1, 2, 3
  check.expect_eq_const %0, dense<[0, 11, 22, 33]> : tensor<4xi32>
  func.return
}

// -----

// "y" is none of the manual axes: all devices along it have the whole.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @free_axes() {
  %a = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", ?}, {"y"}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%p: tensor<1x4xi32>) {
    %1 = "stablehlo.collective_permute"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, source_target_pairs = dense<[[0, 2], [2, 0], [1, 3], [3, 1]]> : tensor<4x2xi64>}> : (tensor<1x4xi32>) -> tensor<1x4xi32>
    sdy.return %1 : tensor<1x4xi32>
  } : (tensor<2x4xi32>) -> tensor<2x4xi32>
  check.expect_eq_const %0, dense<[[5, 6, 7, 8], [1, 2, 3, 4]]> : tensor<2x4xi32>
  func.return
}

// -----

// Several tensors, one of them whole everywhere, and results of other shapes; each device has its own row of the sum.
sdy.mesh @mesh = <["x"=3]>
func.func @parts_and_wholes() {
  %a = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %b = stablehlo.constant dense<[10, 100]> : tensor<2xi32>
  %0:2 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}, {"x"}]>] manual_axes={"x"} (%p: tensor<1x2xi32>, %q: tensor<2xi32>) {
    %1 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<1x2xi32>, tensor<2xi32>) -> tensor<1xi32>
    %2 = stablehlo.transpose %p, dims = [1, 0] : (tensor<1x2xi32>) -> tensor<2x1xi32>
    sdy.return %1, %2 : tensor<1xi32>, tensor<2x1xi32>
  } : (tensor<3x2xi32>, tensor<2xi32>) -> (tensor<3xi32>, tensor<2x3xi32>)
  check.expect_eq_const %0#0, dense<[210, 430, 650]> : tensor<3xi32>
  check.expect_eq_const %0#1, dense<[[1, 3, 5], [2, 4, 6]]> : tensor<2x3xi32>
  func.return
}

// -----

// Parts of nothing; and a mesh of one device, on which the body sees the whole.
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @one = <["x"=1]>
func.func @edges() {
  %a = stablehlo.constant dense<> : tensor<0x3xf32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%p: tensor<0x3xf32>) {
    sdy.return %p : tensor<0x3xf32>
  } : (tensor<0x3xf32>) -> tensor<0x3xf32>
  check.expect_eq_const %0, dense<> : tensor<0x3xf32>
  %b = stablehlo.constant dense<[1.5, 0x7FC00000]> : tensor<2xf32>
  %1 = sdy.manual_computation(%b) in_shardings=[<@one, [{"x"}]>] out_shardings=[<@one, [{"x"}]>] manual_axes={"x"} (%p: tensor<2xf32>) {
    %2 = stablehlo.negate %p : tensor<2xf32>
    sdy.return %2 : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %1, dense<[-1.5, 0x7FC00000]> : tensor<2xf32>
  func.return
}

// -----

// Parts of axes: of "x", whose eight places are (2, 2, 2), rows go by the first part, columns by the last; devices that
// differ in the middle have the same. Each adds its number, and of equal parts the last device's is the result.
sdy.mesh @mesh = <["x"=8]>
func.func @parts_of_axes() {
  %a = stablehlo.constant dense<[[0, 100], [200, 300]]> : tensor<2x2xui32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x":(1)2}, {"x":(4)2}]>] out_shardings=[<@mesh, [{"x":(1)2}, {"x":(4)2}]>] manual_axes={"x"} (%p: tensor<1x1xui32>) {
    %1 = stablehlo.partition_id : tensor<ui32>
    %2 = stablehlo.reshape %1 : (tensor<ui32>) -> tensor<1x1xui32>
    %3 = stablehlo.add %p, %2 : tensor<1x1xui32>
    sdy.return %3 : tensor<1x1xui32>
  } : (tensor<2x2xui32>) -> tensor<2x2xui32>
  check.expect_eq_const %0, dense<[[2, 103], [206, 307]]> : tensor<2x2xui32>
  func.return
}

// -----

// A mesh by its name and the same mesh inline; a sharding on the empty mesh splits nothing.
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <[]>
func.func @inline_mesh() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<10> : tensor<i32>
  %0 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}]>, <@other, []>] out_shardings=[<mesh<["x"=2]>, [{"x"}]>] manual_axes={"x"} (%p: tensor<1xi32>, %q: tensor<i32>) {
    %1 = stablehlo.broadcast_in_dim %q, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.add %p, %1 : tensor<1xi32>
    sdy.return %2 : tensor<1xi32>
  } : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[11, 12]> : tensor<2xi32>
  func.return
}

// -----

// Groups of an exchange along an axis of the mesh: the devices (0, 2) and (1, 3) swap rows within their column.
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @exchange_along_an_axis() {
  %a = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%p: tensor<2x1xi32>) {
    %1 = "stablehlo.all_to_all"(%p) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<2x1xi32>) -> tensor<2x1xi32>
    sdy.return %1 : tensor<2x1xi32>
  } : (tensor<4x2xi32>) -> tensor<4x2xi32>
  check.expect_eq_const %0, dense<[[1, 2], [5, 6], [3, 4], [7, 8]]> : tensor<4x2xi32>
  func.return
}

// -----

// Shardings of any kind say nothing about values: axes and parts of them, open dimensions, priorities, axes along which
// a tensor is replicated or unreduced, a mesh of one device. The rule of an op and its edges neither.
sdy.mesh @mesh = <["x"=4, "y"=2, "z"=2]>
sdy.mesh @one = <[], device_ids=[3]>
func.func @shardings() {
  %x = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2, ?}p1, {?}]>]>} dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = sdy.sharding_constraint %x <@mesh, [{"x":(2)2}, {"y"}], replicated={"x":(1)2}, unreduced={"z"}> : tensor<2x2xi32>
  %1 = sdy.sharding_constraint %0 <@one, []> : tensor<2x2xi32>
  %2 = sdy.propagation_barrier %1 allowed_direction=BACKWARD : tensor<2x2xi32>
  %3 = stablehlo.add %2, %2 {
    sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>,
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=2, j=2} blocked_propagation={j}, custom>,
    sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [operand-1, result-0]}]}, {step-2 = [{"y" = result-0 -> [operand-1]}]}]>
  } : tensor<2x2xi32>
  check.expect_eq_const %3, dense<[[2, 4], [6, 8]]> : tensor<2x2xi32>
  func.return
}

// -----

// A computation with a name is a call; its body knows nothing but its arguments.
sdy.mesh @mesh = <["x"=2]>
func.func @named_computations() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %y = stablehlo.constant dense<5> : tensor<i32>
  %0:2 = sdy.named_computation<"f, of two">(%x, %y) in_shardings=[<@mesh, [{"x"}]>, <@mesh, []>] out_shardings=[<@mesh, [{?}]>, <@mesh, []>] (%a: tensor<2xi32>, %b: tensor<i32>) {
    %1 = sdy.named_computation<"g">(%a) (%c: tensor<2xi32>) {
      %2 = stablehlo.add %c, %c : tensor<2xi32>
      sdy.return %2 : tensor<2xi32>
    } : (tensor<2xi32>) -> tensor<2xi32>
    sdy.return %1, %b : tensor<2xi32>, tensor<i32>
  } : (tensor<2xi32>, tensor<i32>) -> (tensor<2xi32>, tensor<i32>)
  sdy.named_computation<"nothing">() () {
    sdy.return
  } : () -> ()
  check.expect_eq_const %0#0, dense<[2, 4]> : tensor<2xi32>
  check.expect_eq_const %0#1, dense<5> : tensor<i32>
  func.return
}

// -----

// A computation with a name inside a manual one may communicate: the sum of the devices' numbers, 0 + 1.
sdy.mesh @mesh = <["x"=2]>
func.func @named_computation_communicates() {
  %a = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<1xi32>) {
    %1 = sdy.named_computation<"sum">(%p) (%q: tensor<1xi32>) {
      %2 = "stablehlo.all_reduce"(%q) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %3 = stablehlo.add %x, %y : tensor<i32>
        stablehlo.return %3 : tensor<i32>
      }) : (tensor<1xi32>) -> tensor<1xi32>
      sdy.return %2 : tensor<1xi32>
    } : (tensor<1xi32>) -> tensor<1xi32>
    sdy.return %1 : tensor<1xi32>
  } : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[30, 30]> : tensor<2xi32>
  func.return
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = stablehlo.add %x, %x : tensor<2xi32>
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}]> : tensor<2xi32>
  %y = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %2 = sdy.data_flow_edge %y : tensor<2xi32>
  %3 = call @callee(%1) {no_inline} : (tensor<2xi32>) -> tensor<2xi32>
  %4 = sdy.func_data_flow_edge %3 : tensor<2xi32>
  check.expect_eq_const %4, dense<[2, 4]> : tensor<2xi32>
  check.expect_eq_const %2, dense<[1, 2]> : tensor<2xi32>
  func.return
}
func.func private @callee(%arg0: tensor<2xi32>) -> tensor<2xi32> {
  %0 = sdy.func_data_flow_edge %arg0 : tensor<2xi32>
  func.return %0 : tensor<2xi32>
}
