// By export_dynamic_batch.py with torch-mlir 20261001: @main runs the exported function and checks it.
module {
  func.func public @main() {
    %x2 = stablehlo.constant dense<"0x3A79863E78E0F6BDE44AC1BE14B053BEA08E5CBDF4EF1ABE84AA023E70DF0ABED2C1FE3E607E403E88B780BE646E8EBE"> : tensor<2x6xf32>
    %expected2 = stablehlo.constant dense<"0x6E97603ECFC0763E40BC8F3E9F97843E9812463E6DA6243E77E0BE3E04C38B3E"> : tensor<2x4xf32>
    %dynamic2 = tensor.cast %x2 : tensor<2x6xf32> to tensor<?x6xf32>
    %result2 = call @forward(%dynamic2) : (tensor<?x6xf32>) -> tensor<?x4xf32>
    %static2 = tensor.cast %result2 : tensor<?x4xf32> to tensor<2x4xf32>
    check.expect_almost_eq %static2, %expected2, tolerance = 2.0e-06 : tensor<2x4xf32>
    %x5 = stablehlo.constant dense<"0xD8E855BEF4CD9B3E18653FBE8032B03CCC8AC43EB81814BE100913BD0E9384BE8C2DD83E701E2F3EE02C7ABDEC9066BEDE4CD03E4466893E6C371D3E38B2853E98AFD83EDC683C3E2414E0BE486336BE90E635BE9C1FFF3E54237D3E824390BEB02D533E501D75BE02DEEC3E504011BE447A293EB60CAA3E"> : tensor<5x6xf32>
    %expected5 = stablehlo.constant dense<"0xB8D4943EFC221E3ECD0DAF3EFA175A3E1CC2513EEF14213EB8F5CE3E843D6F3E6E29753EC223353E4B6B9E3E1C6E8C3EF691BA3EF1CA513EA4E88B3ED93F213E0A792E3E7D443D3EFA0AD33E842C6E3E"> : tensor<5x4xf32>
    %dynamic5 = tensor.cast %x5 : tensor<5x6xf32> to tensor<?x6xf32>
    %result5 = call @forward(%dynamic5) : (tensor<?x6xf32>) -> tensor<?x4xf32>
    %static5 = tensor.cast %result5 : tensor<?x4xf32> to tensor<5x4xf32>
    check.expect_almost_eq %static5, %expected5, tolerance = 2.0e-06 : tensor<5x4xf32>
    return
  }
  func.func private @forward(%arg0: tensor<?x6xf32>) -> tensor<?x4xf32> {
    %cst = stablehlo.constant dense_resource<torch_tensor_4_torch.float32> : tensor<4xf32>
    %cst_0 = stablehlo.constant dense_resource<torch_tensor_4_10_torch.float32> : tensor<4x10xf32>
    %cst_1 = stablehlo.constant dense_resource<torch_tensor_10_torch.float32_2> : tensor<10xf32>
    %cst_2 = stablehlo.constant dense_resource<torch_tensor_10_torch.float32_1> : tensor<10xf32>
    %cst_3 = stablehlo.constant dense_resource<torch_tensor_10_torch.float32> : tensor<10xf32>
    %cst_4 = stablehlo.constant dense_resource<torch_tensor_10_6_torch.float32> : tensor<10x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_8 = arith.constant dense<1> : tensor<1xi64>
    %0 = shape.const_shape [10] : tensor<1xindex>
    %cst_9 = arith.constant dense<10> : tensor<1xi64>
    %cst_10 = arith.constant dense<1.000000e-05> : tensor<1xf64>
    %1 = shape.const_shape [4] : tensor<1xindex>
    %2 = stablehlo.transpose %cst_4, dims = [1, 0] : (tensor<10x6xf32>) -> tensor<6x10xf32>
    %3 = stablehlo.dot_general %arg0, %2, contracting_dims = [1] x [0] : (tensor<?x6xf32>, tensor<6x10xf32>) -> tensor<?x10xf32>
    %4 = stablehlo.convert %cst_8 : (tensor<1xi64>) -> tensor<1xf32>
    %5 = stablehlo.reshape %4 : (tensor<1xf32>) -> tensor<f32>
    %6 = shape.shape_of %3 : tensor<?x10xf32> -> tensor<2xindex>
    %7 = stablehlo.dynamic_broadcast_in_dim %3, %6, dims = [0, 1] : (tensor<?x10xf32>, tensor<2xindex>) -> tensor<?x10xf32>
    %8 = stablehlo.dynamic_broadcast_in_dim %5, %6, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x10xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<?x10xf32>
    %10 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %11 = stablehlo.multiply %10, %cst_3 : tensor<10xf32>
    %12 = shape.shape_of %9 : tensor<?x10xf32> -> tensor<2xindex>
    %13 = shape.broadcast %12, %0 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %14 = stablehlo.dynamic_broadcast_in_dim %9, %13, dims = [0, 1] : (tensor<?x10xf32>, tensor<2xindex>) -> tensor<?x10xf32>
    %15 = stablehlo.dynamic_broadcast_in_dim %11, %13, dims = [1] : (tensor<10xf32>, tensor<2xindex>) -> tensor<?x10xf32>
    %16 = stablehlo.add %14, %15 : tensor<?x10xf32>
    %17 = stablehlo.convert %16 : (tensor<?x10xf32>) -> tensor<?x10xf64>
    %18 = stablehlo.reduce(%17 init: %cst_5) applies stablehlo.add across dimensions = [1] : (tensor<?x10xf64>, tensor<f64>) -> tensor<?xf64>
    %dim = tensor.dim %17, %c0 : tensor<?x10xf64>
    %from_elements = tensor.from_elements %dim, %c1 : tensor<2xindex>
    %19 = stablehlo.dynamic_reshape %18, %from_elements : (tensor<?xf64>, tensor<2xindex>) -> tensor<?x1xf64>
    %20 = stablehlo.convert %cst_9 : (tensor<1xi64>) -> tensor<1xf64>
    %21 = stablehlo.reshape %20 : (tensor<1xf64>) -> tensor<f64>
    %22 = shape.shape_of %19 : tensor<?x1xf64> -> tensor<2xindex>
    %23 = stablehlo.dynamic_broadcast_in_dim %19, %22, dims = [0, 1] : (tensor<?x1xf64>, tensor<2xindex>) -> tensor<?x1xf64>
    %24 = stablehlo.dynamic_broadcast_in_dim %21, %22, dims = [] : (tensor<f64>, tensor<2xindex>) -> tensor<?x1xf64>
    %25 = stablehlo.divide %23, %24 : tensor<?x1xf64>
    %26 = shape.shape_of %17 : tensor<?x10xf64> -> tensor<2xindex>
    %27 = shape.shape_of %25 : tensor<?x1xf64> -> tensor<2xindex>
    %28 = shape.cstr_broadcastable %26, %27 : tensor<2xindex>, tensor<2xindex>
    %29 = shape.assuming %28 -> (tensor<?x10xf64>) {
      %104 = shape.broadcast %26, %27 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %105 = stablehlo.dynamic_broadcast_in_dim %17, %104, dims = [0, 1] : (tensor<?x10xf64>, tensor<2xindex>) -> tensor<?x10xf64>
      %106 = stablehlo.dynamic_broadcast_in_dim %25, %104, dims = [0, 1] : (tensor<?x1xf64>, tensor<2xindex>) -> tensor<?x10xf64>
      %107 = stablehlo.subtract %105, %106 : tensor<?x10xf64>
      shape.assuming_yield %107 : tensor<?x10xf64>
    }
    %30 = shape.shape_of %29 : tensor<?x10xf64> -> tensor<2xindex>
    %31 = stablehlo.dynamic_broadcast_in_dim %29, %30, dims = [0, 1] : (tensor<?x10xf64>, tensor<2xindex>) -> tensor<?x10xf64>
    %32 = stablehlo.multiply %31, %31 : tensor<?x10xf64>
    %33 = stablehlo.reduce(%32 init: %cst_5) applies stablehlo.add across dimensions = [1] : (tensor<?x10xf64>, tensor<f64>) -> tensor<?xf64>
    %dim_11 = tensor.dim %32, %c0 : tensor<?x10xf64>
    %from_elements_12 = tensor.from_elements %dim_11, %c1 : tensor<2xindex>
    %34 = stablehlo.dynamic_reshape %33, %from_elements_12 : (tensor<?xf64>, tensor<2xindex>) -> tensor<?x1xf64>
    %35 = shape.shape_of %34 : tensor<?x1xf64> -> tensor<2xindex>
    %36 = stablehlo.dynamic_broadcast_in_dim %34, %35, dims = [0, 1] : (tensor<?x1xf64>, tensor<2xindex>) -> tensor<?x1xf64>
    %37 = stablehlo.dynamic_broadcast_in_dim %21, %35, dims = [] : (tensor<f64>, tensor<2xindex>) -> tensor<?x1xf64>
    %38 = stablehlo.divide %36, %37 : tensor<?x1xf64>
    %39 = stablehlo.convert %38 : (tensor<?x1xf64>) -> tensor<?x1xf32>
    %40 = stablehlo.reduce(%16 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<?x10xf32>, tensor<f32>) -> tensor<?xf32>
    %dim_13 = tensor.dim %16, %c0 : tensor<?x10xf32>
    %from_elements_14 = tensor.from_elements %dim_13, %c1 : tensor<2xindex>
    %41 = stablehlo.dynamic_reshape %40, %from_elements_14 : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %42 = stablehlo.convert %cst_9 : (tensor<1xi64>) -> tensor<1xf32>
    %43 = stablehlo.reshape %42 : (tensor<1xf32>) -> tensor<f32>
    %44 = shape.shape_of %41 : tensor<?x1xf32> -> tensor<2xindex>
    %45 = stablehlo.dynamic_broadcast_in_dim %41, %44, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %46 = stablehlo.dynamic_broadcast_in_dim %43, %44, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x1xf32>
    %47 = stablehlo.divide %45, %46 : tensor<?x1xf32>
    %48 = stablehlo.convert %cst_10 : (tensor<1xf64>) -> tensor<1xf32>
    %49 = stablehlo.reshape %48 : (tensor<1xf32>) -> tensor<f32>
    %50 = shape.shape_of %39 : tensor<?x1xf32> -> tensor<2xindex>
    %51 = stablehlo.dynamic_broadcast_in_dim %39, %50, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %52 = stablehlo.dynamic_broadcast_in_dim %49, %50, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x1xf32>
    %53 = stablehlo.add %51, %52 : tensor<?x1xf32>
    %54 = stablehlo.rsqrt %53 : tensor<?x1xf32>
    %55 = shape.shape_of %16 : tensor<?x10xf32> -> tensor<2xindex>
    %56 = shape.shape_of %47 : tensor<?x1xf32> -> tensor<2xindex>
    %57 = shape.cstr_broadcastable %55, %56 : tensor<2xindex>, tensor<2xindex>
    %58 = shape.assuming %57 -> (tensor<?x10xf32>) {
      %104 = shape.broadcast %55, %56 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %105 = stablehlo.dynamic_broadcast_in_dim %16, %104, dims = [0, 1] : (tensor<?x10xf32>, tensor<2xindex>) -> tensor<?x10xf32>
      %106 = stablehlo.dynamic_broadcast_in_dim %47, %104, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x10xf32>
      %107 = stablehlo.subtract %105, %106 : tensor<?x10xf32>
      shape.assuming_yield %107 : tensor<?x10xf32>
    }
    %59 = shape.shape_of %58 : tensor<?x10xf32> -> tensor<2xindex>
    %60 = shape.shape_of %54 : tensor<?x1xf32> -> tensor<2xindex>
    %61 = shape.cstr_broadcastable %59, %60 : tensor<2xindex>, tensor<2xindex>
    %62 = shape.assuming %61 -> (tensor<?x10xf32>) {
      %104 = shape.broadcast %59, %60 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %105 = stablehlo.dynamic_broadcast_in_dim %58, %104, dims = [0, 1] : (tensor<?x10xf32>, tensor<2xindex>) -> tensor<?x10xf32>
      %106 = stablehlo.dynamic_broadcast_in_dim %54, %104, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x10xf32>
      %107 = stablehlo.multiply %105, %106 : tensor<?x10xf32>
      shape.assuming_yield %107 : tensor<?x10xf32>
    }
    %63 = shape.shape_of %62 : tensor<?x10xf32> -> tensor<2xindex>
    %64 = shape.broadcast %63, %0 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %65 = stablehlo.dynamic_broadcast_in_dim %62, %64, dims = [0, 1] : (tensor<?x10xf32>, tensor<2xindex>) -> tensor<?x10xf32>
    %66 = stablehlo.dynamic_broadcast_in_dim %cst_2, %64, dims = [1] : (tensor<10xf32>, tensor<2xindex>) -> tensor<?x10xf32>
    %67 = stablehlo.multiply %65, %66 : tensor<?x10xf32>
    %68 = shape.shape_of %67 : tensor<?x10xf32> -> tensor<2xindex>
    %69 = shape.broadcast %68, %0 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %70 = stablehlo.dynamic_broadcast_in_dim %67, %69, dims = [0, 1] : (tensor<?x10xf32>, tensor<2xindex>) -> tensor<?x10xf32>
    %71 = stablehlo.dynamic_broadcast_in_dim %cst_1, %69, dims = [1] : (tensor<10xf32>, tensor<2xindex>) -> tensor<?x10xf32>
    %72 = stablehlo.add %70, %71 : tensor<?x10xf32>
    %73 = stablehlo.logistic %72 : tensor<?x10xf32>
    %74 = shape.shape_of %72 : tensor<?x10xf32> -> tensor<2xindex>
    %75 = shape.shape_of %73 : tensor<?x10xf32> -> tensor<2xindex>
    %76 = shape.cstr_broadcastable %74, %75 : tensor<2xindex>, tensor<2xindex>
    %77 = shape.assuming %76 -> (tensor<?x10xf32>) {
      %104 = shape.broadcast %74, %75 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %105 = stablehlo.dynamic_broadcast_in_dim %72, %104, dims = [0, 1] : (tensor<?x10xf32>, tensor<2xindex>) -> tensor<?x10xf32>
      %106 = stablehlo.dynamic_broadcast_in_dim %73, %104, dims = [0, 1] : (tensor<?x10xf32>, tensor<2xindex>) -> tensor<?x10xf32>
      %107 = stablehlo.multiply %105, %106 : tensor<?x10xf32>
      shape.assuming_yield %107 : tensor<?x10xf32>
    }
    %78 = stablehlo.transpose %cst_0, dims = [1, 0] : (tensor<4x10xf32>) -> tensor<10x4xf32>
    %79 = stablehlo.dot_general %77, %78, contracting_dims = [1] x [0] : (tensor<?x10xf32>, tensor<10x4xf32>) -> tensor<?x4xf32>
    %80 = shape.shape_of %79 : tensor<?x4xf32> -> tensor<2xindex>
    %81 = stablehlo.dynamic_broadcast_in_dim %79, %80, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
    %82 = stablehlo.dynamic_broadcast_in_dim %5, %80, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x4xf32>
    %83 = stablehlo.multiply %81, %82 : tensor<?x4xf32>
    %84 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %85 = stablehlo.multiply %84, %cst : tensor<4xf32>
    %86 = shape.shape_of %83 : tensor<?x4xf32> -> tensor<2xindex>
    %87 = shape.broadcast %86, %1 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %88 = stablehlo.dynamic_broadcast_in_dim %83, %87, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
    %89 = stablehlo.dynamic_broadcast_in_dim %85, %87, dims = [1] : (tensor<4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
    %90 = stablehlo.add %88, %89 : tensor<?x4xf32>
    %dim_15 = tensor.dim %90, %c0 : tensor<?x4xf32>
    %91 = stablehlo.reduce(%90 init: %cst_7) applies stablehlo.maximum across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
    %from_elements_16 = tensor.from_elements %dim_15, %c1 : tensor<2xindex>
    %92 = stablehlo.dynamic_reshape %91, %from_elements_16 : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %93 = shape.shape_of %90 : tensor<?x4xf32> -> tensor<2xindex>
    %94 = shape.shape_of %92 : tensor<?x1xf32> -> tensor<2xindex>
    %95 = shape.cstr_broadcastable %93, %94 : tensor<2xindex>, tensor<2xindex>
    %96 = shape.assuming %95 -> (tensor<?x4xf32>) {
      %104 = shape.broadcast %93, %94 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %105 = stablehlo.dynamic_broadcast_in_dim %90, %104, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
      %106 = stablehlo.dynamic_broadcast_in_dim %92, %104, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x4xf32>
      %107 = stablehlo.subtract %105, %106 : tensor<?x4xf32>
      shape.assuming_yield %107 : tensor<?x4xf32>
    }
    %97 = stablehlo.exponential %96 : tensor<?x4xf32>
    %98 = stablehlo.reduce(%97 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
    %dim_17 = tensor.dim %97, %c0 : tensor<?x4xf32>
    %from_elements_18 = tensor.from_elements %dim_17, %c1 : tensor<2xindex>
    %99 = stablehlo.dynamic_reshape %98, %from_elements_18 : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %100 = shape.shape_of %97 : tensor<?x4xf32> -> tensor<2xindex>
    %101 = shape.shape_of %99 : tensor<?x1xf32> -> tensor<2xindex>
    %102 = shape.cstr_broadcastable %100, %101 : tensor<2xindex>, tensor<2xindex>
    %103 = shape.assuming %102 -> (tensor<?x4xf32>) {
      %104 = shape.broadcast %100, %101 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %105 = stablehlo.dynamic_broadcast_in_dim %97, %104, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
      %106 = stablehlo.dynamic_broadcast_in_dim %99, %104, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x4xf32>
      %107 = stablehlo.divide %105, %106 : tensor<?x4xf32>
      shape.assuming_yield %107 : tensor<?x4xf32>
    }
    return %103 : tensor<?x4xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_4_torch.float32: "0x04000000CE0F84BEE7A4433E577765BD8D76FCBD",
      torch_tensor_4_10_torch.float32: "0x040000003A7DB13D2B1A26BE726F953E40EE2B3E26698DBE5228DBBD24598B3E54E1E7BD313C97BE13AD4C3EC5AF7EBE3A1696BDB4A9B2BDC8AC2BBEB11E963ED8BD2F3EEFAC0DBEF9E98EBCE706DFBD1381A0BDE885FC3D05B21BBD1B9FD53DA54B49BDF7F87CBE2AFE9F3E148E9C3E397C20BE6315C8BD02F63BBEE6E8323EA3CB1F3E799BD93D54BFC9BD69446C3CF9C8513E6FA8B53D042C993E403A083EA7506CBE",
      torch_tensor_10_torch.float32_2: "0x0400000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
      torch_tensor_10_torch.float32_1: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F",
      torch_tensor_10_torch.float32: "0x040000006E09CD3DA486863E3ECE643CECEA243EFC0752BD2B34D63DE07E943EB5E59FBD572A01BEC79C01BE",
      torch_tensor_10_6_torch.float32: "0x040000009274713DFC2D343D7784CB3E3FA5B43D27DA5DBE71F629BDE7C2113E6E5B4F3EF706493D390D8BBE0D5A0BBE54C3EBBC1ACFDE3D501D613E0E896EBE405B6B3E0957983E77DEAF3DF0C9E1BD47084EBED9608CBE382A35BE8DEEBEBDA8858B3E032FC43DB90AB4BD478382BE7A138D3E2CB671BE554770BDDF670ABBFFCCC2BE5867A03ED16FA9BE1BA3693E57B5243EEEB712BE52EC58BEE7DD9F3E04302BBE723ABA3E0075B33AB2F4C43EAE94913E835BF1BDF9CF8BBD2B71863C9DF1843E275BFC3C18B135BE6BE086BC15F13BBDDE34BE3E8C68373E17188FBE59E28DBE42B95EBEFC046A3E9017043D8B3CF8BD"
    }
  }
#-}
