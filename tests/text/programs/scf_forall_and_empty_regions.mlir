// function: @f
// operand: %x: index
// operand: %y: tensor<8xf32>
// result: %t0: tensor<8xf32>
// dialect: scf
// dialect: tensor
func.func @f(%n: index, %out: tensor<8xf32>) -> tensor<8xf32> {
  scf.forall (%k) in (%n) {
  }
  scf.parallel (%k) = (%n) to (%n) step (%n) { scf.reduce }
  %0 = scf.forall (%i, %j) in (%n, 4) shared_outs(%o = %out) -> (tensor<8xf32>) {
    %slice = tensor.extract_slice %o[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %slice into %o[%j] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  } {mapping = []}
  return %0 : tensor<8xf32>
}

// ----- inlined
scf.forall (%blk_arg0) in (%x) {
}
scf.parallel (%blk_arg1) = (%x) to (%x) step (%x) { scf.reduce }
%t0 = scf.forall (%blk_arg2, %blk_arg3) in (%x, 4) shared_outs(%blk_arg4 = %y) -> (tensor<8xf32>) {
  %t1 = tensor.extract_slice %blk_arg4[%blk_arg2] [1] [1] : tensor<8xf32> to tensor<1xf32>
  scf.forall.in_parallel {
    tensor.parallel_insert_slice %t1 into %blk_arg4[%blk_arg3] [1] [1] : tensor<1xf32> into tensor<8xf32>
  }
} {mapping = []}
