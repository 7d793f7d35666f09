// RUN: stablehlo-interp --split-input-file %s

func.func @integers() {
  %a = arith.constant dense<[7, -7, 7, -7]> : tensor<4xi32>
  %b = arith.constant dense<[2, 2, -2, -2]> : tensor<4xi32>
  %0 = arith.addi %a, %b : tensor<4xi32>
  check.expect_eq_const %0, dense<[9, -5, 5, -9]> : tensor<4xi32>
  %1 = arith.subi %a, %b overflow<nsw, nuw> : tensor<4xi32>
  check.expect_eq_const %1, dense<[5, -9, 9, -5]> : tensor<4xi32>
  %2 = arith.muli %a, %b : tensor<4xi32>
  check.expect_eq_const %2, dense<[14, -14, -14, 14]> : tensor<4xi32>
  %3 = arith.divsi %a, %b : tensor<4xi32>
  check.expect_eq_const %3, dense<[3, -3, -3, 3]> : tensor<4xi32>
  %4 = arith.floordivsi %a, %b : tensor<4xi32>
  check.expect_eq_const %4, dense<[3, -4, -4, 3]> : tensor<4xi32>
  %5 = arith.ceildivsi %a, %b : tensor<4xi32>
  check.expect_eq_const %5, dense<[4, -3, -3, 4]> : tensor<4xi32>
  %6 = arith.remsi %a, %b : tensor<4xi32>
  check.expect_eq_const %6, dense<[1, -1, 1, -1]> : tensor<4xi32>
  %7 = arith.maxsi %a, %b : tensor<4xi32>
  check.expect_eq_const %7, dense<[7, 2, 7, -2]> : tensor<4xi32>
  %8 = arith.minsi %a, %b : tensor<4xi32>
  check.expect_eq_const %8, dense<[2, -7, -2, -7]> : tensor<4xi32>
  func.return
}

// -----

// -1 is the largest number in unsigned comparisons.
func.func @integers_without_sign() {
  %a = arith.constant dense<[-1, 5, 5]> : tensor<3xi8>
  %b = arith.constant dense<[16, -1, 2]> : tensor<3xi8>
  %0 = arith.divui %a, %b : tensor<3xi8>
  check.expect_eq_const %0, dense<[15, 0, 2]> : tensor<3xi8>
  %1 = arith.ceildivui %a, %b : tensor<3xi8>
  check.expect_eq_const %1, dense<[16, 1, 3]> : tensor<3xi8>
  %2 = arith.remui %a, %b : tensor<3xi8>
  check.expect_eq_const %2, dense<[15, 5, 1]> : tensor<3xi8>
  %3 = arith.maxui %a, %b : tensor<3xi8>
  check.expect_eq_const %3, dense<[-1, -1, 5]> : tensor<3xi8>
  %4 = arith.minui %a, %b : tensor<3xi8>
  check.expect_eq_const %4, dense<[16, 5, 2]> : tensor<3xi8>
  %5 = arith.cmpi ugt, %a, %b : tensor<3xi8>
  check.expect_eq_const %5, dense<[true, false, true]> : tensor<3xi1>
  %6 = arith.cmpi sgt, %a, %b : tensor<3xi8>
  check.expect_eq_const %6, dense<[false, true, true]> : tensor<3xi1>
  %7 = "arith.cmpi"(%a, %b) {predicate = 1 : i64} : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi1>
  check.expect_eq_const %7, dense<true> : tensor<3xi1>
  func.return
}

// -----

func.func @bits() {
  %a = arith.constant dense<[12, -128]> : tensor<2xi8>
  %b = arith.constant dense<[10, 3]> : tensor<2xi8>
  %0 = arith.andi %a, %b : tensor<2xi8>
  check.expect_eq_const %0, dense<[8, 0]> : tensor<2xi8>
  %1 = arith.ori %a, %b : tensor<2xi8>
  check.expect_eq_const %1, dense<[14, -125]> : tensor<2xi8>
  %2 = arith.xori %a, %b : tensor<2xi8>
  check.expect_eq_const %2, dense<[6, -125]> : tensor<2xi8>
  %s = arith.constant dense<[2, 3]> : tensor<2xi8>
  %3 = arith.shli %a, %s : tensor<2xi8>
  check.expect_eq_const %3, dense<[48, 0]> : tensor<2xi8>
  %4 = arith.shrsi %a, %s : tensor<2xi8>
  check.expect_eq_const %4, dense<[3, -16]> : tensor<2xi8>
  %5 = arith.shrui %a, %s : tensor<2xi8>
  check.expect_eq_const %5, dense<[3, 16]> : tensor<2xi8>
  func.return
}

// -----

func.func @floats() {
  %a = arith.constant dense<[1.5, 0x7FC00000, -0.0]> : tensor<3xf32>
  %b = arith.constant dense<[-2.0, 1.0, 0.0]> : tensor<3xf32>
  %0 = arith.addf %a, %b : tensor<3xf32>
  check.expect_eq_const %0, dense<[-0.5, 0x7FC00000, 0.0]> : tensor<3xf32>
  %1 = arith.subf %a, %b fastmath<contract> : tensor<3xf32>
  check.expect_eq_const %1, dense<[3.5, 0x7FC00000, 0.0]> : tensor<3xf32>
  %2 = arith.mulf %a, %b : tensor<3xf32>
  check.expect_eq_const %2, dense<[-3.0, 0x7FC00000, 0.0]> : tensor<3xf32>
  %3 = arith.divf %a, %b : tensor<3xf32>
  check.expect_eq_const %3, dense<[-0.75, 0x7FC00000, 0x7FC00000]> : tensor<3xf32>
  %4 = arith.remf %a, %b : tensor<3xf32>
  check.expect_eq_const %4, dense<[1.5, 0x7FC00000, 0x7FC00000]> : tensor<3xf32>
  %5 = arith.maximumf %a, %b : tensor<3xf32>
  check.expect_eq_const %5, dense<[1.5, 0x7FC00000, 0.0]> : tensor<3xf32>
  %6 = arith.maxnumf %a, %b : tensor<3xf32>
  check.expect_eq_const %6, dense<[1.5, 1.0, 0.0]> : tensor<3xf32>
  %7 = arith.minimumf %a, %b : tensor<3xf32>
  check.expect_eq_const %7, dense<[-2.0, 0x7FC00000, 0.0]> : tensor<3xf32>
  %8 = arith.minnumf %a, %b : tensor<3xf32>
  check.expect_eq_const %8, dense<[-2.0, 1.0, 0.0]> : tensor<3xf32>
  %9 = arith.negf %b : tensor<3xf32>
  check.expect_eq_const %9, dense<[2.0, -1.0, 0.0]> : tensor<3xf32>
  func.return
}

// -----

// The number of a number and a NaN, whether the NaN is quiet or signaling.
func.func @numbers_before_nan() {
  %a = arith.constant dense<[0x7F800001, 0x7FC00000, 1.0, 0xFF800001]> : tensor<4xf32>
  %b = arith.constant dense<[1.0, -2.0, 0x7F800001, 0xFFC00000]> : tensor<4xf32>
  %0 = arith.maxnumf %a, %b : tensor<4xf32>
  check.expect_eq_const %0, dense<[1.0, -2.0, 1.0, 0x7FC00000]> : tensor<4xf32>
  %1 = arith.minnumf %a, %b : tensor<4xf32>
  check.expect_eq_const %1, dense<[1.0, -2.0, 1.0, 0x7FC00000]> : tensor<4xf32>
  func.return
}

// -----

func.func @comparisons_of_floats() {
  %a = arith.constant dense<[1.0, 2.0, 0x7E00]> : tensor<3xf16>
  %b = arith.constant dense<[2.0, 2.0, 2.0]> : tensor<3xf16>
  %0 = arith.cmpf olt, %a, %b : tensor<3xf16>
  check.expect_eq_const %0, dense<[true, false, false]> : tensor<3xi1>
  %1 = arith.cmpf ult, %a, %b : tensor<3xf16>
  check.expect_eq_const %1, dense<[true, false, true]> : tensor<3xi1>
  %2 = arith.cmpf one, %a, %b fastmath<ninf> : tensor<3xf16>
  check.expect_eq_const %2, dense<[true, false, false]> : tensor<3xi1>
  %3 = arith.cmpf une, %a, %b : tensor<3xf16>
  check.expect_eq_const %3, dense<[true, false, true]> : tensor<3xi1>
  %4 = arith.cmpf ord, %a, %b : tensor<3xf16>
  check.expect_eq_const %4, dense<[true, true, false]> : tensor<3xi1>
  %5 = arith.cmpf uno, %a, %b : tensor<3xf16>
  check.expect_eq_const %5, dense<[false, false, true]> : tensor<3xi1>
  %6 = arith.cmpf true, %a, %b : tensor<3xf16>
  check.expect_eq_const %6, dense<true> : tensor<3xi1>
  func.return
}

// -----

func.func @conversions() {
  %i = arith.constant dense<[-1, 300]> : tensor<2xi16>
  %0 = arith.extsi %i : tensor<2xi16> to tensor<2xi32>
  check.expect_eq_const %0, dense<[-1, 300]> : tensor<2xi32>
  %1 = arith.extui %i : tensor<2xi16> to tensor<2xi32>
  check.expect_eq_const %1, dense<[65535, 300]> : tensor<2xi32>
  %2 = arith.trunci %i : tensor<2xi16> to tensor<2xi8>
  check.expect_eq_const %2, dense<[-1, 44]> : tensor<2xi8>
  %3 = arith.sitofp %i : tensor<2xi16> to tensor<2xf32>
  check.expect_eq_const %3, dense<[-1.0, 300.0]> : tensor<2xf32>
  %4 = arith.uitofp %i : tensor<2xi16> to tensor<2xf32>
  check.expect_eq_const %4, dense<[65535.0, 300.0]> : tensor<2xf32>
  %f = arith.constant dense<[-1.75, 200.5]> : tensor<2xf64>
  %5 = arith.fptosi %f : tensor<2xf64> to tensor<2xi16>
  check.expect_eq_const %5, dense<[-1, 200]> : tensor<2xi16>
  %g = arith.constant dense<[1.75, 200.5]> : tensor<2xf64>
  %6 = arith.fptoui %g : tensor<2xf64> to tensor<2xi8>
  check.expect_eq_const %6, dense<[1, -56]> : tensor<2xi8>
  %7 = arith.truncf %g : tensor<2xf64> to tensor<2xbf16>
  check.expect_eq_const %7, dense<[1.75, 200.0]> : tensor<2xbf16>
  %8 = arith.extf %7 : tensor<2xbf16> to tensor<2xf32>
  check.expect_eq_const %8, dense<[1.75, 200.0]> : tensor<2xf32>
  %9 = arith.bitcast %8 : tensor<2xf32> to tensor<2xi32>
  check.expect_eq_const %9, dense<[0x3FE00000, 0x43480000]> : tensor<2xi32>
  func.return
}

// -----

// As a signed integer, true is -1.
func.func @booleans() {
  %b = arith.constant dense<[true, false]> : tensor<2xi1>
  %0 = arith.extui %b : tensor<2xi1> to tensor<2xi8>
  check.expect_eq_const %0, dense<[1, 0]> : tensor<2xi8>
  %1 = arith.extsi %b : tensor<2xi1> to tensor<2xi8>
  check.expect_eq_const %1, dense<[-1, 0]> : tensor<2xi8>
  %i = arith.constant dense<[2, 3]> : tensor<2xi8>
  %2 = arith.trunci %i : tensor<2xi8> to tensor<2xi1>
  check.expect_eq_const %2, dense<[false, true]> : tensor<2xi1>
  %3 = arith.cmpi slt, %b, %2 : tensor<2xi1>
  check.expect_eq_const %3, dense<[true, false]> : tensor<2xi1>
  %4 = arith.cmpi ult, %b, %2 : tensor<2xi1>
  check.expect_eq_const %4, dense<[false, true]> : tensor<2xi1>
  %5 = arith.addi %b, %2 : tensor<2xi1>
  check.expect_eq_const %5, dense<true> : tensor<2xi1>
  func.return
}

// -----

// Scalars that are not tensors.
func.func @numbers() {
  %a = arith.constant 5 : index
  %b = arith.constant -2 : i32
  %c = arith.index_cast %b : i32 to index
  %d = arith.muli %a, %c : index
  %less = arith.cmpi slt, %d, %c : index
  %e = arith.select %less, %d, %a : index
  %f = arith.constant 1.5 : bf16
  %g = arith.addf %f, %f : bf16
  %true = arith.constant true
  %h = arith.select %true, %g, %f : bf16
  %0 = tensor.from_elements %d, %e : tensor<2xindex>
  %1 = arith.index_cast %0 : tensor<2xindex> to tensor<2xi64>
  check.expect_eq_const %1, dense<-10> : tensor<2xi64>
  %2 = tensor.from_elements %h : tensor<1xbf16>
  check.expect_eq_const %2, dense<3.0> : tensor<1xbf16>
  %p = arith.constant dense<[true, false]> : tensor<2xi1>
  %x = arith.constant dense<[1, 2]> : tensor<2xi64>
  %3 = arith.select %p, %x, %1 : tensor<2xi1>, tensor<2xi64>
  check.expect_eq_const %3, dense<[1, -10]> : tensor<2xi64>
  %4 = arith.index_castui %b : i32 to index
  %5 = tensor.from_elements %4 : tensor<1xindex>
  %6 = arith.index_cast %5 : tensor<1xindex> to tensor<1xi64>
  check.expect_eq_const %6, dense<4294967294> : tensor<1xi64>
  func.return
}

// -----

func.func @casts_of_unfinished_conversions() {
  %a = arith.constant 7 : index
  %0 = builtin.unrealized_conversion_cast %a : index to i64
  %1 = tensor.from_elements %0 : tensor<1xi64>
  check.expect_eq_const %1, dense<7> : tensor<1xi64>
  func.return
}

// -----

// Undefined in MLIR: quotients by 0 have all bits set, remainders by 0 are `lhs`, the lowest number divided by -1 wraps.
func.func @division_by_zero() {
  %a = arith.constant dense<[5, -5, 0, -128, -128]> : tensor<5xi8>
  %b = arith.constant dense<[0, 0, 0, -1, 3]> : tensor<5xi8>
  %0 = arith.divsi %a, %b : tensor<5xi8>
  check.expect_eq_const %0, dense<[-1, -1, -1, -128, -42]> : tensor<5xi8>
  %1 = arith.divui %a, %b : tensor<5xi8>
  check.expect_eq_const %1, dense<[-1, -1, -1, 0, 42]> : tensor<5xi8>
  %2 = arith.floordivsi %a, %b : tensor<5xi8>
  check.expect_eq_const %2, dense<[-1, -1, -1, -128, -43]> : tensor<5xi8>
  %3 = arith.ceildivsi %a, %b : tensor<5xi8>
  check.expect_eq_const %3, dense<[-1, -1, -1, -128, -42]> : tensor<5xi8>
  %4 = arith.ceildivui %a, %b : tensor<5xi8>
  check.expect_eq_const %4, dense<[-1, -1, -1, 1, 43]> : tensor<5xi8>
  %5 = arith.remsi %a, %b : tensor<5xi8>
  check.expect_eq_const %5, dense<[5, -5, 0, 0, -2]> : tensor<5xi8>
  %6 = arith.remui %a, %b : tensor<5xi8>
  check.expect_eq_const %6, dense<[5, -5, 0, -128, 2]> : tensor<5xi8>
  func.return
}

// -----

// Shifts by the bit width or more, which includes negative amounts, shift out all bits.
func.func @shifts_too_far() {
  %a = arith.constant dense<[5, -5, 5, -5]> : tensor<4xi8>
  %s = arith.constant dense<[8, 8, -1, -1]> : tensor<4xi8>
  %0 = arith.shli %a, %s : tensor<4xi8>
  check.expect_eq_const %0, dense<0> : tensor<4xi8>
  %1 = arith.shrsi %a, %s : tensor<4xi8>
  check.expect_eq_const %1, dense<[0, -1, 0, -1]> : tensor<4xi8>
  %2 = arith.shrui %a, %s : tensor<4xi8>
  check.expect_eq_const %2, dense<0> : tensor<4xi8>
  func.return
}

// -----

// Indices wrap around as 64-bit integers.
func.func @overflow() {
  %most = arith.constant 9223372036854775807 : index
  %least = arith.constant -9223372036854775808 : index
  %one = arith.constant 1 : index
  %0 = arith.addi %most, %one : index
  %1 = arith.subi %least, %one : index
  %2 = arith.muli %most, %most : index
  %3 = arith.cmpi eq, %0, %least : index
  %4 = arith.cmpi ult, %most, %least : index
  %5 = arith.cmpi slt, %most, %least : index
  %6 = tensor.from_elements %0, %1, %2 : tensor<3xindex>
  %7 = arith.index_cast %6 : tensor<3xindex> to tensor<3xi64>
  check.expect_eq_const %7, dense<[-9223372036854775808, 9223372036854775807, 1]> : tensor<3xi64>
  %8 = tensor.from_elements %3, %4, %5 : tensor<3xi1>
  check.expect_eq_const %8, dense<[true, true, false]> : tensor<3xi1>
  %9 = arith.index_cast %most : index to i32
  %10 = arith.index_cast %most : index to i1
  %11 = arith.extsi %10 : i1 to i32
  %12 = tensor.from_elements %9, %11 : tensor<2xi32>
  check.expect_eq_const %12, dense<-1> : tensor<2xi32>
  func.return
}

// -----

// 1-bit integers: true is 1 if unsigned, -1 if signed. 4-bit integers: -8 to 7, or 0 to 15.
func.func @narrow_integers() {
  %a = arith.constant dense<[true, true, false, false]> : tensor<4xi1>
  %b = arith.constant dense<[true, false, true, false]> : tensor<4xi1>
  %0 = arith.divsi %a, %b : tensor<4xi1>
  check.expect_eq_const %0, dense<[true, true, false, true]> : tensor<4xi1>
  %1 = arith.remui %a, %b : tensor<4xi1>
  check.expect_eq_const %1, dense<[false, true, false, false]> : tensor<4xi1>
  %2 = arith.shli %a, %b : tensor<4xi1>
  check.expect_eq_const %2, dense<[false, true, false, false]> : tensor<4xi1>
  %3 = arith.shrsi %a, %b : tensor<4xi1>
  check.expect_eq %3, %a : tensor<4xi1>
  %4 = arith.maxsi %a, %b : tensor<4xi1>
  check.expect_eq_const %4, dense<[true, false, false, false]> : tensor<4xi1>
  %5 = arith.maxui %a, %b : tensor<4xi1>
  check.expect_eq_const %5, dense<[true, true, true, false]> : tensor<4xi1>
  %6 = arith.sitofp %a : tensor<4xi1> to tensor<4xf32>
  check.expect_eq_const %6, dense<[-1.0, -1.0, 0.0, 0.0]> : tensor<4xf32>
  %c = arith.constant dense<[-8, 7]> : tensor<2xi4>
  %d = arith.constant dense<[1, 2]> : tensor<2xi4>
  %7 = arith.addi %c, %d : tensor<2xi4>
  check.expect_eq_const %7, dense<[-7, -7]> : tensor<2xi4>
  %8 = arith.divui %c, %d : tensor<2xi4>
  check.expect_eq_const %8, dense<[-8, 3]> : tensor<2xi4>
  %9 = arith.shrui %c, %d : tensor<2xi4>
  check.expect_eq_const %9, dense<[4, 1]> : tensor<2xi4>
  %10 = arith.extui %c : tensor<2xi4> to tensor<2xi16>
  check.expect_eq_const %10, dense<[8, 7]> : tensor<2xi16>
  func.return
}

// -----

// 448 is the largest f8E4M3FN; larger numbers become NaN, as there is no infinity. Zeros are equal, NaN is unordered.
func.func @narrow_floats() {
  %a = arith.constant dense<[448.0, 1.0, -0.0]> : tensor<3xf8E4M3FN>
  %b = arith.constant dense<[64.0, 1.0625, 0.0]> : tensor<3xf8E4M3FN>
  %0 = arith.addf %a, %b : tensor<3xf8E4M3FN>
  check.expect_eq_const %0, dense<[0x7F, 2.0, 0.0]> : tensor<3xf8E4M3FN>
  %1 = arith.cmpf oeq, %a, %b : tensor<3xf8E4M3FN>
  check.expect_eq_const %1, dense<[false, true, true]> : tensor<3xi1>
  %2 = arith.extf %0 : tensor<3xf8E4M3FN> to tensor<3xf64>
  check.expect_eq_const %2, dense<[0x7FF8000000000000, 2.0, 0.0]> : tensor<3xf64>
  %c = arith.constant dense<[1.0e9, -1.0e9, 0x7FC00000]> : tensor<3xf32>
  %3 = arith.truncf %c : tensor<3xf32> to tensor<3xf16>
  check.expect_eq_const %3, dense<[0x7C00, 0xFC00, 0x7E00]> : tensor<3xf16>
  %4 = arith.fptosi %c : tensor<3xf32> to tensor<3xi8>
  check.expect_eq_const %4, dense<[127, -128, 0]> : tensor<3xi8>
  %5 = arith.fptoui %c : tensor<3xf32> to tensor<3xi8>
  check.expect_eq_const %5, dense<[-1, 0, 0]> : tensor<3xi8>
  %6 = arith.fptoui %c : tensor<3xf32> to tensor<3xi1>
  check.expect_eq_const %6, dense<[true, false, false]> : tensor<3xi1>
  %7 = arith.fptosi %c : tensor<3xf32> to tensor<3xi1>
  check.expect_eq_const %7, dense<[false, true, false]> : tensor<3xi1>
  func.return
}

// -----

// Results that the flags rule out are poison in MLIR; these are not ruled out.
func.func @flags() {
  %a = arith.constant dense<[12, -8]> : tensor<2xi32>
  %b = arith.constant dense<[4, 2]> : tensor<2xi32>
  %c = arith.constant dense<[5, 7]> : tensor<2xi8>
  %0 = arith.divsi %a, %b exact : tensor<2xi32>
  check.expect_eq_const %0, dense<[3, -4]> : tensor<2xi32>
  %two = arith.constant dense<[2, 1]> : tensor<2xi32>
  %1 = arith.shrui %b, %two exact : tensor<2xi32>
  check.expect_eq_const %1, dense<[1, 1]> : tensor<2xi32>
  %2 = arith.extui %c nneg : tensor<2xi8> to tensor<2xi32>
  check.expect_eq_const %2, dense<[5, 7]> : tensor<2xi32>
  %3 = arith.uitofp %c nneg : tensor<2xi8> to tensor<2xf32>
  %4 = arith.mulf %3, %3 to_nearest_even fastmath<nnan> : tensor<2xf32>
  check.expect_eq_const %4, dense<[25.0, 49.0]> : tensor<2xf32>
  func.return
}
