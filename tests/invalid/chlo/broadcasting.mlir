func.func @broadcast_add_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_add"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_add"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_add"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_add"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_add"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_add"(%lhs, %rhs) <{broadcast_dimensions = array<i64: -1>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x3x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_add"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 1, 1>}> : (tensor<1x3x3xf32>, tensor<3x3xf32>) -> tensor<1x3x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_add"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_add_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_add"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @broadcast_add_types(%lhs: !stablehlo.token, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_add"(%lhs, %rhs) : (!stablehlo.token, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_add"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, !stablehlo.token) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "chlo.broadcast_add"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_add"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_and_C1(%lhs: tensor<2x3xi32>, %rhs: tensor<3xi64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_and"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xi64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<3xi32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_and"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<3xi32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_and"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<1x2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_and"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xi32>, tensor<2x3xi32>) -> tensor<1x2x3xi32>
  return
}

// -----

func.func @broadcast_and_C5(%lhs: tensor<2x3xi32>, %rhs: tensor<3xi32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_and"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<3x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<4xi32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_and"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_and_types(%lhs: tensor<2x3xf32>, %rhs: tensor<3xi32>, %lhs_1: tensor<2x3xi32>, %rhs_1: tensor<3xf32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of boolean or integer type, but is tensor<2x3xf32>}}
  %0 = "chlo.broadcast_and"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<2x3xi32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of boolean or integer type, but is tensor<3xf32>}}
  %1 = "chlo.broadcast_and"(%lhs_1, %rhs_1) : (tensor<2x3xi32>, tensor<3xf32>) -> tensor<2x3xi32>
  // expected-error@+1 {{result #0 (result) must be tensor of boolean or integer type, but is tensor<2x3xf32>}}
  %2 = "chlo.broadcast_and"(%lhs_1, %rhs) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xf32>
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_and"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_atan2_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_atan2"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_atan2"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_atan2"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_atan2"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @broadcast_atan2_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_atan2"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_atan2"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_atan2_types(%lhs: !stablehlo.token, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_atan2"(%lhs, %rhs) : (!stablehlo.token, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_atan2"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, !stablehlo.token) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "chlo.broadcast_atan2"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_atan2"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_compare_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xi1>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>, broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>, broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>, broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xi1>
  return
}

// -----

func.func @broadcast_compare_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xi1>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xi1>
  return
}

// -----

func.func @broadcast_compare_C6(%lhs: tensor<2x3xcomplex<f32>>, %rhs: tensor<3xcomplex<f32>>) {
  // expected-error@+1 {{(C6): compare_type != comparison.ComparisonType.TOTALORDER or not is_complex(lhs)}}
  %0 = "chlo.broadcast_compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<2x3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<2x3xi1>
  return
}

// -----

func.func @broadcast_compare_types(%lhs: !stablehlo.token, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_compare"(%lhs, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (!stablehlo.token, tensor<3xf32>) -> tensor<2x3xi1>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_compare"(%lhs_1, %rhs_1) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x3xf32>, !stablehlo.token) -> tensor<2x3xi1>
  // expected-error@+1 {{result #0 (result) must be tensor of boolean type, but is tensor<2x3xi32>}}
  %2 = "chlo.broadcast_compare"(%lhs_1, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi32>
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_compare"(%lhs_1, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>, broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // expected-error@+1 {{requires attribute 'comparison_direction'}}
  %4 = "chlo.broadcast_compare"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // expected-error@+1 {{attribute 'comparison_direction' must be a comparison_direction: one of EQ, NE, GE, GT, LE, LT}}
  %5 = "chlo.broadcast_compare"(%lhs_1, %rhs) <{comparison_direction = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // expected-error@+1 {{attribute 'compare_type' must be a comparison_type: one of FLOAT, TOTALORDER, SIGNED, UNSIGNED, NOTYPE}}
  %6 = "chlo.broadcast_compare"(%lhs_1, %rhs) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  return
}

// -----

func.func @broadcast_complex_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_complex"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xcomplex<f32>>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_complex"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xcomplex<f32>>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_complex"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xcomplex<f32>>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_complex"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xcomplex<f32>>
  return
}

// -----

func.func @broadcast_complex_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_complex"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xcomplex<f32>>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_complex"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xcomplex<f32>>
  return
}

// -----

func.func @broadcast_complex_types(%lhs: tensor<2x3xi32>, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: tensor<3xi32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of floating-point type, but is tensor<2x3xi32>}}
  %0 = "chlo.broadcast_complex"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xf32>) -> tensor<2x3xcomplex<f32>>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of floating-point type, but is tensor<3xi32>}}
  %1 = "chlo.broadcast_complex"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<2x3xcomplex<f32>>
  // expected-error@+1 {{result #0 (result) must be tensor of complex type, but is tensor<2x3xi32>}}
  %2 = "chlo.broadcast_complex"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi32>
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_complex"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xcomplex<f32>>
  return
}

// -----

func.func @broadcast_divide_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_divide"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_divide"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_divide"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_divide"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @broadcast_divide_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_divide"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_divide"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_divide_types(%lhs: !stablehlo.token, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_divide"(%lhs, %rhs) : (!stablehlo.token, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_divide"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, !stablehlo.token) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "chlo.broadcast_divide"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_divide"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_maximum_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_maximum"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_maximum"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_maximum"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_maximum"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @broadcast_maximum_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_maximum"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_maximum"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_maximum_types(%lhs: !stablehlo.token, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_maximum"(%lhs, %rhs) : (!stablehlo.token, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_maximum"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, !stablehlo.token) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "chlo.broadcast_maximum"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_maximum"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_minimum_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_minimum"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_minimum"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_minimum"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_minimum"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @broadcast_minimum_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_minimum"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_minimum"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_minimum_types(%lhs: !stablehlo.token, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_minimum"(%lhs, %rhs) : (!stablehlo.token, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_minimum"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, !stablehlo.token) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "chlo.broadcast_minimum"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_minimum"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_multiply_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_multiply"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_multiply"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_multiply"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_multiply"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @broadcast_multiply_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_multiply"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_multiply"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_multiply_types(%lhs: !stablehlo.token, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_multiply"(%lhs, %rhs) : (!stablehlo.token, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_multiply"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, !stablehlo.token) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "chlo.broadcast_multiply"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_multiply"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_next_after_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_next_after"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_next_after"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_next_after"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_next_after"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @broadcast_next_after_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_next_after"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_next_after"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_next_after_types(%lhs: tensor<2x3xi32>, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: tensor<3xi32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of floating-point type, but is tensor<2x3xi32>}}
  %0 = "chlo.broadcast_next_after"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of floating-point type, but is tensor<3xi32>}}
  %1 = "chlo.broadcast_next_after"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2x3xi32>}}
  %2 = "chlo.broadcast_next_after"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi32>
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_next_after"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_or_C1(%lhs: tensor<2x3xi32>, %rhs: tensor<3xi64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_or"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xi64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<3xi32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_or"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<3xi32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_or"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<1x2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_or"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xi32>, tensor<2x3xi32>) -> tensor<1x2x3xi32>
  return
}

// -----

func.func @broadcast_or_C5(%lhs: tensor<2x3xi32>, %rhs: tensor<3xi32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_or"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<3x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<4xi32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_or"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_or_types(%lhs: tensor<2x3xf32>, %rhs: tensor<3xi32>, %lhs_1: tensor<2x3xi32>, %rhs_1: tensor<3xf32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of boolean or integer type, but is tensor<2x3xf32>}}
  %0 = "chlo.broadcast_or"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<2x3xi32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of boolean or integer type, but is tensor<3xf32>}}
  %1 = "chlo.broadcast_or"(%lhs_1, %rhs_1) : (tensor<2x3xi32>, tensor<3xf32>) -> tensor<2x3xi32>
  // expected-error@+1 {{result #0 (result) must be tensor of boolean or integer type, but is tensor<2x3xf32>}}
  %2 = "chlo.broadcast_or"(%lhs_1, %rhs) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xf32>
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_or"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_polygamma_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_polygamma"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_polygamma"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_polygamma"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_polygamma"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @broadcast_polygamma_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_polygamma"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_polygamma"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_polygamma_types(%lhs: tensor<2x3xi32>, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: tensor<3xi32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of floating-point type, but is tensor<2x3xi32>}}
  %0 = "chlo.broadcast_polygamma"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of floating-point type, but is tensor<3xi32>}}
  %1 = "chlo.broadcast_polygamma"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2x3xi32>}}
  %2 = "chlo.broadcast_polygamma"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi32>
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_polygamma"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_power_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_power"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_power"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_power"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_power"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @broadcast_power_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_power"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_power"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_power_types(%lhs: !stablehlo.token, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_power"(%lhs, %rhs) : (!stablehlo.token, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_power"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, !stablehlo.token) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "chlo.broadcast_power"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_power"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_remainder_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_remainder"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_remainder"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_remainder"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_remainder"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @broadcast_remainder_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_remainder"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_remainder"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_remainder_types(%lhs: !stablehlo.token, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_remainder"(%lhs, %rhs) : (!stablehlo.token, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_remainder"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, !stablehlo.token) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "chlo.broadcast_remainder"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_remainder"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_shift_left_C1(%lhs: tensor<2x3xi32>, %rhs: tensor<3xi64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_shift_left"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xi64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<3xi32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_shift_left"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<3xi32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_shift_left"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<1x2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_shift_left"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xi32>, tensor<2x3xi32>) -> tensor<1x2x3xi32>
  return
}

// -----

func.func @broadcast_shift_left_C5(%lhs: tensor<2x3xi32>, %rhs: tensor<3xi32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_shift_left"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<3x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<4xi32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_shift_left"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_shift_left_types(%lhs: !stablehlo.token, %rhs: tensor<3xi32>, %lhs_1: tensor<2x3xi32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_shift_left"(%lhs, %rhs) : (!stablehlo.token, tensor<3xi32>) -> tensor<2x3xi32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_shift_left"(%lhs_1, %rhs_1) : (tensor<2x3xi32>, !stablehlo.token) -> tensor<2x3xi32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "chlo.broadcast_shift_left"(%lhs_1, %rhs) : (tensor<2x3xi32>, tensor<3xi32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_shift_left"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_shift_right_arithmetic_C1(%lhs: tensor<2x3xi32>, %rhs: tensor<3xi64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_shift_right_arithmetic"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xi64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<3xi32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_shift_right_arithmetic"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<3xi32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_shift_right_arithmetic"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<1x2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_shift_right_arithmetic"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xi32>, tensor<2x3xi32>) -> tensor<1x2x3xi32>
  return
}

// -----

func.func @broadcast_shift_right_arithmetic_C5(%lhs: tensor<2x3xi32>, %rhs: tensor<3xi32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_shift_right_arithmetic"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<3x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<4xi32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_shift_right_arithmetic"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_shift_right_arithmetic_types(%lhs: !stablehlo.token, %rhs: tensor<3xi32>, %lhs_1: tensor<2x3xi32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_shift_right_arithmetic"(%lhs, %rhs) : (!stablehlo.token, tensor<3xi32>) -> tensor<2x3xi32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_shift_right_arithmetic"(%lhs_1, %rhs_1) : (tensor<2x3xi32>, !stablehlo.token) -> tensor<2x3xi32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "chlo.broadcast_shift_right_arithmetic"(%lhs_1, %rhs) : (tensor<2x3xi32>, tensor<3xi32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_shift_right_arithmetic"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_shift_right_logical_C1(%lhs: tensor<2x3xi32>, %rhs: tensor<3xi64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_shift_right_logical"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xi64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<3xi32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_shift_right_logical"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<3xi32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_shift_right_logical"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<1x2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_shift_right_logical"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xi32>, tensor<2x3xi32>) -> tensor<1x2x3xi32>
  return
}

// -----

func.func @broadcast_shift_right_logical_C5(%lhs: tensor<2x3xi32>, %rhs: tensor<3xi32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_shift_right_logical"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<3x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<4xi32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_shift_right_logical"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_shift_right_logical_types(%lhs: !stablehlo.token, %rhs: tensor<3xi32>, %lhs_1: tensor<2x3xi32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_shift_right_logical"(%lhs, %rhs) : (!stablehlo.token, tensor<3xi32>) -> tensor<2x3xi32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_shift_right_logical"(%lhs_1, %rhs_1) : (tensor<2x3xi32>, !stablehlo.token) -> tensor<2x3xi32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "chlo.broadcast_shift_right_logical"(%lhs_1, %rhs) : (tensor<2x3xi32>, tensor<3xi32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_shift_right_logical"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_subtract_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_subtract"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_subtract"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_subtract"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_subtract"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @broadcast_subtract_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_subtract"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_subtract"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_subtract_types(%lhs: !stablehlo.token, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: !stablehlo.token) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %0 = "chlo.broadcast_subtract"(%lhs, %rhs) : (!stablehlo.token, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor or quantized tensor, but is !stablehlo.token}}
  %1 = "chlo.broadcast_subtract"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, !stablehlo.token) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor or quantized tensor, but is !stablehlo.token}}
  %2 = "chlo.broadcast_subtract"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> !stablehlo.token
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_subtract"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_xor_C1(%lhs: tensor<2x3xi32>, %rhs: tensor<3xi64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_xor"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xi64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<3xi32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_xor"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<3xi32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_xor"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<1x2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_xor"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xi32>, tensor<2x3xi32>) -> tensor<1x2x3xi32>
  return
}

// -----

func.func @broadcast_xor_C5(%lhs: tensor<2x3xi32>, %rhs: tensor<3xi32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_xor"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<3x3xi32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0> : tensor<2x3xi32>
  %rhs = stablehlo.constant dense<0> : tensor<4xi32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_xor"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_xor_types(%lhs: tensor<2x3xf32>, %rhs: tensor<3xi32>, %lhs_1: tensor<2x3xi32>, %rhs_1: tensor<3xf32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of boolean or integer type, but is tensor<2x3xf32>}}
  %0 = "chlo.broadcast_xor"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<2x3xi32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of boolean or integer type, but is tensor<3xf32>}}
  %1 = "chlo.broadcast_xor"(%lhs_1, %rhs_1) : (tensor<2x3xi32>, tensor<3xf32>) -> tensor<2x3xi32>
  // expected-error@+1 {{result #0 (result) must be tensor of boolean or integer type, but is tensor<2x3xf32>}}
  %2 = "chlo.broadcast_xor"(%lhs_1, %rhs) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xf32>
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_xor"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @broadcast_zeta_C1(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf64>) {
  // expected-error@+1 {{(C1): baseline_element_type(lhs) == baseline_element_type(rhs)}}
  %0 = "chlo.broadcast_zeta"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C2): size(broadcast_dimensions) == min(rank(lhs), rank(rhs))}}
  %0 = "chlo.broadcast_zeta"(%lhs, %rhs) <{broadcast_dimensions = array<i64>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<3xf32>
  // expected-error@+1 {{(C3): in_range(broadcast_dimensions, max(rank(lhs), rank(rhs)))}}
  %0 = "chlo.broadcast_zeta"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<1x2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C4): is_unique(broadcast_dimensions) and is_sorted(broadcast_dimensions)}}
  %0 = "chlo.broadcast_zeta"(%lhs, %rhs) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<1x2x3xf32>, tensor<2x3xf32>) -> tensor<1x2x3xf32>
  return
}

// -----

func.func @broadcast_zeta_C5(%lhs: tensor<2x3xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C5): compatible(result, infer())}}
  %0 = "chlo.broadcast_zeta"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @main() {
  %lhs = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %rhs = stablehlo.constant dense<0.0> : tensor<4xf32>
  // expected-error@+1 {{(C5): do_broadcast([lhs, rhs], broadcast_dimensions)}}
  %0 = "chlo.broadcast_zeta"(%lhs, %rhs) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_zeta_types(%lhs: tensor<2x3xi32>, %rhs: tensor<3xf32>, %lhs_1: tensor<2x3xf32>, %rhs_1: tensor<3xi32>) {
  // expected-error@+1 {{operand #0 (lhs) must be tensor of floating-point type, but is tensor<2x3xi32>}}
  %0 = "chlo.broadcast_zeta"(%lhs, %rhs) : (tensor<2x3xi32>, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (rhs) must be tensor of floating-point type, but is tensor<3xi32>}}
  %1 = "chlo.broadcast_zeta"(%lhs_1, %rhs_1) : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor of floating-point type, but is tensor<2x3xi32>}}
  %2 = "chlo.broadcast_zeta"(%lhs_1, %rhs) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi32>
  // expected-error@+1 {{attribute 'broadcast_dimensions' must be a list of 64-bit integers}}
  %3 = "chlo.broadcast_zeta"(%lhs_1, %rhs) <{broadcast_dimensions = "wrong"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_select_C1(%pred: tensor<2x1xi1>, %on_true: tensor<3xf64>, %on_false: tensor<2x3xf32>) {
  // expected-error@+1 {{(C1): element_type(on_true) == element_type(on_false)}}
  %0 = "chlo.broadcast_select"(%pred, %on_true, %on_false) : (tensor<2x1xi1>, tensor<3xf64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_select_C2(%pred: tensor<2x1xi1>, %on_true: tensor<3xf32>, %on_false: tensor<2x3xf32>) {
  // expected-error@+1 {{(C2): compatible(result, infer())}}
  %0 = "chlo.broadcast_select"(%pred, %on_true, %on_false) : (tensor<2x1xi1>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @main() {
  %pred = stablehlo.constant dense<false> : tensor<2x1xi1>
  %on_true = stablehlo.constant dense<0.0> : tensor<4xf32>
  %on_false = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  // expected-error@+1 {{(C2): do_broadcast([pred, on_true, on_false])}}
  %0 = "chlo.broadcast_select"(%pred, %on_true, %on_false) : (tensor<2x1xi1>, tensor<4xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_select_types(%pred: tensor<2x1xi32>, %on_true: tensor<3xf32>, %on_false: tensor<2x3xf32>, %pred_1: tensor<2x1xi1>, %on_true_1: tensor<3x!quant.uniform<i8:f32, 1.0>>, %on_false_1: tensor<2x3x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{operand #0 (pred) must be tensor of boolean type, but is tensor<2x1xi32>}}
  %0 = "chlo.broadcast_select"(%pred, %on_true, %on_false) : (tensor<2x1xi32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #1 (on_true) must be tensor, but is tensor<3x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %1 = "chlo.broadcast_select"(%pred_1, %on_true_1, %on_false) : (tensor<2x1xi1>, tensor<3x!quant.uniform<i8:f32, 1.0>>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{operand #2 (on_false) must be tensor, but is tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %2 = "chlo.broadcast_select"(%pred_1, %on_true, %on_false_1) : (tensor<2x1xi1>, tensor<3xf32>, tensor<2x3x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3xf32>
  // expected-error@+1 {{result #0 (result) must be tensor, but is tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>}}
  %3 = "chlo.broadcast_select"(%pred_1, %on_true, %on_false) : (tensor<2x1xi1>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 1.0>>
  return
}
