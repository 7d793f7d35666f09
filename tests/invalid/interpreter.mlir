func.func @print_types(%operand: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (operand) must be tensor, but is !stablehlo.token}}
  "interpreter.print"(%operand) : (!stablehlo.token) -> ()
  return
}

// -----

func.func @probe_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "interpreter.probe"(%operand) <{probe_id = "a"}> : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @probe_types(%operand: !stablehlo.token, %operand_1: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 (operand) must be tensor, but is !stablehlo.token}}
  %0 = "interpreter.probe"(%operand) <{probe_id = "a"}> : (!stablehlo.token) -> tensor<2xf32>
  // expected-error@+1 {{result #0 (result) must be tensor, but is !stablehlo.token}}
  %1 = "interpreter.probe"(%operand_1) <{probe_id = "a"}> : (tensor<2xf32>) -> !stablehlo.token
  // expected-error@+1 {{requires attribute 'probe_id'}}
  %2 = "interpreter.probe"(%operand_1) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{attribute 'probe_id' must be a string}}
  %3 = "interpreter.probe"(%operand_1) <{probe_id = 1 : i64}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g() -> tensor<2xf32>
func.func private @h(tensor<f32>) -> tensor<2xf32>

func.func @run_parallel_programs_none(%inputs0: tensor<f32>, %inputs1: tensor<f32>) {
  // expected-error@+1 {{(programs): size(programs) > 0 and size(programs[0]) > 0 and same(map(size, programs))}}
  %0:2 = "interpreter.run_parallel"(%inputs0, %inputs1) <{programs = [], infeed = [@g]}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g() -> tensor<2xf32>
func.func private @h(tensor<f32>) -> tensor<2xf32>

func.func @run_parallel_programs_no_partition(%inputs0: tensor<f32>, %inputs1: tensor<f32>) {
  // expected-error@+1 {{(programs): size(programs) > 0 and size(programs[0]) > 0 and same(map(size, programs))}}
  %0:2 = "interpreter.run_parallel"(%inputs0, %inputs1) <{programs = [[]], infeed = [@g]}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g() -> tensor<2xf32>
func.func private @h(tensor<f32>) -> tensor<2xf32>

func.func @run_parallel_programs_uneven(%inputs0: tensor<f32>, %inputs1: tensor<f32>) {
  // expected-error@+1 {{(programs): size(programs) > 0 and size(programs[0]) > 0 and same(map(size, programs))}}
  %0:2 = "interpreter.run_parallel"(%inputs0, %inputs1) <{programs = [[@f], [@f, @f]], infeed = [@g]}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g() -> tensor<2xf32>
func.func private @h(tensor<f32>) -> tensor<2xf32>

func.func @run_parallel_symbols_unknown(%inputs0: tensor<f32>, %inputs1: tensor<f32>) {
  // expected-error@+1 {{(symbols): is_function(symbol(name))}}
  %0:2 = "interpreter.run_parallel"(%inputs0, %inputs1) <{programs = [[@f], [@k]], infeed = [@g]}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g() -> tensor<2xf32>
func.func private @h(tensor<f32>) -> tensor<2xf32>

func.func @run_parallel_symbols_unknown_infeed(%inputs0: tensor<f32>, %inputs1: tensor<f32>) {
  // expected-error@+1 {{(symbols): is_function(symbol(name))}}
  %0:2 = "interpreter.run_parallel"(%inputs0, %inputs1) <{programs = [[@f], [@f]], infeed = [@k]}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g() -> tensor<2xf32>
func.func private @h(tensor<f32>) -> tensor<2xf32>

func.func @run_parallel_inputs_size(%inputs: tensor<f32>) {
  // expected-error@+1 {{(inputs): all_compatible(inputs, [t for f in functions for t in f.inputs])}}
  %0:2 = "interpreter.run_parallel"(%inputs) <{programs = [[@f], [@f]], infeed = [@g]}> : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g() -> tensor<2xf32>
func.func private @h(tensor<f32>) -> tensor<2xf32>

func.func @run_parallel_inputs_type(%inputs0: tensor<f32>, %inputs1: tensor<f64>) {
  // expected-error@+1 {{(inputs): all_compatible(inputs, [t for f in functions for t in f.inputs])}}
  %0:2 = "interpreter.run_parallel"(%inputs0, %inputs1) <{programs = [[@f], [@f]], infeed = [@g]}> : (tensor<f32>, tensor<f64>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g() -> tensor<2xf32>
func.func private @h(tensor<f32>) -> tensor<2xf32>

func.func @run_parallel_results_size(%inputs0: tensor<f32>, %inputs1: tensor<f32>) {
  // expected-error@+1 {{(results): all_compatible(results, [t for f in functions for t in f.outputs])}}
  %0 = "interpreter.run_parallel"(%inputs0, %inputs1) <{programs = [[@f], [@f]], infeed = [@g]}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g() -> tensor<2xf32>
func.func private @h(tensor<f32>) -> tensor<2xf32>

func.func @run_parallel_results_type(%inputs0: tensor<f32>, %inputs1: tensor<f32>) {
  // expected-error@+1 {{(results): all_compatible(results, [t for f in functions for t in f.outputs])}}
  %0:2 = "interpreter.run_parallel"(%inputs0, %inputs1) <{programs = [[@f], [@f]], infeed = [@g]}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f64>)
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g() -> tensor<2xf32>
func.func private @h(tensor<f32>) -> tensor<2xf32>

func.func @run_parallel_infeed_none(%inputs0: tensor<f32>, %inputs1: tensor<f32>) {
  // expected-error@+1 {{(infeed): infeed != () and all(not f.inputs and is_tensor(*f.outputs) for f in reads)}}
  %0:2 = "interpreter.run_parallel"(%inputs0, %inputs1) <{programs = [[@f], [@f]], infeed = []}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g() -> tensor<2xf32>
func.func private @h(tensor<f32>) -> tensor<2xf32>

func.func @run_parallel_infeed_with_inputs(%inputs0: tensor<f32>, %inputs1: tensor<f32>) {
  // expected-error@+1 {{(infeed): infeed != () and all(not f.inputs and is_tensor(*f.outputs) for f in reads)}}
  %0:2 = "interpreter.run_parallel"(%inputs0, %inputs1) <{programs = [[@f], [@f]], infeed = [@h]}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g() -> tensor<2xf32>
func.func private @h(tensor<f32>) -> tensor<2xf32>

func.func @run_parallel_types(%inputs0: tensor<f32>, %inputs1: tensor<f32>) {
  // expected-error@+1 {{attribute 'infeed' must be a list of symbol reference}}
  %0:2 = "interpreter.run_parallel"(%inputs0, %inputs1) <{programs = [[@f], [@f]], infeed = "wrong"}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  // expected-error@+1 {{requires attribute 'programs'}}
  %1:2 = "interpreter.run_parallel"(%inputs0, %inputs1) <{infeed = [@g]}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  // expected-error@+1 {{attribute 'programs' must be a list of list of symbol reference}}
  %2:2 = "interpreter.run_parallel"(%inputs0, %inputs1) <{programs = "wrong", infeed = [@g]}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}
