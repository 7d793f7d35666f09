// RUN: stablehlo-interp --split-input-file %s

// The spec's example.
func.func @all_reduce(%a: tensor<4xi64>, %b: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
  %result:2 = "stablehlo.all_reduce"(%a, %b) ({
  ^bb0(%x: tensor<i64>, %y: tensor<i64>):
    %s = stablehlo.add %x, %y : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) {
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<4xi64>, tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>)
  func.return %result#0, %result#1 : tensor<4xi64>, tensor<4xi64>
}

func.func @main() {
  %0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %1 = stablehlo.constant dense<[9, 10, 11, 12]> : tensor<4xi64>
  %2 = stablehlo.constant dense<[5, 6, 7, 8]> : tensor<4xi64>
  %3 = stablehlo.constant dense<[13, 14, 15, 16]> : tensor<4xi64>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_reduce], [@all_reduce]]}
      : (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>)
  check.expect_eq_const %results#0, dense<[6, 8, 10, 12]> : tensor<4xi64>
  check.expect_eq_const %results#1, dense<[22, 24, 26, 28]> : tensor<4xi64>
  check.expect_eq_const %results#2, dense<[6, 8, 10, 12]> : tensor<4xi64>
  check.expect_eq_const %results#3, dense<[22, 24, 26, 28]> : tensor<4xi64>
  func.return
}

// -----

// cross_replica: over replicas, separately in each partition.
func.func @all_reduce(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %3 = stablehlo.constant dense<1000> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_reduce, @all_reduce], [@all_reduce, @all_reduce]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<101> : tensor<i32>
  check.expect_eq_const %results#1, dense<1010> : tensor<i32>
  check.expect_eq_const %results#2, dense<101> : tensor<i32>
  check.expect_eq_const %results#3, dense<1010> : tensor<i32>
  func.return
}

// -----

// cross_replica_and_partition: over all partitions of the replicas of a group.
func.func @all_reduce(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %3 = stablehlo.constant dense<1000> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_reduce, @all_reduce], [@all_reduce, @all_reduce]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<11> : tensor<i32>
  check.expect_eq_const %results#1, dense<11> : tensor<i32>
  check.expect_eq_const %results#2, dense<1100> : tensor<i32>
  check.expect_eq_const %results#3, dense<1100> : tensor<i32>
  func.return
}

// -----

// flattened_ids.
func.func @all_reduce(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    use_global_device_ids
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %3 = stablehlo.constant dense<1000> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_reduce, @all_reduce], [@all_reduce, @all_reduce]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<1001> : tensor<i32>
  check.expect_eq_const %results#1, dense<110> : tensor<i32>
  check.expect_eq_const %results#2, dense<110> : tensor<i32>
  check.expect_eq_const %results#3, dense<1001> : tensor<i32>
  func.return
}

// -----

// Groups of different sizes are filled up with -1.
func.func @all_reduce(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
    use_global_device_ids
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %3 = stablehlo.constant dense<1000> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@all_reduce, @all_reduce], [@all_reduce, @all_reduce]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<111> : tensor<i32>
  check.expect_eq_const %results#1, dense<111> : tensor<i32>
  check.expect_eq_const %results#2, dense<111> : tensor<i32>
  check.expect_eq_const %results#3, dense<1000> : tensor<i32>
  func.return
}

// -----

// In the order of the group: 1 - 10 for the group (0, 1), 10 - 1 for (1, 0).
func.func @first(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.subtract %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}
func.func @second(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.subtract %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}
func.func @both(%a: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %first = func.call @first(%a) : (tensor<i32>) -> tensor<i32>
  %second = func.call @second(%a) : (tensor<i32>) -> tensor<i32>
  func.return %first, %second : tensor<i32>, tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1) {programs = [[@both], [@both]]}
      : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<-9> : tensor<i32>
  check.expect_eq_const %results#1, dense<9> : tensor<i32>
  check.expect_eq_const %results#2, dense<-9> : tensor<i32>
  check.expect_eq_const %results#3, dense<9> : tensor<i32>
  func.return
}

// -----

// Two in sequence on one channel: the second reduces the results of the first.
func.func @twice(%a: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %once = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<i32>) -> tensor<i32>
  %twice = "stablehlo.all_reduce"(%once) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<i32>) -> tensor<i32>
  func.return %once, %twice : tensor<i32>, tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %results:4 = "interpreter.run_parallel"(%0, %1) {programs = [[@twice], [@twice]]}
      : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<3> : tensor<i32>
  check.expect_eq_const %results#1, dense<6> : tensor<i32>
  check.expect_eq_const %results#2, dense<3> : tensor<i32>
  check.expect_eq_const %results#3, dense<6> : tensor<i32>
  func.return
}

// -----

// In a loop that processes iterate at different times: each adds the sum of both three times.
func.func @loop(%a: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %results:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<i32>
    cond {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %sum = "stablehlo.all_reduce"(%v) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i32>) -> tensor<i32>
      %w = stablehlo.add %v, %sum : tensor<i32>
      stablehlo.return %j, %w : tensor<i32>, tensor<i32>
    }
  func.return %results#1 : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@loop], [@loop]]}
      : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<40> : tensor<i32>
  check.expect_eq_const %results#1, dense<41> : tensor<i32>
  func.return
}

// -----

// Operands of a narrower type are promoted: 200 + 100 does not wrap around.
func.func @all_reduce(%a: tensor<ui8>) -> tensor<ui16> {
  %result = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<ui16>, %y: tensor<ui16>):
    %s = stablehlo.add %x, %y : tensor<ui16>
    stablehlo.return %s : tensor<ui16>
  }) {
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<ui8>) -> tensor<ui16>
  func.return %result : tensor<ui16>
}

func.func @main() {
  %0 = stablehlo.constant dense<200> : tensor<ui8>
  %1 = stablehlo.constant dense<100> : tensor<ui8>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@all_reduce], [@all_reduce]]}
      : (tensor<ui8>, tensor<ui8>) -> (tensor<ui16>, tensor<ui16>)
  check.expect_eq_const %results#0, dense<300> : tensor<ui16>
  check.expect_eq_const %results#1, dense<300> : tensor<ui16>
  func.return
}

// -----

// A computation of several ops: the sum of squares of three, folded from the left.
func.func @all_reduce(%a: tensor<2xf32>) -> tensor<2xf32> {
  %result = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %square = stablehlo.multiply %x, %x : tensor<f32>
    %sum = stablehlo.add %square, %y : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %result : tensor<2xf32>
}

func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %results:3 = "interpreter.run_parallel"(%0, %1, %2) {programs = [[@all_reduce], [@all_reduce], [@all_reduce]]}
      : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %results#0, dense<[21.0, 70.0]> : tensor<2xf32>
  check.expect_eq_const %results#1, dense<[21.0, 70.0]> : tensor<2xf32>
  check.expect_eq_const %results#2, dense<[21.0, 70.0]> : tensor<2xf32>
  func.return
}

// -----

// Booleans: add is or. Maximum: 0.0 is greater than -0.0, and NaN wins.
func.func @any(%a: tensor<2xi1>) -> tensor<2xi1> {
  %result = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>):
    %s = stablehlo.add %x, %y : tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) {
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<2xi1>) -> tensor<2xi1>
  func.return %result : tensor<2xi1>
}
func.func @greatest(%a: tensor<3xf32>) -> tensor<3xui32> {
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.bitcast_convert %0 : (tensor<3xf32>) -> tensor<3xui32>
  func.return %1 : tensor<3xui32>
}
func.func @both(%a: tensor<2xi1>, %b: tensor<3xf32>) -> (tensor<2xi1>, tensor<3xui32>) {
  %0 = func.call @any(%a) : (tensor<2xi1>) -> tensor<2xi1>
  %1 = func.call @greatest(%b) : (tensor<3xf32>) -> tensor<3xui32>
  func.return %0, %1 : tensor<2xi1>, tensor<3xui32>
}

func.func @main() {
  %0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %1 = stablehlo.constant dense<[0.0, -0.0, 0x7FC00000]> : tensor<3xf32>
  %2 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %3 = stablehlo.constant dense<[-0.0, 0.0, 1.0]> : tensor<3xf32>
  %results:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@both], [@both]]}
      : (tensor<2xi1>, tensor<3xf32>, tensor<2xi1>, tensor<3xf32>) -> (tensor<2xi1>, tensor<3xui32>, tensor<2xi1>, tensor<3xui32>)
  check.expect_eq_const %results#0, dense<[true, false]> : tensor<2xi1>
  check.expect_eq_const %results#1, dense<[0, 0, 2143289344]> : tensor<3xui32>
  check.expect_eq_const %results#2, dense<[true, false]> : tensor<2xi1>
  check.expect_eq_const %results#3, dense<[0, 0, 2143289344]> : tensor<3xui32>
  func.return
}

// -----

// Tensors without elements.
func.func @all_reduce(%a: tensor<0xf32>) -> tensor<0xf32> {
  %result = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<0xf32>) -> tensor<0xf32>
  func.return %result : tensor<0xf32>
}

func.func @main() {
  %0 = stablehlo.constant dense<> : tensor<0xf32>
  %1 = stablehlo.constant dense<> : tensor<0xf32>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@all_reduce], [@all_reduce]]}
      : (tensor<0xf32>, tensor<0xf32>) -> (tensor<0xf32>, tensor<0xf32>)
  check.expect_eq_const %results#0, dense<> : tensor<0xf32>
  check.expect_eq_const %results#1, dense<> : tensor<0xf32>
  func.return
}

// -----

// Without groups all replicas are one group, as in HLO.
func.func @all_reduce(%a: tensor<i32>) -> tensor<i32> {
  %result = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    replica_groups = dense<> : tensor<0x0xi64>
  } : (tensor<i32>) -> tensor<i32>
  func.return %result : tensor<i32>
}

func.func @main() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.constant dense<10> : tensor<i32>
  %2 = stablehlo.constant dense<100> : tensor<i32>
  %results:3 = "interpreter.run_parallel"(%0, %1, %2) {programs = [[@all_reduce], [@all_reduce], [@all_reduce]]}
      : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %results#0, dense<111> : tensor<i32>
  check.expect_eq_const %results#1, dense<111> : tensor<i32>
  check.expect_eq_const %results#2, dense<111> : tensor<i32>
  func.return
}

// -----

// Quantized tensors: 1.0 + 0.0 and 2.0 + 3.0 of scale 0.5 and zero point 1.
func.func @all_reduce(%a: tensor<2xi8>) -> tensor<2xi8> {
  %quantized = stablehlo.bitcast_convert %a : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  %result = "stablehlo.all_reduce"(%quantized) ({
  ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5:1>>, %y: tensor<!quant.uniform<i8:f32, 0.5:1>>):
    %s = stablehlo.add %x, %y : tensor<!quant.uniform<i8:f32, 0.5:1>>
    stablehlo.return %s : tensor<!quant.uniform<i8:f32, 0.5:1>>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  %stored = stablehlo.bitcast_convert %result : (tensor<2x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2xi8>
  func.return %stored : tensor<2xi8>
}
func.func @main() {
  %0 = stablehlo.constant dense<[3, 5]> : tensor<2xi8>
  %1 = stablehlo.constant dense<[1, 7]> : tensor<2xi8>
  %results:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@all_reduce], [@all_reduce]]}
      : (tensor<2xi8>, tensor<2xi8>) -> (tensor<2xi8>, tensor<2xi8>)
  check.expect_eq_const %results#0, dense<[3, 11]> : tensor<2xi8>
  check.expect_eq_const %results#1, dense<[3, 11]> : tensor<2xi8>
  func.return
}

// -----

func.func @no_operands() {
  "stablehlo.all_reduce"() <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
    %0 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : () -> ()
  func.return
}
