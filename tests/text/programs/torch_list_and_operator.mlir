// function: @forward
// operand: %x: !torch.vtensor<[2,3],f32>
// operand: %y: !torch.vtensor<[3],f32>
// result: %t5: !torch.vtensor<[2,3],f32>
// dialect: torch
module attributes {torch.debug_module_name = "M"} {
  func.func @forward(%arg0: !torch.vtensor<[2,3],f32>, %arg1: !torch.vtensor<[3],f32>) -> !torch.vtensor<[2,3],f32> {
    %int1 = torch.constant.int 1
    %none = torch.constant.none
    %false = torch.constant.bool false
    %0 = torch.prim.ListConstruct %int1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
    %1 = torch.aten.add.Tensor %arg0, %arg1, %int1 : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[2,3],f32>
    %2 = torch.operator "torch.my.op"(%1, %none) : (!torch.vtensor<[2,3],f32>, !torch.none) -> !torch.vtensor<[2,3],f32>
    return %2 : !torch.vtensor<[2,3],f32>
  }
}

// ----- inlined
%t0 = torch.constant.int 1
%t1 = torch.constant.none
%t2 = torch.constant.bool false
%t3 = torch.prim.ListConstruct %t0, %t0 : (!torch.int, !torch.int) -> !torch.list<int>
%t4 = torch.aten.add.Tensor %x, %y, %t0 : !torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32>, !torch.int -> !torch.vtensor<[2,3],f32>
%t5 = torch.operator "torch.my.op"(%t4, %t1) : (!torch.vtensor<[2,3],f32>, !torch.none) -> !torch.vtensor<[2,3],f32>
