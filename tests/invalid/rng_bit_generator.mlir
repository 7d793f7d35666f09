func.func @C1(%initial_state: tensor<2xui64>) {
  // expected-error@+1 {{(C1): shape_of(initial_state) == shape_of(output_state)}}
  %0:2 = "stablehlo.rng_bit_generator"(%initial_state) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<3xui64>, tensor<2x2xi32>)
  return
}

// -----

func.func @C2_THREE_FRY(%initial_state: tensor<3xui64>) {
  // expected-error@+1 {{(C2): dim(initial_state, 0) == 2}}
  %0:2 = "stablehlo.rng_bit_generator"(%initial_state) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x2xi32>)
  return
}

// -----

func.func @C2_PHILOX(%initial_state: tensor<4xui64>) {
  // expected-error@+1 {{(C2): 2 <= dim(initial_state, 0) <= 3}}
  %0:2 = "stablehlo.rng_bit_generator"(%initial_state) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<4xui64>) -> (tensor<4xui64>, tensor<2x2xi32>)
  return
}

// -----

func.func @C2_DEFAULT(%initial_state: tensor<1xui64>) {
  // expected-error@+1 {{(C2): 2 <= dim(initial_state, 0) <= 3}}
  %0:2 = "stablehlo.rng_bit_generator"(%initial_state) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<1xui64>) -> (tensor<1xui64>, tensor<2x2xi32>)
  return
}

// -----

func.func @types(%initial_state: tensor<2xi32>, %initial_state_1: tensor<2xui64>, %initial_state_2: tensor<2xi1>) {
  // expected-error@+1 {{(C1): element_type(initial_state) == element_type(output_state)}}
  %0:2 = "stablehlo.rng_bit_generator"(%initial_state) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xi32>) -> (tensor<2xui64>, tensor<2x2xi32>)
  // expected-error@+1 {{(C1): element_type(initial_state) == element_type(output_state)}}
  %1:2 = "stablehlo.rng_bit_generator"(%initial_state_1) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xi32>, tensor<2x2xi32>)
  // expected-error@+1 {{result #1 (output) must be statically shaped tensor of integer or floating-point type, but is tensor<2x2xi1>}}
  %2:2 = "stablehlo.rng_bit_generator"(%initial_state_1) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xi1>)
  // expected-error@+1 {{operand #0 (initial_state) must be tensor of integer or floating-point type, but is tensor<2xi1>}}
  %5:2 = "stablehlo.rng_bit_generator"(%initial_state_2) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xi1>) -> (tensor<2xui64>, tensor<2x2xi32>)
  // expected-error@+1 {{result #0 (output_state) must be tensor of integer or floating-point type, but is tensor<2xi1>}}
  %6:2 = "stablehlo.rng_bit_generator"(%initial_state_1) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xi1>, tensor<2x2xi32>)
  // expected-error@+1 {{requires attribute 'rng_algorithm'}}
  %3:2 = "stablehlo.rng_bit_generator"(%initial_state_1) : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xi32>)
  // expected-error@+1 {{attribute 'rng_algorithm' must be a rng_algorithm: one of DEFAULT, THREE_FRY, PHILOX}}
  %4:2 = "stablehlo.rng_bit_generator"(%initial_state_1) <{rng_algorithm = "wrong"}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xi32>)
  return
}
