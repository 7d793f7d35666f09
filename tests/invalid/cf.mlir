func.func @cond_br_C1(%c: i1) {
  // expected-error@+1 {{(C1): size(operand_segment_sizes) == 3 and operand_segment_sizes[0] == 1}}
  "cf.cond_br"(%c)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 1, 0>}> : (i1) -> ()
^bb1:
  return
}

// -----

func.func @cond_br_C2(%c: i1) {
  // expected-error@+1 {{(C2): sum(operand_segment_sizes) == 1 + size(dest_operands)}}
  "cf.cond_br"(%c)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1) -> ()
^bb1:
  return
}

// -----

func.func @switch_C1(%x: i32) {
  // expected-error@+1 {{(C1): size(operand_segment_sizes) == 3 and operand_segment_sizes[0] == 1}}
  "cf.switch"(%x)[^bb1] <{case_operand_segments = array<i32>, operandSegmentSizes = array<i32: 0, 1, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @switch_C2(%x: i32) {
  // expected-error@+1 {{(C2): sum(operand_segment_sizes) == 1 + size(dest_operands)}}
  "cf.switch"(%x)[^bb1] <{case_operand_segments = array<i32>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @switch_C3(%x: i32) {
  // expected-error@+1 {{(C3): sum(case_operand_segments) == operand_segment_sizes[2]}}
  "cf.switch"(%x)[^bb1, ^bb1] <{case_operand_segments = array<i32: 1>, case_values = dense<1> : tensor<1xi32>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @switch_C4(%x: i32) {
  // expected-error@+1 {{(C4): size(case_operand_segments) == 0}}
  "cf.switch"(%x)[^bb1, ^bb1] <{case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @switch_C5(%x: i32) {
  // expected-error@+1 {{(C5): case_values.type == flag}}
  "cf.switch"(%x)[^bb1, ^bb1] <{case_operand_segments = array<i32: 0>, case_values = dense<1> : tensor<1xi64>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @switch_C6(%x: i32) {
  // expected-error@+1 {{(C6): size(case_values.values) == size(case_operand_segments)}}
  "cf.switch"(%x)[^bb1, ^bb1] <{case_operand_segments = array<i32: 0>, case_values = dense<1> : tensor<2xi32>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @condition(%c: i32) {
  // expected-error@+1 {{must be i1, but is i32}}
  "cf.cond_br"(%c)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  return
}

// -----

func.func @argument_types(%x: i32) {
  // expected-error@+1 {{'cf.br' op branches to ^bb1 with (i32), but its arguments are (i64)}}
  cf.br ^bb1(%x : i32)
^bb1(%y: i64):
  return
}

// -----

func.func @number_of_arguments(%c: i1, %x: i32) {
  // expected-error@+1 {{'cf.cond_br' op branches to ^bb2 with (), but its arguments are (i32)}}
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return
^bb2(%y: i32):
  return
}

// -----

func.func @number_of_successors(%x: i32) {
  // expected-error@+1 {{'cf.br' op expects 1 successors, got 2}}
  "cf.br"()[^bb1, ^bb1] : () -> ()
^bb1:
  return
}

// -----

func.func @entry() {
  cf.br ^bb1
^bb1:
  return
}
func.func @entry_with_predecessors() {
^bb0:
  // expected-error@+1 {{'cf.br' op branches to ^bb0, but the entry block of a region has no predecessors}}
  cf.br ^bb0
}

// -----

func.func @dominance(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %y = arith.addi %x, %x : i32
  cf.br ^bb2
^bb2:
  // expected-error@+1 {{'func.return' op operand #0 (%y) is used before its definition}}
  return %y : i32
}

// -----

func.func @dominance_of_loop(%c: i1, %x: i32) -> i32 {
  cf.br ^bb1
^bb1:
  // expected-error@+1 {{'arith.addi' op operand #1 (%z) is used before its definition}}
  %y = arith.addi %x, %z : i32
  %z = arith.addi %x, %x : i32
  cf.cond_br %c, ^bb1, ^bb2
^bb2:
  return %z : i32
}

// -----

func.func @results(%c: i1, %x: i32, %y: i64) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %x : i32
^bb2:
  // expected-error@+1 {{'func.return' op returns (i64), but the function's results are (i32)}}
  func.return %y : i64
}

// -----

func.func @no_terminator(%x: i32) {
  cf.br ^bb1
^bb1:
  // expected-error@+1 {{'arith.addi' op must be followed by a terminator such as 'func.return'}}
  %y = arith.addi %x, %x : i32
}

// -----

func.func @terminator_in_the_middle(%x: i32) {
  // expected-error@+1 {{'cf.br' op must be the last op of its block}}
  cf.br ^bb1
  %y = arith.addi %x, %x : i32
  cf.br ^bb1
^bb1:
  return
}

// -----

func.func @several_blocks(%i: tensor<i32>, %c: i1) {
  // expected-error@+1 {{'stablehlo.case' op expects regions with one block}}
  "stablehlo.case"(%i) ({
    cf.cond_br %c, ^bb1, ^bb1
  ^bb1:
    stablehlo.return
  }) : (tensor<i32>) -> ()
  return
}
