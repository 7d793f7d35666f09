"""Modules of HLO text for the fuzzer, which have each part of the format."""

from __future__ import annotations

COMPUTATIONS = """HloModule m, replica_count=2

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

"""
MODULES = (
    COMPUTATIONS
    + """ENTRY %main (x: f32[2,3], p: (f32[4], s32[])) -> (f32[2], f32[3], f32[3,2]) {
  %x = f32[2,3]{1,0} parameter(0)
  %p = (f32[4]{0}, s32[]) parameter(1)
  %zero = f32[] constant(-0)
  %r = f32[2]{0} reduce(%x, %zero), dimensions={1}, to_apply=%add
  %v = f32[4]{0} get-tuple-element(%p), index=0
  %w = f32[3]{0} reduce-window(%v, %zero), window={size=2 stride=2 pad=1_0 lhs_dilate=2 rhs_dilate=3}, to_apply=%add
  %b = f32[3,2]{0,1} bitcast(%x)
  ROOT %t = (f32[2]{0}, f32[3]{0}, f32[3,2]{0,1}) tuple(%r, %w, %b)
}
""",
    """HloModule loop, entry_computation_layout={(f32[])->f32[]}

%body (s: (s32[], f32[])) -> (s32[], f32[]) {
  %s = (s32[], f32[]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %v = f32[] get-tuple-element(%s), index=1
  ROOT %r = (s32[], f32[]) tuple(%next, %v)
}

%condition (s.1: (s32[], f32[])) -> pred[] {
  %s.1 = (s32[], f32[]) parameter(0)
  %i.1 = s32[] get-tuple-element(%s.1), index=0
  %three = s32[] constant(3)
  ROOT %l = pred[] compare(%i.1, %three), direction=LT
}

%halve (h: f32[]) -> f32[] {
  %h = f32[] parameter(0)
  %half = f32[] constant(0.5)
  ROOT %m = f32[] multiply(%h, %half)
}

ENTRY %main (x: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %zero = s32[] constant(0)
  %start = (s32[], f32[]) tuple(%zero, %x)
  %loop = (s32[], f32[]) while(%start), condition=%condition, body=%body
  %y = f32[] get-tuple-element(%loop), index=1
  %f = f32[] fusion(%y), kind=kLoop, calls=%halve, backend_config={"outer":["1"]}
  %async = ((f32[]), f32[], u32[]) async-start(%f), calls=%halve, async_execution_thread="main"
  %done = f32[] async-done(%async)
  %q = pred[] constant(true)
  ROOT %z = f32[] conditional(%q, %done, %y), true_computation=%halve, false_computation=%halve
}
""",
    COMPUTATIONS
    + """ENTRY %main (x: f32[4], i: s32[2,1]) -> f32[4] {
  %x = f32[4]{0} parameter(0), sharding={devices=[2]0,1}
  %i = s32[2,1]{1,0} parameter(1)
  %g = f32[2]{0} gather(%x, %i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, \
slice_sizes={1}
  %s = f32[4]{0} scatter(%x, %i, %g), update_window_dims={}, inserted_window_dims={0}, \
scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%add
  %c = f32[4]{0} all-reduce(%s), replica_groups=[1,2]<=[2], to_apply=%add
  %k = f32[1,1,2]{2,1,0} constant({ { {1, nan(0x412345)} } })
  %d = f32[1,1,4]{2,1,0} reshape(%c)
  %e = f32[1,1,3]{2,1,0} convolution(%d, %k), window={size=2 rhs_reversal=1}, dim_labels=bf0_oi0->bf0
  %z = f32[] constant(0)
  %o = f32[1,1,4]{2,1,0} pad(%e, %z), padding=0_0x0_0x1_0
  %n = f32[4]{0} reshape(%o)
  %m = f32[4]{0} slice(%n), slice={[0:4:1]}
  %zero = s32[] constant(0)
  ROOT %r = f32[4]{0} dynamic-update-slice(%m, %n, s32[] %zero)
}
""",
    """HloModule m
FileNames
1 "model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=3 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY %main (x: f32[2,2]) -> c64[2] {
  %x = f32[2,2]{1,0:T(8,128)S(5)} parameter(0), metadata={op_name="weights"}
  %m = f32[2,2]{1,0} dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,default}
  %c = f32[2,2]{1,0} cholesky(%m), lower=true
  %t = (f32[2,1]{1,0}, s32[2,1]{1,0}) topk(%c), k=1, largest=true
  %u = u64[2]{0} constant({1, 18446744073709551615})
  %b = (u64[2]{0}, u32[3]{0}) rng-bit-generator(%u), algorithm=rng_philox
  %f = (f32[2]{0}, s32[2]{0}) custom-call(%x), custom_call_target="my.call", api_version=API_VERSION_TYPED_FFI, \
backend_config={n = 3 : i32, s = "t"}
  %bf = bf16[2]{0} constant({1.5, -inf})
  %s4 = s4[2,0]{1,0} constant({ {}, {} })
  ROOT %k = c64[2]{0} constant({(1, -2), (nan, 0.1)}), metadata={op_name="jit(f)/k" stack_frame_id=1}
}
""",
)
