// function: @f
// operand: %a: !torch.int
// operand: %b: !torch.int
// operand: %c: !torch.bool
// result: %t3: !torch.int
// dialect: torch
func.func @f(%n: !torch.int, %init: !torch.int, %c: !torch.bool) -> !torch.int {
  %true = torch.constant.bool true
  %0 = torch.prim.Loop %n, %true, init(%init) {
  ^bb0(%i: !torch.int, %acc: !torch.int):
    %1 = torch.aten.add.int %i, %acc : !torch.int, !torch.int -> !torch.int
    torch.prim.Loop.condition %true, iter(%1 : !torch.int)
  } : (!torch.int, !torch.bool, !torch.int) -> !torch.int
  %2 = torch.prim.If %c -> (!torch.int) {
    torch.prim.If.yield %0 : !torch.int
  } else {
    torch.prim.If.yield %init : !torch.int
  }
  return %2 : !torch.int
}

// ----- inlined
%t0 = torch.constant.bool true
%t1 = torch.prim.Loop %a, %t0, init(%b) {
^bb0(%blk_arg0: !torch.int, %blk_arg1: !torch.int):
  %t2 = torch.aten.add.int %blk_arg0, %blk_arg1 : !torch.int, !torch.int -> !torch.int
  torch.prim.Loop.condition %t0, iter(%t2 : !torch.int)
} : (!torch.int, !torch.bool, !torch.int) -> !torch.int
%t3 = torch.prim.If %c -> (!torch.int) {
  torch.prim.If.yield %t1 : !torch.int
} else {
  torch.prim.If.yield %b : !torch.int
}
