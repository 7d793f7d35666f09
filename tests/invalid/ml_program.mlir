func.func @global_C1() {
  // expected-error@+1 {{(C1): is_mutable or value is not None}}
  "ml_program.global"() <{sym_name = "g", type = tensor<2xf32>}> : () -> ()
  return
}

// -----

func.func @global_C2() {
  // expected-error@+1 {{(C2): value is None or isinstance(value, OpaqueAttribute) or type_of(value) == type}}
  "ml_program.global"() <{sym_name = "g", type = tensor<3xf32>, value = dense<0.0> : tensor<2xf32>}> : () -> ()
  return
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @fixed(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
func.func private @f()

func.func @global_load_C1() {
  // expected-error@+1 {{(C1): variable_type(symbol, variable) is not None}}
  %0 = "ml_program.global_load"() <{global = @h}> : () -> tensor<2xf32>
  return
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @fixed(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
func.func private @f()

func.func @global_load_C1_function() {
  // expected-error@+1 {{(C1): variable_type(symbol, variable) is not None}}
  %0 = "ml_program.global_load"() <{global = @f}> : () -> tensor<2xf32>
  return
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @fixed(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
func.func private @f()

func.func @global_load_C2() {
  // expected-error@+1 {{(C2): compatible(variable_type(symbol, variable), result)}}
  %0 = "ml_program.global_load"() <{global = @g}> : () -> tensor<3xf32>
  return
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @fixed(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
func.func private @f()

func.func @global_load_const_C1() {
  // expected-error@+1 {{(C1): variable_type(symbol, variable) is not None}}
  %0 = "ml_program.global_load_const"() <{global = @h}> : () -> tensor<2xf32>
  return
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @fixed(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
func.func private @f()

func.func @global_load_const_C1_function() {
  // expected-error@+1 {{(C1): variable_type(symbol, variable) is not None}}
  %0 = "ml_program.global_load_const"() <{global = @f}> : () -> tensor<2xf32>
  return
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @fixed(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
func.func private @f()

func.func @global_load_const_C2() {
  // expected-error@+1 {{(C2): compatible(variable_type(symbol, variable), result)}}
  %0 = "ml_program.global_load_const"() <{global = @g}> : () -> tensor<3xf32>
  return
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @fixed(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
func.func private @f()

func.func @global_store_C1(%value: tensor<2xf32>) {
  // expected-error@+1 {{(C1): variable_type(symbol, variable) is not None}}
  "ml_program.global_store"(%value) <{global = @h}> : (tensor<2xf32>) -> ()
  return
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @fixed(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
func.func private @f()

func.func @global_store_C2(%value: tensor<2xf32>) {
  // expected-error@+1 {{(C2): is_mutable(symbol, variable)}}
  "ml_program.global_store"(%value) <{global = @fixed}> : (tensor<2xf32>) -> ()
  return
}

// -----

ml_program.global private mutable @g(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @fixed(dense<0.0> : tensor<2xf32>) : tensor<2xf32>
func.func private @f()

func.func @global_store_C3(%value: tensor<3xf32>) {
  // expected-error@+1 {{(C3): compatible(variable_type(symbol, variable), value)}}
  "ml_program.global_store"(%value) <{global = @g}> : (tensor<3xf32>) -> ()
  return
}
