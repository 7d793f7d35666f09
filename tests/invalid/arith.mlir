func.func @addf_C1(%lhs: tensor<2xf32>, %rhs: f32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.addf"(%lhs, %rhs) : (tensor<2xf32>, f32) -> tensor<2xf32>
  return
}

// -----

func.func @addi_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.addi"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @andi_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.andi"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @ceildivsi_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.ceildivsi"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @ceildivui_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.ceildivui"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @divf_C1(%lhs: tensor<2xf32>, %rhs: f32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.divf"(%lhs, %rhs) : (tensor<2xf32>, f32) -> tensor<2xf32>
  return
}

// -----

func.func @divsi_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.divsi"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @divui_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.divui"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @floordivsi_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.floordivsi"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @maximumf_C1(%lhs: tensor<2xf32>, %rhs: f32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.maximumf"(%lhs, %rhs) : (tensor<2xf32>, f32) -> tensor<2xf32>
  return
}

// -----

func.func @maxnumf_C1(%lhs: tensor<2xf32>, %rhs: f32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.maxnumf"(%lhs, %rhs) : (tensor<2xf32>, f32) -> tensor<2xf32>
  return
}

// -----

func.func @maxsi_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.maxsi"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @maxui_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.maxui"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @minimumf_C1(%lhs: tensor<2xf32>, %rhs: f32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.minimumf"(%lhs, %rhs) : (tensor<2xf32>, f32) -> tensor<2xf32>
  return
}

// -----

func.func @minnumf_C1(%lhs: tensor<2xf32>, %rhs: f32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.minnumf"(%lhs, %rhs) : (tensor<2xf32>, f32) -> tensor<2xf32>
  return
}

// -----

func.func @minsi_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.minsi"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @minui_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.minui"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @mulf_C1(%lhs: tensor<2xf32>, %rhs: f32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.mulf"(%lhs, %rhs) : (tensor<2xf32>, f32) -> tensor<2xf32>
  return
}

// -----

func.func @muli_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.muli"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @negf_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): operand == result}}
  %0 = "arith.negf"(%operand) : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @ori_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.ori"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @remf_C1(%lhs: tensor<2xf32>, %rhs: f32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.remf"(%lhs, %rhs) : (tensor<2xf32>, f32) -> tensor<2xf32>
  return
}

// -----

func.func @remsi_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.remsi"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @remui_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.remui"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @shli_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.shli"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @shrsi_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.shrsi"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @shrui_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.shrui"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @subf_C1(%lhs: tensor<2xf32>, %rhs: f32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.subf"(%lhs, %rhs) : (tensor<2xf32>, f32) -> tensor<2xf32>
  return
}

// -----

func.func @subi_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.subi"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @xori_C1(%lhs: tensor<2xi32>, %rhs: i32) {
  // expected-error@+1 {{(C1): lhs == rhs == result}}
  %0 = "arith.xori"(%lhs, %rhs) : (tensor<2xi32>, i32) -> tensor<2xi32>
  return
}

// -----

func.func @bitcast_C1(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.bitcast"(%operand) : (tensor<2xi32>) -> f32
  return
}

// -----

func.func @bitcast_C2(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.bitcast"(%operand) : (tensor<2xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @bitcast_C3(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C2): num_bits(element_type(operand)) == num_bits(element_type(result))}}
  %0 = "arith.bitcast"(%operand) : (tensor<2xi32>) -> tensor<2xf64>
  return
}

// -----

func.func @extf_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.extf"(%operand) : (tensor<2xf32>) -> f64
  return
}

// -----

func.func @extf_C2(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.extf"(%operand) : (tensor<2xf32>) -> tensor<3xf64>
  return
}

// -----

func.func @extf_C3(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C3): num_bits(element_type(operand)) < num_bits(element_type(result))}}
  %0 = "arith.extf"(%operand) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @extsi_C1(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.extsi"(%operand) : (tensor<2xi32>) -> i64
  return
}

// -----

func.func @extsi_C2(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.extsi"(%operand) : (tensor<2xi32>) -> tensor<3xi64>
  return
}

// -----

func.func @extsi_C3(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C3): num_bits(element_type(operand)) < num_bits(element_type(result))}}
  %0 = "arith.extsi"(%operand) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @extui_C1(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.extui"(%operand) : (tensor<2xi32>) -> i64
  return
}

// -----

func.func @extui_C2(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.extui"(%operand) : (tensor<2xi32>) -> tensor<3xi64>
  return
}

// -----

func.func @extui_C3(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C3): num_bits(element_type(operand)) < num_bits(element_type(result))}}
  %0 = "arith.extui"(%operand) : (tensor<2xi32>) -> tensor<2xi16>
  return
}

// -----

func.func @fptosi_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.fptosi"(%operand) : (tensor<2xf32>) -> i32
  return
}

// -----

func.func @fptosi_C2(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.fptosi"(%operand) : (tensor<2xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @fptoui_C1(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.fptoui"(%operand) : (tensor<2xf32>) -> i32
  return
}

// -----

func.func @fptoui_C2(%operand: tensor<2xf32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.fptoui"(%operand) : (tensor<2xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @index_cast_C1(%operand: tensor<2xindex>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.index_cast"(%operand) : (tensor<2xindex>) -> i32
  return
}

// -----

func.func @index_cast_C2(%operand: tensor<2xindex>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.index_cast"(%operand) : (tensor<2xindex>) -> tensor<3xi32>
  return
}

// -----

func.func @index_cast_C3(%operand: tensor<2xindex>) {
  // expected-error@+1 {{(C3): isinstance(element_type(operand), IndexType) != isinstance(element_type(result), IndexType)}}
  %0 = "arith.index_cast"(%operand) : (tensor<2xindex>) -> tensor<2xindex>
  return
}

// -----

func.func @index_castui_C1(%operand: tensor<2xindex>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.index_castui"(%operand) : (tensor<2xindex>) -> i32
  return
}

// -----

func.func @index_castui_C2(%operand: tensor<2xindex>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.index_castui"(%operand) : (tensor<2xindex>) -> tensor<3xi32>
  return
}

// -----

func.func @index_castui_C3(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C3): isinstance(element_type(operand), IndexType) != isinstance(element_type(result), IndexType)}}
  %0 = "arith.index_castui"(%operand) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @sitofp_C1(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.sitofp"(%operand) : (tensor<2xi32>) -> f32
  return
}

// -----

func.func @sitofp_C2(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.sitofp"(%operand) : (tensor<2xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @truncf_C1(%operand: tensor<2xf64>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.truncf"(%operand) : (tensor<2xf64>) -> f32
  return
}

// -----

func.func @truncf_C2(%operand: tensor<2xf64>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.truncf"(%operand) : (tensor<2xf64>) -> tensor<3xf32>
  return
}

// -----

func.func @truncf_C3(%operand: tensor<2xf64>) {
  // expected-error@+1 {{(C3): num_bits(element_type(operand)) > num_bits(element_type(result))}}
  %0 = "arith.truncf"(%operand) : (tensor<2xf64>) -> tensor<2xf64>
  return
}

// -----

func.func @trunci_C1(%operand: tensor<2xi64>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.trunci"(%operand) : (tensor<2xi64>) -> i32
  return
}

// -----

func.func @trunci_C2(%operand: tensor<2xi64>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.trunci"(%operand) : (tensor<2xi64>) -> tensor<3xi32>
  return
}

// -----

func.func @trunci_C3(%operand: tensor<2xi64>) {
  // expected-error@+1 {{(C3): num_bits(element_type(operand)) > num_bits(element_type(result))}}
  %0 = "arith.trunci"(%operand) : (tensor<2xi64>) -> tensor<2xi64>
  return
}

// -----

func.func @uitofp_C1(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.uitofp"(%operand) : (tensor<2xi32>) -> f32
  return
}

// -----

func.func @uitofp_C2(%operand: tensor<2xi32>) {
  // expected-error@+1 {{(C1): alike(operand, result)}}
  %0 = "arith.uitofp"(%operand) : (tensor<2xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @cmpf_C1(%lhs: tensor<2xf32>, %rhs: tensor<3xf32>) {
  // expected-error@+1 {{(C1): lhs == rhs}}
  %0 = "arith.cmpf"(%lhs, %rhs) <{predicate = 1 : i64}> : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xi1>
  return
}

// -----

func.func @cmpf_C2(%lhs: tensor<2xf32>, %rhs: tensor<2xf32>) {
  // expected-error@+1 {{(C2): result == boolean_of(lhs)}}
  %0 = "arith.cmpf"(%lhs, %rhs) <{predicate = 1 : i64}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @cmpf_C2_scalar(%lhs: tensor<2xf32>, %rhs: tensor<2xf32>) {
  // expected-error@+1 {{(C2): result == boolean_of(lhs)}}
  %0 = "arith.cmpf"(%lhs, %rhs) <{predicate = 1 : i64}> : (tensor<2xf32>, tensor<2xf32>) -> i1
  return
}

// -----

func.func @cmpi_C1(%lhs: tensor<2xi32>, %rhs: tensor<3xi32>) {
  // expected-error@+1 {{(C1): lhs == rhs}}
  %0 = "arith.cmpi"(%lhs, %rhs) <{predicate = 1 : i64}> : (tensor<2xi32>, tensor<3xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @cmpi_C2(%lhs: tensor<2xi32>, %rhs: tensor<2xi32>) {
  // expected-error@+1 {{(C2): result == boolean_of(lhs)}}
  %0 = "arith.cmpi"(%lhs, %rhs) <{predicate = 1 : i64}> : (tensor<2xi32>, tensor<2xi32>) -> tensor<3xi1>
  return
}

// -----

func.func @cmpi_C2_scalar(%lhs: tensor<2xi32>, %rhs: tensor<2xi32>) {
  // expected-error@+1 {{(C2): result == boolean_of(lhs)}}
  %0 = "arith.cmpi"(%lhs, %rhs) <{predicate = 1 : i64}> : (tensor<2xi32>, tensor<2xi32>) -> i1
  return
}

// -----

func.func @select_C1(%condition: tensor<2xi1>, %true_value: tensor<2xi32>, %false_value: tensor<3xi32>) {
  // expected-error@+1 {{(C1): true_value == false_value == result}}
  %0 = "arith.select"(%condition, %true_value, %false_value) : (tensor<2xi1>, tensor<2xi32>, tensor<3xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @select_C2(%condition: tensor<3xi1>, %true_value: tensor<2xi32>, %false_value: tensor<2xi32>) {
  // expected-error@+1 {{(C2): not is_tensor(condition) or shape(condition) == shape(result)}}
  %0 = "arith.select"(%condition, %true_value, %false_value) : (tensor<3xi1>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @constant_C1() {
  // expected-error@+1 {{(C1): type_of(value) == result}}
  %0 = "arith.constant"() <{value = 5 : i8}> : () -> i32
  return
}

// -----

func.func @constant_C2() {
  // expected-error@+1 {{(C2): -(2 ** (num_bits(result) - 1)) <= value.value < 2 ** num_bits(result)}}
  %0 = "arith.constant"() <{value = 256 : i8}> : () -> i8
  return
}

// -----

func.func @constant_C2_negative() {
  // expected-error@+1 {{(C2): -(2 ** (num_bits(result) - 1)) <= value.value < 2 ** num_bits(result)}}
  %0 = "arith.constant"() <{value = -129 : i8}> : () -> i8
  return
}

// -----

func.func @signed(%x: tensor<2xui32>) {
  // expected-error@+1 {{operand #0 (lhs) must be integer, index, or tensor of these, but is tensor<2xui32>}}
  %0 = "arith.addi"(%x, %x) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
  return
}
