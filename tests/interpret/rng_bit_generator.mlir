// RUN: stablehlo-interp --split-input-file %s

// Expected values, except for the first, were computed by XLA on a CPU.

// The spec's example.
func.func @three_fry_2x2xui64() {
  %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %after, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui64>)
  check.expect_eq_const %after, dense<[1, 6]> : tensor<2xui64>
  check.expect_eq_const %bits, dense<[[9236835810183407956, 16087790271692313299], [18212823393184779219, 2658481902456610144]]> : tensor<2x2xui64>
  func.return
}

// -----

// An odd size: the last half block is dropped.
func.func @three_fry_3xui32() {
  %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %after, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
  check.expect_eq_const %after, dense<[1, 4]> : tensor<2xui64>
  check.expect_eq_const %bits, dense<[43444564, 2150618427, 3979645651]> : tensor<3xui32>
  func.return
}

// -----

// Pairs are along the first even dimension; the counter wraps.
func.func @three_fry_2x3xui32() {
  %state = stablehlo.constant dense<[7, 18446744073709551615]> : tensor<2xui64>
  %after, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui32>)
  check.expect_eq_const %after, dense<[7, 2]> : tensor<2xui64>
  check.expect_eq_const %bits, dense<[[3493762567, 3901892970, 2964889903], [1599218323, 3158004665, 1334547408]]> : tensor<2x3xui32>
  func.return
}

// -----

func.func @three_fry_ui16() {
  %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %after, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui16>)
  check.expect_eq_const %after, dense<[1, 3]> : tensor<2xui64>
  check.expect_eq_const %bits, dense<59732> : tensor<ui16>
  func.return
}

// -----

func.func @three_fry_4xui8() {
  %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %after, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui8>)
  check.expect_eq_const %after, dense<[1, 4]> : tensor<2xui64>
  check.expect_eq_const %bits, dense<[84, 59, 211, 3]> : tensor<4xui8>
  func.return
}

// -----

// The key is also the upper word of the counter.
func.func @philox_5xui32() {
  %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %after, %bits = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  check.expect_eq_const %after, dense<[1, 4]> : tensor<2xui64>
  check.expect_eq_const %bits, dense<[2100602697, 2847456232, 2074354647, 800269529, 1828267006]> : tensor<5xui32>
  func.return
}

// -----

// Three words of state; the lower word of the counter wraps.
func.func @philox_3_words_5xui32() {
  %state = stablehlo.constant dense<[1, 18446744073709551615, 4]> : tensor<3xui64>
  %after, %bits = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui32>)
  check.expect_eq_const %after, dense<[1, 1, 5]> : tensor<3xui64>
  check.expect_eq_const %bits, dense<[4123238626, 1775732872, 304024151, 3335362850, 3885566366]> : tensor<5xui32>
  func.return
}

// -----

func.func @philox_3xui64() {
  %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %after, %bits = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui64>)
  check.expect_eq_const %after, dense<[1, 4]> : tensor<2xui64>
  check.expect_eq_const %bits, dense<[12229731395331991369, 3437131457114678231, 13465615291114923006]> : tensor<3xui64>
  func.return
}

// -----

func.func @philox_0x2xi32() {
  %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %after, %bits = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<0x2xi32>)
  check.expect_eq_const %after, dense<[1, 2]> : tensor<2xui64>
  check.expect_eq_const %bits, dense<> : tensor<0x2xi32>
  func.return
}

// -----

// DEFAULT is PHILOX.
func.func @default_2x2xui32() {
  %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %after, %bits = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui32>)
  check.expect_eq_const %after, dense<[1, 3]> : tensor<2xui64>
  check.expect_eq_const %bits, dense<[[2100602697, 2847456232], [2074354647, 800269529]]> : tensor<2x2xui32>
  func.return
}

// -----

func.func @default_3xi16() {
  %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %after, %bits = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xi16>)
  check.expect_eq_const %after, dense<[1, 3]> : tensor<2xui64>
  check.expect_eq_const %bits, dense<[-22711, -17432, 9175]> : tensor<3xi16>
  func.return
}
