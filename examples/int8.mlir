// By export_int8.py with JAX 0.10.2: @main runs the exported function and checks it.
!up = tensor<16x24xi8>
!down = tensor<24x10xi8>
!x = tensor<4x16xf32>
!hidden = tensor<4x24xf32>
!result = tensor<4x10xi8>
!up_q = tensor<16x24x!quant.uniform<i8:f32, 0.0078125>>
!down_q = tensor<24x10x!quant.uniform<i8:f32, 0.01>>
!x_q = tensor<4x16x!quant.uniform<i8:f32, 0.03125>>
!sums1_q = tensor<4x24x!quant.uniform<i32:f32, 0.000244140625>>
!hidden_q = tensor<4x24x!quant.uniform<i8:f32, 0.02>>
!sums2_q = tensor<4x10x!quant.uniform<i32:f32, 0.0002>>
!logits_q = tensor<4x10x!quant.uniform<i8:f32, 0.125>>
#loc = loc(unknown)
#loc1 = loc("up")
#loc2 = loc("down")
#loc3 = loc("x")
module @jit_int8 attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> tensor<4x10xi8> {
    %up = stablehlo.constant dense<[[40, 101, 56, 43, 110, 43, -108, 78, 117, 25, 76, -123, -91, -75, 85, 78, 64, 45, -122, -8, -65, -32, 108, 3], [-10, -124, -41, 33, -4, -57, -86, -55, 109, -112, 66, 122, -118, -25, 78, -115, 15, -126, -90, -57, 5, -10, -92, -30], [68, -93, -71, 18, -78, 51, 17, -24, 78, -75, 13, -95, 53, -89, 23, -117, 52, 10, -62, 37, -30, -5, -116, 16], [56, -104, -90, 1, -127, 74, 127, -43, -74, 100, -80, -1, 41, -127, 39, -19, 119, -112, 64, -50, 92, -120, -68, 61], [53, -64, -56, -120, 57, -40, -17, 63, 10, -29, -61, -80, -60, -28, 121, -61, -88, -1, -83, -95, -77, 78, 101, 89], [-43, -75, 76, -8, 6, -97, 88, -114, -1, 32, -99, 80, 33, -12, -28, -45, 23, 70, 32, 45, 65, -74, -2, -2], [-71, -10, 42, -21, 3, -69, 45, -76, 11, 53, 41, -65, 68, 16, -113, 10, 9, 7, 117, -113, 12, -69, 14, 124], [12, -52, 103, -77, 90, -3, -59, 23, -11, 12, -36, 61, 81, -80, 97, -57, 89, 88, -81, -4, -37, -16, -112, -83], [-40, 56, -33, -56, 87, 94, 45, -92, 18, -53, -97, 62, -98, 62, 94, 62, -53, -49, -41, 127, 11, -79, -70, 5], [-119, -31, 11, 7, -104, -68, 101, -76, -21, -55, 98, 66, -77, -56, 95, -54, 61, -12, -50, -36, 11, 61, -124, 56], [-35, -76, 71, 115, -19, -98, 53, 77, 66, -34, 69, -39, 31, -50, -19, -81, 49, -119, 122, -11, 92, 0, -113, 45], [76, -43, -12, -23, 73, -17, 20, 107, -23, 110, 59, -32, -120, -76, -110, 53, -87, 7, 111, -16, -81, -45, 98, 107], [2, -53, 64, -96, -28, 78, 105, -37, -71, -89, -122, -127, -125, -47, -54, 78, -24, -98, 2, -28, -89, -90, 48, 3], [112, -57, 10, 46, 81, 50, 60, -114, -35, 20, -61, 73, 83, -14, 41, 0, -25, -85, -23, -52, 7, 76, 86, 83], [62, 76, -7, 78, -54, -68, -120, 82, -56, -113, -72, -24, 93, -47, 114, 21, -32, -91, 21, 103, 68, 76, -115, -64], [-127, 5, 49, -73, 79, 1, -93, -74, -30, -54, 12, -14, 34, 1, 84, -25, 43, 119, 104, -73, -9, -68, 62, 105]]> : tensor<16x24xi8>
    %down = stablehlo.constant dense<[[-48, 38, 56, -125, -117, 1, -43, -48, 115, 66], [103, 110, -20, -102, -117, 95, 85, 45, 120, -107], [3, -13, 81, 87, -13, -97, -51, 88, -100, -98], [-118, -12, 30, -18, -83, -34, 38, -55, 122, 122], [121, -67, -10, 115, 23, -69, -34, 45, 99, 59], [-64, -26, 25, 3, 80, -75, 62, 42, 58, 111], [124, -40, 79, -60, 47, -4, -32, 14, -113, 20], [53, 44, -59, 2, -7, -67, 108, -50, 46, -48], [1, 79, 77, 61, 13, 4, 9, -78, 106, 77], [36, 44, 35, -60, 80, 113, 34, -110, -88, 47], [-52, 56, -20, 37, -7, -79, 61, -10, -100, 111], [71, 119, -56, 48, 77, -72, -117, 17, -104, -37], [-78, 39, -108, 36, 6, 26, 30, 39, 27, -73], [-22, -101, -104, 85, 10, -87, 31, -6, -75, 49], [87, -106, -72, 87, 21, 53, 40, 34, 31, 117], [121, 110, 119, -97, -29, -32, 5, 46, -24, -44], [39, -122, -20, 76, -110, 81, 4, -118, -46, 39], [43, -79, -45, 61, -31, -79, 9, -99, 117, -29], [-112, -66, -86, -88, -87, -27, -59, 76, 93, 56], [55, 88, -7, 85, -26, -31, -46, -17, 2, -121], [-64, -111, 24, 54, -77, -46, 21, -101, 1, 119], [77, 28, 100, 113, 75, -85, 30, -16, 101, 112], [-37, -43, -13, 45, -5, 6, 94, 125, 13, 47], [111, 29, 86, 88, -62, 57, 67, -124, -64, -32]]> : tensor<24x10xi8>
    %x = stablehlo.constant dense<"0xADBBB1BFE8FF593FD3FBB13F284ACABEB71C5A3E4D09A8BD87C3EA3F851B3BBFE887C8BE7187FFBF4A76A3BE3097063F38B3DE3F23ECD83F36CB30BFFE4BFA3F12E99FBF4A81A53FAF7BAFBFA35BC2BEB561DABFE150B73F3958A83F896DB8BF670EDE3DC1A977BF37BF06BD8AEE593E0598C9BF6F8FBA3F6F9D62BF379558BE00AFE2BF2E98FEBF0D149CBFE71F22BFAF31DB3F778AC73F55BC9FBDC54D39BE39002B3FB9AEB73F7C9B26BFE359963FC5DFCEBE529FC03E8B2A733F39E4B13BB95A433F8C0C4A3F3A13FDBF9AFFEBBF40B1B3BF6A9E92BF41F497BFFCEDE6BFABC990BF7FBDCE3EA5ABC53FAD1B1ABF2ECD08BF4F83AABE84AB383F6D0F923F"> : tensor<4x16xf32>
    %expected = stablehlo.constant dense<[[-1, -31, -9, 24, -20, -15, 23, 30, 27, 36], [-28, -25, -31, 31, -14, -33, 12, -23, -24, 82], [78, 0, 13, 40, -1, -38, 6, -9, -2, 18], [4, 27, 5, 42, -46, -86, 59, 0, 50, 61]]> : tensor<4x10xi8>
    %int8 = call @int8(%up, %down, %x) : (tensor<16x24xi8>, tensor<24x10xi8>, tensor<4x16xf32>) -> tensor<4x10xi8>
    %quantized = call @quantized(%up, %down, %x) : (tensor<16x24xi8>, tensor<24x10xi8>, tensor<4x16xf32>) -> tensor<4x10xi8>
    check.expect_eq %int8, %expected : tensor<4x10xi8>
    check.expect_eq %quantized, %expected : tensor<4x10xi8>
    return %int8 : tensor<4x10xi8>
  }
  func.func private @quantized(%up: !up, %down: !down, %x: !x) -> !result {
    %up_q = stablehlo.bitcast_convert %up : (!up) -> !up_q
    %down_q = stablehlo.bitcast_convert %down : (!down) -> !down_q
    %x_q = stablehlo.uniform_quantize %x : (!x) -> !x_q
    %sums1 = stablehlo.dot_general %x_q, %up_q, contracting_dims = [1] x [0] : (!x_q, !up_q) -> !sums1_q
    %hidden = stablehlo.uniform_quantize %sums1 : (!sums1_q) -> !hidden_q
    %zeros = stablehlo.constant dense<0.0> : !hidden
    %zeros_q = stablehlo.uniform_quantize %zeros : (!hidden) -> !hidden_q
    %relu = stablehlo.maximum %hidden, %zeros_q : !hidden_q
    %sums2 = stablehlo.dot_general %relu, %down_q, contracting_dims = [1] x [0] : (!hidden_q, !down_q) -> !sums2_q
    %logits = stablehlo.uniform_quantize %sums2 : (!sums2_q) -> !logits_q
    %stored = stablehlo.bitcast_convert %logits : (!logits_q) -> !result
    return %stored : !result
  }
  func.func private @int8(%arg0: tensor<16x24xi8> loc("up"), %arg1: tensor<24x10xi8> loc("down"), %arg2: tensor<4x16xf32> loc("x")) -> (tensor<4x10xi8> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.600000e-03> : tensor<f32> loc(#loc43)
    %c = stablehlo.constant dense<0> : tensor<i8> loc(#loc43)
    %cst_0 = stablehlo.constant dense<0.0122070313> : tensor<f32> loc(#loc43)
    %c_1 = stablehlo.constant dense<127> : tensor<i32> loc(#loc)
    %c_2 = stablehlo.constant dense<-128> : tensor<i32> loc(#loc)
    %cst_3 = stablehlo.constant dense<3.125000e-02> : tensor<f32> loc(#loc43)
    %0 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x16xf32> loc(#loc53)
    %1 = stablehlo.divide %arg2, %0 : tensor<4x16xf32> loc(#loc53)
    %2 = call @round(%1) : (tensor<4x16xf32>) -> tensor<4x16xf32> loc(#loc54)
    %3 = call @clip(%2, %c_2, %c_1) : (tensor<4x16xf32>, tensor<i32>, tensor<i32>) -> tensor<4x16xf32> loc(#loc55)
    %4 = stablehlo.convert %3 : (tensor<4x16xf32>) -> tensor<4x16xi8> loc(#loc56)
    %5 = stablehlo.dot_general %4, %arg0, contracting_dims = [1] x [0] : (tensor<4x16xi8>, tensor<16x24xi8>) -> tensor<4x24xi32> loc(#loc72)
    %6 = stablehlo.convert %5 : (tensor<4x24xi32>) -> tensor<4x24xf32> loc(#loc73)
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x24xf32> loc(#loc74)
    %8 = stablehlo.multiply %6, %7 : tensor<4x24xf32> loc(#loc74)
    %9 = call @round_0(%8) : (tensor<4x24xf32>) -> tensor<4x24xf32> loc(#loc75)
    %10 = call @clip_1(%9, %c_2, %c_1) : (tensor<4x24xf32>, tensor<i32>, tensor<i32>) -> tensor<4x24xf32> loc(#loc76)
    %11 = stablehlo.convert %10 : (tensor<4x24xf32>) -> tensor<4x24xi8> loc(#loc77)
    %12 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<4x24xi8> loc(#loc63)
    %13 = stablehlo.maximum %11, %12 : tensor<4x24xi8> loc(#loc63)
    %14 = stablehlo.dot_general %13, %arg1, contracting_dims = [1] x [0] : (tensor<4x24xi8>, tensor<24x10xi8>) -> tensor<4x10xi32> loc(#loc78)
    %15 = stablehlo.convert %14 : (tensor<4x10xi32>) -> tensor<4x10xf32> loc(#loc79)
    %16 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x10xf32> loc(#loc80)
    %17 = stablehlo.multiply %15, %16 : tensor<4x10xf32> loc(#loc80)
    %18 = call @round_2(%17) : (tensor<4x10xf32>) -> tensor<4x10xf32> loc(#loc81)
    %19 = call @clip_3(%18, %c_2, %c_1) : (tensor<4x10xf32>, tensor<i32>, tensor<i32>) -> tensor<4x10xf32> loc(#loc82)
    %20 = stablehlo.convert %19 : (tensor<4x10xf32>) -> tensor<4x10xi8> loc(#loc83)
    return %20 : tensor<4x10xi8> loc(#loc43)
  } loc(#loc)
  func.func private @round(%arg0: tensor<4x16xf32> loc(unknown)) -> tensor<4x16xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<4x16xf32> loc(#loc21)
    return %0 : tensor<4x16xf32> loc(#loc)
  } loc(#loc84)
  func.func private @clip(%arg0: tensor<4x16xf32> loc(unknown), %arg1: tensor<i32> loc(unknown), %arg2: tensor<i32> loc(unknown)) -> tensor<4x16xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32> loc(#loc22)
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x16xf32> loc(#loc23)
    %2 = stablehlo.maximum %1, %arg0 : tensor<4x16xf32> loc(#loc23)
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32> loc(#loc22)
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4x16xf32> loc(#loc24)
    %5 = stablehlo.minimum %4, %2 : tensor<4x16xf32> loc(#loc24)
    return %5 : tensor<4x16xf32> loc(#loc)
  } loc(#loc85)
  func.func private @round_0(%arg0: tensor<4x24xf32> loc(unknown)) -> tensor<4x24xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<4x24xf32> loc(#loc21)
    return %0 : tensor<4x24xf32> loc(#loc)
  } loc(#loc90)
  func.func private @clip_1(%arg0: tensor<4x24xf32> loc(unknown), %arg1: tensor<i32> loc(unknown), %arg2: tensor<i32> loc(unknown)) -> tensor<4x24xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32> loc(#loc22)
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x24xf32> loc(#loc23)
    %2 = stablehlo.maximum %1, %arg0 : tensor<4x24xf32> loc(#loc23)
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32> loc(#loc22)
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4x24xf32> loc(#loc24)
    %5 = stablehlo.minimum %4, %2 : tensor<4x24xf32> loc(#loc24)
    return %5 : tensor<4x24xf32> loc(#loc)
  } loc(#loc91)
  func.func private @round_2(%arg0: tensor<4x10xf32> loc(unknown)) -> tensor<4x10xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<4x10xf32> loc(#loc21)
    return %0 : tensor<4x10xf32> loc(#loc)
  } loc(#loc92)
  func.func private @clip_3(%arg0: tensor<4x10xf32> loc(unknown), %arg1: tensor<i32> loc(unknown), %arg2: tensor<i32> loc(unknown)) -> tensor<4x10xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32> loc(#loc22)
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x10xf32> loc(#loc23)
    %2 = stablehlo.maximum %1, %arg0 : tensor<4x10xf32> loc(#loc23)
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32> loc(#loc22)
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4x10xf32> loc(#loc24)
    %5 = stablehlo.minimum %4, %2 : tensor<4x10xf32> loc(#loc24)
    return %5 : tensor<4x10xf32> loc(#loc)
  } loc(#loc93)
} loc(#loc)
#loc4 = loc("export_int8.py":102:15 to :75)
#loc5 = loc("export_int8.py":109:4 to :10)
#loc6 = loc("export_int8.py":27:35 to :44)
#loc7 = loc("export_int8.py":27:25 to :45)
#loc8 = loc("export_int8.py":27:16 to :57)
#loc9 = loc("export_int8.py":27:16 to :74)
#loc10 = loc("export_int8.py":34:11 to :92)
#loc11 = loc("export_int8.py":28:36 to :58)
#loc12 = loc("export_int8.py":39:30 to :54)
#loc13 = loc("export_int8.py":28:25 to :80)
#loc14 = loc("export_int8.py":39:30 to :62)
#loc15 = loc("export_int8.py":39:20 to :63)
#loc16 = loc("export_int8.py":39:11 to :75)
#loc17 = loc("export_int8.py":39:11 to :92)
#loc18 = loc("export_int8.py":28:13 to :84)
#loc19 = loc("export_int8.py":29:22 to :43)
#loc20 = loc("export_int8.py":29:11 to :68)
#loc21 = loc("round")
#loc22 = loc("convert_element_type")
#loc23 = loc("max")
#loc24 = loc("min")
#loc25 = loc("main"(#loc4))
#loc26 = loc("<module>"(#loc5))
#loc27 = loc("int8"(#loc6))
#loc28 = loc("int8"(#loc7))
#loc29 = loc("int8"(#loc8))
#loc30 = loc("int8"(#loc9))
#loc31 = loc("product"(#loc10))
#loc32 = loc("int8"(#loc11))
#loc33 = loc("requantize"(#loc12))
#loc34 = loc("int8"(#loc13))
#loc35 = loc("requantize"(#loc14))
#loc36 = loc("requantize"(#loc15))
#loc37 = loc("requantize"(#loc16))
#loc38 = loc("requantize"(#loc17))
#loc39 = loc("int8"(#loc18))
#loc40 = loc("int8"(#loc19))
#loc41 = loc("int8"(#loc20))
#loc42 = loc(callsite(#loc25 at #loc26))
#loc43 = loc("jit(int8)"(#loc42))
#loc44 = loc(callsite(#loc27 at #loc42))
#loc45 = loc(callsite(#loc28 at #loc42))
#loc46 = loc(callsite(#loc29 at #loc42))
#loc47 = loc(callsite(#loc30 at #loc42))
#loc48 = loc(callsite(#loc32 at #loc42))
#loc49 = loc(callsite(#loc34 at #loc42))
#loc50 = loc(callsite(#loc39 at #loc42))
#loc51 = loc(callsite(#loc40 at #loc42))
#loc52 = loc(callsite(#loc41 at #loc42))
#loc53 = loc("jit(int8)/div"(#loc44))
#loc54 = loc("jit(int8)/jit(round)"(#loc45))
#loc55 = loc("jit(int8)/jit(clip)"(#loc46))
#loc56 = loc("jit(int8)/convert_element_type"(#loc47))
#loc57 = loc(callsite(#loc31 at #loc48))
#loc58 = loc(callsite(#loc33 at #loc49))
#loc59 = loc(callsite(#loc35 at #loc49))
#loc60 = loc(callsite(#loc36 at #loc49))
#loc61 = loc(callsite(#loc37 at #loc49))
#loc62 = loc(callsite(#loc38 at #loc49))
#loc63 = loc("jit(int8)/max"(#loc50))
#loc64 = loc(callsite(#loc31 at #loc51))
#loc65 = loc(callsite(#loc33 at #loc52))
#loc66 = loc(callsite(#loc35 at #loc52))
#loc67 = loc(callsite(#loc36 at #loc52))
#loc68 = loc(callsite(#loc37 at #loc52))
#loc69 = loc(callsite(#loc38 at #loc52))
#loc70 = loc("jit(int8)/jit"(#loc45))
#loc71 = loc("jit(int8)/jit"(#loc46))
#loc72 = loc("jit(int8)/dot_general"(#loc57))
#loc73 = loc("jit(int8)/convert_element_type"(#loc58))
#loc74 = loc("jit(int8)/mul"(#loc59))
#loc75 = loc("jit(int8)/jit(round)"(#loc60))
#loc76 = loc("jit(int8)/jit(clip)"(#loc61))
#loc77 = loc("jit(int8)/convert_element_type"(#loc62))
#loc78 = loc("jit(int8)/dot_general"(#loc64))
#loc79 = loc("jit(int8)/convert_element_type"(#loc65))
#loc80 = loc("jit(int8)/mul"(#loc66))
#loc81 = loc("jit(int8)/jit(round)"(#loc67))
#loc82 = loc("jit(int8)/jit(clip)"(#loc68))
#loc83 = loc("jit(int8)/convert_element_type"(#loc69))
#loc84 = loc("jit:"(#loc70))
#loc85 = loc("jit:"(#loc71))
#loc86 = loc("jit(int8)/jit"(#loc60))
#loc87 = loc("jit(int8)/jit"(#loc61))
#loc88 = loc("jit(int8)/jit"(#loc67))
#loc89 = loc("jit(int8)/jit"(#loc68))
#loc90 = loc("jit:"(#loc86))
#loc91 = loc("jit:"(#loc87))
#loc92 = loc("jit:"(#loc88))
#loc93 = loc("jit:"(#loc89))
