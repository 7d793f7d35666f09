"""The faults that `locate_faults.py` tries: what is wrong in which op of which model, and what should be said of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trial:
    """A fault in the ops of a name and a type in a model; the type is drawn.

    Under `contract` the fault must be located. Under `permissive`, where it is given, nothing may be flagged. Inputs
    are scaled by `scale`; one element of the first is `special`. `report` is what the fault is rebuilt from.
    """

    model: str
    fault: str
    op: str
    contract: str = "xla-cpu"
    permissive: str = ""
    scale: float = 1.0
    special: float = 0.0
    stretch: int = 1  # a factor of integers
    report: str = ""

    @property
    def is_fused(self) -> bool:
        return self.fault.startswith(("fused-", "unobserved-")) or self.fault in (
            "inverse",
            "nested-slices",
            "in-place",
        )


MLP, SQUEEZE, RESNET, MOE = "mlp_sgd_b128", "squeezenet10_fwd_b1", "resnet18_nchw_fwd_b1", "moe_top2_e8_t256"
UNET, VIT, LLAMA, LLAMA_BF16 = "unet_block_fwd_b1_64x64", "vit_tiny_fwd_b1", "llama_decode32_f32", "llama_decode32_bf16"
GPT, TRAIN, GRU, NBODY = "gpt_mini_adam_b4_s128", "resnet18_nchw_train_b4", "gru_scan256_b1_h256", "nbody256_100steps"

ALWAYS = (
    Trial(MLP, "wrong-op", "subtract"),
    Trial(MLP, "dropped", "dot_general"),
    Trial(MLP, "wrong-direction", "compare", scale=0.0),
    Trial(MLP, "last-update", "scatter"),
    Trial(MLP, "last-term", "reduce"),
    Trial(MLP, "inverted", "select"),
    Trial(MOE, "wrong-axis", "iota"),
    Trial(GPT, "unclamped", "gather", stretch=1000, report="iree-org/iree#24881"),
    Trial(MOE, "wrong-padding", "reduce_window"),
    Trial(MOE, "wrong-order", "sort"),
    Trial(MOE, "wrong-order", "concatenate"),
    Trial(MOE, "wrong-start", "slice"),
    Trial(MOE, "off-by-one", "convert"),
    Trial(MOE, "last-term", "dot_general", report="openxla/xla#13054"),
    Trial(SQUEEZE, "wrong-padding", "reduce_window"),
    Trial(SQUEEZE, "wrong-padding", "convolution"),
    Trial(SQUEEZE, "no-nan", "maximum", special=float("nan"), report="openxla/stablehlo#2887"),
    Trial(SQUEEZE, "stale-tail", "add"),
    Trial(SQUEEZE, "reversed-kernel", "convolution"),
    Trial(RESNET, "wrong-init", "reduce"),
    Trial(RESNET, "dropped-row", "multiply"),
    Trial(RESNET, "wrong-layout", "convolution"),
    Trial(RESNET, "wrong-op", "rsqrt"),
    Trial(UNET, "wrong-axis", "transpose"),
    Trial(UNET, "scaled", "divide"),
    Trial(UNET, "first-batch", "dot_general"),
    Trial(UNET, "wrong-op", "sine"),
    Trial(UNET, "shifted", "exponential"),
    Trial(UNET, "stale", "reshape"),
    Trial(VIT, "wrong-axis", "broadcast_in_dim"),
    Trial(VIT, "shifted", "slice"),
    Trial(VIT, "swapped", "subtract"),
    Trial(VIT, "negated", "divide", report="openxla/xla#39463"),
    Trial(GPT, "wrong-padding", "pad"),
    Trial(GPT, "stale", "sqrt"),
    Trial(TRAIN, "reversed-kernel", "reverse"),
    Trial(TRAIN, "wrong-op", "log"),
    Trial(LLAMA, "wrong-start", "dynamic_update_slice", report="openxla/xla#49120"),
    Trial(LLAMA, "saturated", "multiply", special=float("inf")),
    Trial(GRU, "wrong-op", "logistic"),
)
STRICT = (
    Trial(MLP, "tf32", "dot_general", "strict", "xla-gpu"),
    Trial(MLP, "bf16", "dot_general", "strict", "tpu"),
    Trial(MLP, "flushed", "multiply", "strict", "strict,flush_subnormals=true", scale=1e-19),
    Trial(MLP, "flushed-operand", "dot_general", "strict", "strict,flush_subnormals=true", scale=1e-38),
    Trial(MLP, "4-ulps", "exponential", "strict", "xla-cpu"),
    Trial(MOE, "tf32", "dot_general", "strict", "strict,dot_algorithm=tf32"),
    Trial(MOE, "4-ulps", "tanh", "strict", "strict,elementary_ulps=8"),
    Trial(MOE, "truncated", "divide", "strict", "xla-cpu"),
    Trial(SQUEEZE, "tf32", "convolution", "strict", "xla-gpu"),
    Trial(SQUEEZE, "bf16", "convolution", "strict", "tpu"),
    Trial(SQUEEZE, "bf16x3", "convolution", "strict", "strict,dot_algorithm=bf16x3"),
    Trial(RESNET, "truncated", "rsqrt", "strict", "xla-cpu"),
    Trial(RESNET, "f16-sum", "convolution", "strict", "tpu"),
    Trial(UNET, "f16-sum", "dot_general", "strict", "tpu"),
    Trial(UNET, "bf16x3", "dot_general", "strict", "tpu"),
    Trial(UNET, "fma", "add", "strict", "strict,fma=true", report="openxla/xla#41579"),
    Trial(UNET, "unrounded", "subtract", "strict", "strict,excess_precision=true"),
    Trial(VIT, "fma", "add", "strict", "xla-cpu"),
    Trial(LLAMA_BF16, "unrounded", "add", "strict", "xla-cpu"),
    Trial(LLAMA_BF16, "unrounded", "multiply", "strict", "strict,excess_precision=true"),
)
SOMETIMES = (
    Trial(MLP, "fused-scaled", "add"),
    Trial(MLP, "unobserved-scaled", "exponential", report="openxla/xla#47316"),
    Trial(MOE, "fused-dropped", "multiply"),
    Trial(MOE, "unobserved-stale", "divide"),
    Trial(SQUEEZE, "fused-shifted", "add"),
    Trial(SQUEEZE, "unobserved-dropped-row", "maximum"),
    Trial(RESNET, "fused-wrong-op", "multiply"),
    Trial(RESNET, "unobserved-scaled", "subtract"),
    Trial(UNET, "fused-wrong-axis", "transpose"),
    Trial(UNET, "fused-first-batch", "multiply"),
    Trial(VIT, "fused-swapped", "divide"),
    Trial(VIT, "odd-stale-tail", "add", report="iree-org/iree#16219"),
    Trial(UNET, "large-dropped-row", "add"),
    Trial(RESNET, "odd-shifted", "reduce_window"),
    Trial(MOE, "large-last-term", "dot_general"),
)
ALL = (*ALWAYS, *STRICT, *SOMETIMES)
