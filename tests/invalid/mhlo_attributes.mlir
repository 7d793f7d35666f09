// expected-error@+1 {{'func.func' op attribute 'mhlo.result_alias' of argument 0: expected a result_index, and no negative indices}}
func.func private @empty(%a: tensor<2xf32> {mhlo.result_alias = #mhlo.result_alias<result_index = []>}) -> tensor<2xf32>

// -----

// expected-error@+1 {{expected a result_index, and no negative indices}}
func.func private @negative(%a: tuple<tensor<2xf32>> {mhlo.result_alias = #mhlo.result_alias<tuple_indices = [-1], result_index = [0]>}) -> tensor<2xf32>

// -----

// expected-error@+1 {{expected indices of compatible types, got tensor<2xf32> and no type}}
func.func private @out_of_range(%a: tensor<2xf32> {mhlo.result_alias = #mhlo.result_alias<result_index = [1]>}) -> tensor<2xf32>

// -----

// expected-error@+1 {{expected indices of compatible types, got no type and tensor<2xf32>}}
func.func private @no_such_part(%a: tuple<i32, tensor<2xf32>> {mhlo.result_alias = #mhlo.result_alias<tuple_indices = [2], result_index = [0]>}) -> tensor<2xf32>

// -----

// expected-error@+1 {{expected indices of compatible types, got tensor<2xf32> and tensor<2xi32>}}
func.func private @other_type(%a: tensor<2xf32> {mhlo.result_alias = #mhlo.result_alias<result_index = [0, 1], must_alias>}) -> tuple<i32, tensor<2xi32>>

// -----

// expected-error@+1 {{attribute 'mhlo.result_alias' is one of arguments of functions}}
module attributes {mhlo.result_alias = #mhlo.result_alias<result_index = [2, 3]>} {
}

// -----

// expected-error@+1 {{attribute 'mhlo.parameter_replication' of argument 0: expected a list of 3 elements}}
func.func private @leaves(%a: tuple<i32, tuple<i32, f32>> {mhlo.parameter_replication = [true, false]})
