// RUN: stablehlo-interp --split-input-file %s

// Functions of a float, at arguments where they are exact: on tensors, and on scalars with fast math.
func.func @main() {
  %x0 = stablehlo.constant dense<-2.5> : tensor<2xf32>
  %y0 = math.absf %x0 : tensor<2xf32>
  check.expect_eq_const %y0, dense<2.5> : tensor<2xf32>
  %s0 = arith.constant -2.5 : f64
  %r0 = math.absf %s0 fastmath<fast> : f64
  %t0 = tensor.from_elements %r0 : tensor<f64>
  check.expect_eq_const %t0, dense<2.5> : tensor<f64>
  %x1 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %y1 = math.acos %x1 : tensor<2xf32>
  check.expect_eq_const %y1, dense<0.0> : tensor<2xf32>
  %s1 = arith.constant 1.0 : f64
  %r1 = math.acos %s1 fastmath<fast> : f64
  %t1 = tensor.from_elements %r1 : tensor<f64>
  check.expect_eq_const %t1, dense<0.0> : tensor<f64>
  %x2 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %y2 = math.acosh %x2 : tensor<2xf32>
  check.expect_eq_const %y2, dense<0.0> : tensor<2xf32>
  %s2 = arith.constant 1.0 : f64
  %r2 = math.acosh %s2 fastmath<fast> : f64
  %t2 = tensor.from_elements %r2 : tensor<f64>
  check.expect_eq_const %t2, dense<0.0> : tensor<f64>
  %x3 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y3 = math.asin %x3 : tensor<2xf32>
  check.expect_eq_const %y3, dense<0.0> : tensor<2xf32>
  %s3 = arith.constant 0.0 : f64
  %r3 = math.asin %s3 fastmath<fast> : f64
  %t3 = tensor.from_elements %r3 : tensor<f64>
  check.expect_eq_const %t3, dense<0.0> : tensor<f64>
  %x4 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y4 = math.asinh %x4 : tensor<2xf32>
  check.expect_eq_const %y4, dense<0.0> : tensor<2xf32>
  %s4 = arith.constant 0.0 : f64
  %r4 = math.asinh %s4 fastmath<fast> : f64
  %t4 = tensor.from_elements %r4 : tensor<f64>
  check.expect_eq_const %t4, dense<0.0> : tensor<f64>
  %x5 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y5 = math.atan %x5 : tensor<2xf32>
  check.expect_eq_const %y5, dense<0.0> : tensor<2xf32>
  %s5 = arith.constant 0.0 : f64
  %r5 = math.atan %s5 fastmath<fast> : f64
  %t5 = tensor.from_elements %r5 : tensor<f64>
  check.expect_eq_const %t5, dense<0.0> : tensor<f64>
  %x6 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y6 = math.atanh %x6 : tensor<2xf32>
  check.expect_eq_const %y6, dense<0.0> : tensor<2xf32>
  %s6 = arith.constant 0.0 : f64
  %r6 = math.atanh %s6 fastmath<fast> : f64
  %t6 = tensor.from_elements %r6 : tensor<f64>
  check.expect_eq_const %t6, dense<0.0> : tensor<f64>
  %x7 = stablehlo.constant dense<-27.0> : tensor<2xf32>
  %y7 = math.cbrt %x7 : tensor<2xf32>
  check.expect_eq_const %y7, dense<-3.0> : tensor<2xf32>
  %s7 = arith.constant -27.0 : f64
  %r7 = math.cbrt %s7 fastmath<fast> : f64
  %t7 = tensor.from_elements %r7 : tensor<f64>
  check.expect_eq_const %t7, dense<-3.0> : tensor<f64>
  %x8 = stablehlo.constant dense<1.5> : tensor<2xf32>
  %y8 = math.ceil %x8 : tensor<2xf32>
  check.expect_eq_const %y8, dense<2.0> : tensor<2xf32>
  %s8 = arith.constant 1.5 : f64
  %r8 = math.ceil %s8 fastmath<fast> : f64
  %t8 = tensor.from_elements %r8 : tensor<f64>
  check.expect_eq_const %t8, dense<2.0> : tensor<f64>
  %x9 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y9 = math.cos %x9 : tensor<2xf32>
  check.expect_eq_const %y9, dense<1.0> : tensor<2xf32>
  %s9 = arith.constant 0.0 : f64
  %r9 = math.cos %s9 fastmath<fast> : f64
  %t9 = tensor.from_elements %r9 : tensor<f64>
  check.expect_eq_const %t9, dense<1.0> : tensor<f64>
  %x10 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y10 = math.cosh %x10 : tensor<2xf32>
  check.expect_eq_const %y10, dense<1.0> : tensor<2xf32>
  %s10 = arith.constant 0.0 : f64
  %r10 = math.cosh %s10 fastmath<fast> : f64
  %t10 = tensor.from_elements %r10 : tensor<f64>
  check.expect_eq_const %t10, dense<1.0> : tensor<f64>
  %x11 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y11 = math.erf %x11 : tensor<2xf32>
  check.expect_eq_const %y11, dense<0.0> : tensor<2xf32>
  %s11 = arith.constant 0.0 : f64
  %r11 = math.erf %s11 fastmath<fast> : f64
  %t11 = tensor.from_elements %r11 : tensor<f64>
  check.expect_eq_const %t11, dense<0.0> : tensor<f64>
  %x12 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y12 = math.erfc %x12 : tensor<2xf32>
  check.expect_eq_const %y12, dense<1.0> : tensor<2xf32>
  %s12 = arith.constant 0.0 : f64
  %r12 = math.erfc %s12 fastmath<fast> : f64
  %t12 = tensor.from_elements %r12 : tensor<f64>
  check.expect_eq_const %t12, dense<1.0> : tensor<f64>
  %x13 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y13 = math.exp %x13 : tensor<2xf32>
  check.expect_eq_const %y13, dense<1.0> : tensor<2xf32>
  %s13 = arith.constant 0.0 : f64
  %r13 = math.exp %s13 fastmath<fast> : f64
  %t13 = tensor.from_elements %r13 : tensor<f64>
  check.expect_eq_const %t13, dense<1.0> : tensor<f64>
  %x14 = stablehlo.constant dense<-3.0> : tensor<2xf32>
  %y14 = math.exp2 %x14 : tensor<2xf32>
  check.expect_eq_const %y14, dense<0.125> : tensor<2xf32>
  %s14 = arith.constant -3.0 : f64
  %r14 = math.exp2 %s14 fastmath<fast> : f64
  %t14 = tensor.from_elements %r14 : tensor<f64>
  check.expect_eq_const %t14, dense<0.125> : tensor<f64>
  %x15 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y15 = math.expm1 %x15 : tensor<2xf32>
  check.expect_eq_const %y15, dense<0.0> : tensor<2xf32>
  %s15 = arith.constant 0.0 : f64
  %r15 = math.expm1 %s15 fastmath<fast> : f64
  %t15 = tensor.from_elements %r15 : tensor<f64>
  check.expect_eq_const %t15, dense<0.0> : tensor<f64>
  %x16 = stablehlo.constant dense<-1.5> : tensor<2xf32>
  %y16 = math.floor %x16 : tensor<2xf32>
  check.expect_eq_const %y16, dense<-2.0> : tensor<2xf32>
  %s16 = arith.constant -1.5 : f64
  %r16 = math.floor %s16 fastmath<fast> : f64
  %t16 = tensor.from_elements %r16 : tensor<f64>
  check.expect_eq_const %t16, dense<-2.0> : tensor<f64>
  %x17 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %y17 = math.log %x17 : tensor<2xf32>
  check.expect_eq_const %y17, dense<0.0> : tensor<2xf32>
  %s17 = arith.constant 1.0 : f64
  %r17 = math.log %s17 fastmath<fast> : f64
  %t17 = tensor.from_elements %r17 : tensor<f64>
  check.expect_eq_const %t17, dense<0.0> : tensor<f64>
  %x18 = stablehlo.constant dense<1000.0> : tensor<2xf32>
  %y18 = math.log10 %x18 : tensor<2xf32>
  check.expect_eq_const %y18, dense<3.0> : tensor<2xf32>
  %s18 = arith.constant 1000.0 : f64
  %r18 = math.log10 %s18 fastmath<fast> : f64
  %t18 = tensor.from_elements %r18 : tensor<f64>
  check.expect_eq_const %t18, dense<3.0> : tensor<f64>
  %x19 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y19 = math.log1p %x19 : tensor<2xf32>
  check.expect_eq_const %y19, dense<0.0> : tensor<2xf32>
  %s19 = arith.constant 0.0 : f64
  %r19 = math.log1p %s19 fastmath<fast> : f64
  %t19 = tensor.from_elements %r19 : tensor<f64>
  check.expect_eq_const %t19, dense<0.0> : tensor<f64>
  %x20 = stablehlo.constant dense<0.25> : tensor<2xf32>
  %y20 = math.log2 %x20 : tensor<2xf32>
  check.expect_eq_const %y20, dense<-2.0> : tensor<2xf32>
  %s20 = arith.constant 0.25 : f64
  %r20 = math.log2 %s20 fastmath<fast> : f64
  %t20 = tensor.from_elements %r20 : tensor<f64>
  check.expect_eq_const %t20, dense<-2.0> : tensor<f64>
  %x21 = stablehlo.constant dense<-2.5> : tensor<2xf32>
  %y21 = math.round %x21 : tensor<2xf32>
  check.expect_eq_const %y21, dense<-3.0> : tensor<2xf32>
  %s21 = arith.constant -2.5 : f64
  %r21 = math.round %s21 fastmath<fast> : f64
  %t21 = tensor.from_elements %r21 : tensor<f64>
  check.expect_eq_const %t21, dense<-3.0> : tensor<f64>
  %x22 = stablehlo.constant dense<-2.5> : tensor<2xf32>
  %y22 = math.roundeven %x22 : tensor<2xf32>
  check.expect_eq_const %y22, dense<-2.0> : tensor<2xf32>
  %s22 = arith.constant -2.5 : f64
  %r22 = math.roundeven %s22 fastmath<fast> : f64
  %t22 = tensor.from_elements %r22 : tensor<f64>
  check.expect_eq_const %t22, dense<-2.0> : tensor<f64>
  %x23 = stablehlo.constant dense<4.0> : tensor<2xf32>
  %y23 = math.rsqrt %x23 : tensor<2xf32>
  check.expect_eq_const %y23, dense<0.5> : tensor<2xf32>
  %s23 = arith.constant 4.0 : f64
  %r23 = math.rsqrt %s23 fastmath<fast> : f64
  %t23 = tensor.from_elements %r23 : tensor<f64>
  check.expect_eq_const %t23, dense<0.5> : tensor<f64>
  %x24 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y24 = math.sin %x24 : tensor<2xf32>
  check.expect_eq_const %y24, dense<0.0> : tensor<2xf32>
  %s24 = arith.constant 0.0 : f64
  %r24 = math.sin %s24 fastmath<fast> : f64
  %t24 = tensor.from_elements %r24 : tensor<f64>
  check.expect_eq_const %t24, dense<0.0> : tensor<f64>
  %x25 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y25 = math.sinh %x25 : tensor<2xf32>
  check.expect_eq_const %y25, dense<0.0> : tensor<2xf32>
  %s25 = arith.constant 0.0 : f64
  %r25 = math.sinh %s25 fastmath<fast> : f64
  %t25 = tensor.from_elements %r25 : tensor<f64>
  check.expect_eq_const %t25, dense<0.0> : tensor<f64>
  %x26 = stablehlo.constant dense<9.0> : tensor<2xf32>
  %y26 = math.sqrt %x26 : tensor<2xf32>
  check.expect_eq_const %y26, dense<3.0> : tensor<2xf32>
  %s26 = arith.constant 9.0 : f64
  %r26 = math.sqrt %s26 fastmath<fast> : f64
  %t26 = tensor.from_elements %r26 : tensor<f64>
  check.expect_eq_const %t26, dense<3.0> : tensor<f64>
  %x27 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y27 = math.tan %x27 : tensor<2xf32>
  check.expect_eq_const %y27, dense<0.0> : tensor<2xf32>
  %s27 = arith.constant 0.0 : f64
  %r27 = math.tan %s27 fastmath<fast> : f64
  %t27 = tensor.from_elements %r27 : tensor<f64>
  check.expect_eq_const %t27, dense<0.0> : tensor<f64>
  %x28 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %y28 = math.tanh %x28 : tensor<2xf32>
  check.expect_eq_const %y28, dense<0.0> : tensor<2xf32>
  %s28 = arith.constant 0.0 : f64
  %r28 = math.tanh %s28 fastmath<fast> : f64
  %t28 = tensor.from_elements %r28 : tensor<f64>
  check.expect_eq_const %t28, dense<0.0> : tensor<f64>
  %x29 = stablehlo.constant dense<-1.5> : tensor<2xf32>
  %y29 = math.trunc %x29 : tensor<2xf32>
  check.expect_eq_const %y29, dense<-1.0> : tensor<2xf32>
  %s29 = arith.constant -1.5 : f64
  %r29 = math.trunc %s29 fastmath<fast> : f64
  %t29 = tensor.from_elements %r29 : tensor<f64>
  check.expect_eq_const %t29, dense<-1.0> : tensor<f64>
  return
}

// -----

func.func @integers() {
  %x = stablehlo.constant dense<[-8, 0, 12]> : tensor<3xi32>
  %0 = math.absi %x : tensor<3xi32>
  check.expect_eq_const %0, dense<[8, 0, 12]> : tensor<3xi32>
  %1 = math.ctlz %x : tensor<3xi32>
  check.expect_eq_const %1, dense<[0, 32, 28]> : tensor<3xi32>
  %2 = math.cttz %x : tensor<3xi32>
  check.expect_eq_const %2, dense<[3, 32, 2]> : tensor<3xi32>
  %3 = math.ctpop %x : tensor<3xi32>
  check.expect_eq_const %3, dense<[29, 0, 2]> : tensor<3xi32>
  %b = stablehlo.constant dense<[-2, 3, 2]> : tensor<3xi32>
  %n = stablehlo.constant dense<[3, 0, 33]> : tensor<3xi32>
  %4 = math.ipowi %b, %n : tensor<3xi32>
  check.expect_eq_const %4, dense<[-8, 1, 0]> : tensor<3xi32>
  %f = stablehlo.constant dense<[-2.0, 3.0, 0.5]> : tensor<3xf32>
  %m = stablehlo.constant dense<[3, 0, -2]> : tensor<3xi32>
  %5 = math.fpowi %f, %m : tensor<3xf32>, tensor<3xi32>
  check.expect_eq_const %5, dense<[-8.0, 1.0, 4.0]> : tensor<3xf32>
  return
}

// -----

// 2**-149 is the smallest subnormal number of f32.
func.func @predicates() {
  %x = stablehlo.constant dense<[0.0, 0x00000001, 1.0, 0xFF800000, 0x7FC00000]> : tensor<5xf32>
  %0 = math.isfinite %x : tensor<5xf32>
  check.expect_eq_const %0, dense<[true, true, true, false, false]> : tensor<5xi1>
  %1 = math.isinf %x : tensor<5xf32>
  check.expect_eq_const %1, dense<[false, false, false, true, false]> : tensor<5xi1>
  %2 = math.isnan %x : tensor<5xf32>
  check.expect_eq_const %2, dense<[false, false, false, false, true]> : tensor<5xi1>
  %3 = math.isnormal %x : tensor<5xf32>
  check.expect_eq_const %3, dense<[false, false, true, false, false]> : tensor<5xi1>
  return
}

// -----

// (2**12 + 1)**2 - 2**24 = 2**13 + 1: the product alone would be rounded to 2**24 + 2**13.
func.func @several_operands() {
  %a = stablehlo.constant dense<4097.0> : tensor<f32>
  %b = stablehlo.constant dense<-16777216.0> : tensor<f32>
  %0 = math.fma %a, %a, %b : tensor<f32>
  check.expect_eq_const %0, dense<8193.0> : tensor<f32>
  %1 = math.copysign %a, %b : tensor<f32>
  check.expect_eq_const %1, dense<-4097.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = math.atan2 %zero, %a : tensor<f32>
  check.expect_eq_const %2, dense<0.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %three = stablehlo.constant dense<-3.0> : tensor<f32>
  %3 = math.powf %two, %three : tensor<f32>
  check.expect_eq_const %3, dense<0.125> : tensor<f32>
  return
}
