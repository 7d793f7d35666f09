// RUN: stablehlo-interp --split-input-file %s

// Ops of vhlo, of any revision, are those of StableHLO that they stand for.
module {
  vhlo.func_v1 @main() -> () {
    %0 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<[[1.0, -2.0, 3.0], [0.5, 0.25, 4.0]]> : tensor<2x3xf32>>}> : () -> !vhlo.tensor_v1<2x3x!vhlo.f32_v1>
    %1 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0.0> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %2 = "vhlo.reduce_v1"(%0, %1) <{dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>}> ({
    ^bb0(%arg0: !vhlo.tensor_v1<!vhlo.f32_v1>, %arg1: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %9 = "vhlo.add_v1"(%arg0, %arg1) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      "vhlo.return_v1"(%9) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<2x3x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1>
    check.expect_eq_const %2, dense<[2.0, 4.75]> : tensor<2xf32>
    %3 = "vhlo.compare_v1"(%2, %2) <{compare_type = #vhlo<comparison_type_v1 TOTALORDER>, comparison_direction = #vhlo<comparison_direction_v1 LE>}> : (!vhlo.tensor_v1<2x!vhlo.f32_v1>, !vhlo.tensor_v1<2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.bool_v1>
    check.expect_eq_const %3, dense<true> : tensor<2xi1>
    // An earlier revision, without batching dimensions.
    %4 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<[1, 0]> : tensor<2xi64>>}> : () -> !vhlo.tensor_v1<2x!vhlo.i64_v1>
    %5 = "vhlo.gather_v1"(%0, %4) <{collapsed_slice_dims = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, index_vector_dim = #vhlo.integer_v1<1 : i64>, indices_are_sorted = #vhlo.bool_v1<false>, offset_dims = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>, slice_sizes = #vhlo.tensor_v1<dense<[1, 3]> : tensor<2xi64>>, start_index_map = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> : (!vhlo.tensor_v1<2x3x!vhlo.f32_v1>, !vhlo.tensor_v1<2x!vhlo.i64_v1>) -> !vhlo.tensor_v1<2x3x!vhlo.f32_v1>
    check.expect_eq_const %5, dense<[[0.5, 0.25, 4.0], [1.0, -2.0, 3.0]]> : tensor<2x3xf32>
    %6 = "vhlo.call_v1"(%2) <{callee = #vhlo.string_v1<"twice">}> : (!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1>
    check.expect_eq_const %6, dense<[4.0, 9.5]> : tensor<2xf32>
    "vhlo.return_v1"() : () -> ()
  } {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1>>>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"[0]">}>]>, sym_name = #vhlo.string_v1<"twice">, sym_visibility = #vhlo.string_v1<"private">}> ({
  ^bb0(%arg0: !vhlo.tensor_v1<2x!vhlo.f32_v1>):
    %0 = "vhlo.add_v1"(%arg0, %arg0) : (!vhlo.tensor_v1<2x!vhlo.f32_v1>, !vhlo.tensor_v1<2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1>
    "vhlo.return_v1"(%0) : (!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> ()
  }) : () -> ()
}
