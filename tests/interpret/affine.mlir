// RUN: stablehlo-interp %s

#map = affine_map<(d0)[s0] -> (d0 * 3 + s0 - 1)>
func.func @main() {
  %i = arith.constant 7 : index
  %m = arith.constant -7 : index
  %n = arith.constant 2 : index
  %0 = affine.apply #map(%i)[%n]
  %1 = affine.apply affine_map<(d0, d1) -> ((d0 floordiv 2) mod 4 - d1 ceildiv 2)>(%i, %m)
  %2 = affine.apply affine_map<(d0) -> (-d0 floordiv 2)>(%i)
  %3 = affine.min affine_map<(d0)[s0] -> (d0, s0 * 2, 5)>(%i)[%n]
  %4 = affine.max affine_map<(d0)[s0] -> (d0, s0 * 2, 5)>(%m)[%n]
  %5 = affine.apply affine_map<() -> (42)>()
  %6 = tensor.from_elements %0, %1, %2, %3, %4, %5 : tensor<6xindex>
  %7 = arith.index_cast %6 : tensor<6xindex> to tensor<6xi64>
  check.expect_eq_const %7, dense<[22, 6, -4, 4, 5, 42]> : tensor<6xi64>
  return
}
