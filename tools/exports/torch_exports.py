"""What the exporters of PyTorch have in common: functions and models as exported programs, and tensors as arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import Any

import ml_dtypes
import numpy as np
import torch
import torch_layers
import torch_models
import torch_samples
import torch_transformers
from compare import Case, NotExported, Sample
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import is_concrete_int

# Element types that numpy does not know: integers of their size, and the type that has them.
NARROW: dict[torch.dtype, tuple[torch.dtype, Any]] = {
    torch.bfloat16: (torch.int16, ml_dtypes.bfloat16),
    torch.float8_e4m3fn: (torch.uint8, ml_dtypes.float8_e4m3fn),
    torch.float8_e5m2: (torch.uint8, ml_dtypes.float8_e5m2),
}

# The samples that are exported once more with unknown numbers of rows.
DYNAMIC = (
    "model.mlp model.lenet model.resnet model.mobilenet model.unet model.gru model.encoder model.autoencoder "
    "model.quantized model.gpt2 model.bert model.llama model.vit "
    "add.float32 mul.int32 matmul.float32 inner.float32 bmm.float32 sum.float32 std.float32 argmax.float32 "
    "sort.float32 tril.float32 flatten.float32 ones_like.float32 zeros_like.float32 F.gelu.float32 "
    "F.normalize.float32 F.linear.float32 F.mse_loss.float32 F.cross_entropy.float32 "
    "F.scaled_dot_product_attention.float32 fft.rfft.float32 from.bfloat16 sum_dims max_dim var_dim any_dim norms "
    "cumsum sort topk one_hot embedding index index_select index_put index_put_add gather scatter scatter_add "
    "scatter_value masked_fill where clamp cat split permute flip roll triangles arange eye "
    "einsum_batched tensordot matmul_broadcast softmax conv1d conv2d conv2d_groups conv_transpose2d max_pool2d "
    "avg_pool2d adaptive_avg_pool batch_norm layer_norm group_norm rms_norm attention_causal interpolate_nearest "
    "interpolate_bilinear pad_modes pad_negative pixel_shuffle searchsorted logsumexp masked_select index_mask "
    "nonzero.bool histc "
)

# The models of which a step of training is exported, too.
TRAINED = ("mlp", "lenet", "resnet", "vit")
MODELS = torch_models.MODELS | torch_transformers.MODELS

Make = Callable[[], tuple[Callable[..., Any], list[Tensor]]]


class Function(nn.Module):
    """A function as a module, which is what PyTorch exports."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *operands: Tensor) -> Any:
        return self.function(*operands)


@dataclass(frozen=True)
class Exporter:
    """`export` makes a case of a program, its operands, and what PyTorch computes.

    `mistaken` tells by a sample's name what its program computes, where that is something else.
    """

    export: Callable[[ExportedProgram, list[np.ndarray], list[np.ndarray]], Case]
    mistaken: dict[str, Callable[..., Any]]

    def samples(self) -> Iterator[Sample]:
        for name, make in made():
            yield Sample(name, partial(self.case, name, make, dynamic=False))
            if name in DYNAMIC.split():
                yield Sample(f"dynamic.{name}", partial(self.case, name, make, dynamic=True))

    def case(self, name: str, make: Make, dynamic: bool) -> Case:
        torch.manual_seed(0)
        function, operands = make()
        with attempt():
            program = exported(function, operands, dynamic)
        operands = list(map(more_rows, operands, inputs(program))) if dynamic else operands
        due = results(self.mistaken.get(name, function), operands)
        with attempt():
            return self.export(program, list(map(as_array, operands)), due)


@contextmanager
def attempt() -> Iterator[None]:
    """What fails here is not exported; what exporters print is not shown."""
    try:
        with redirect_stdout(StringIO()), warnings.catch_warnings(action="ignore"):
            yield
    except Exception as error:
        raise NotExported from error


def made() -> Iterator[tuple[str, Make]]:
    """Names of samples, and their functions and operands."""
    for name, sample in {**named(), **torch_samples.FUNCTIONS, **torch_layers.FUNCTIONS}.items():
        yield name, partial(tuple, sample)
    for name, sample in torch_layers.SLOPES.items():
        yield f"slope.{name}", partial(traced_slope, *sample)
    for name, sample in MODELS.items():
        yield f"model.{name}", partial(modelled, *sample)
    for name in TRAINED:
        yield f"training.{name}", partial(traced_training, *MODELS[name])


def named() -> dict[str, tuple[Callable[..., Any], list[Tensor]]]:
    """The functions that only names stand for; what they are called says the element type, too."""
    prefixes = {torch: "", torch.nn.functional: "F."}
    return {
        f"{prefixes.get(module, module.__name__[6:] + '.')}{name}.{str(operands[0].dtype)[6:]}": (
            getattr(module, name),
            operands,
        )
        for module, names, operands in torch_samples.NAMES + torch_layers.NAMES
        for name in names.split()
    }


def traced_slope(function: Callable[..., Tensor], operands: list[Tensor]) -> tuple[Callable[..., Any], list[Tensor]]:
    return make_fx(torch.func.grad(function))(*operands), operands


def traced_training(make: Callable[[], nn.Module], operands: list[Tensor]) -> tuple[Callable[..., Any], list[Tensor]]:
    model, (x,) = modelled(make, operands)
    step, operands = torch_models.training(model, x)
    return make_fx(step)(*operands), operands


def modelled(make: Callable[[], nn.Module], operands: list[Tensor]) -> tuple[nn.Module, list[Tensor]]:
    return make().eval().requires_grad_(False), operands


def exported(function: Callable[..., Any], operands: list[Tensor], dynamic: bool) -> ExportedProgram:
    """If `dynamic`, any operand with as many rows as the first may have another number of them."""
    unknown = tuple({0: Dim.AUTO} if len(x) == len(operands[0]) else None for x in operands)
    shapes = (unknown,) if dynamic else None
    return torch.export.export(Function(function), tuple(operands), dynamic_shapes=shapes)


def inputs(program: ExportedProgram) -> list[Tensor]:
    """Stand-ins for a program's operands, whose sizes may be symbols."""
    names = program.graph_signature.user_inputs
    return [node.meta["val"] for node in program.graph.nodes if node.op == "placeholder" and node.name in names]


def more_rows(operand: Tensor, like: Tensor) -> Tensor:
    """An operand with one more row, if the program takes any number."""
    return torch.cat([operand, operand[:1]]) if not is_concrete_int(like.shape[0]) else operand


def results(function: Callable[..., Any], operands: list[Tensor]) -> list[np.ndarray]:
    given = function(*(operand.clone() for operand in operands))
    return [as_array(result) for result in torch.utils._pytree.tree_leaves(given)]


def as_array(tensor: Tensor) -> np.ndarray:
    whole = tensor.detach().resolve_conj().resolve_neg().contiguous()
    if whole.dtype not in NARROW:
        return whole.numpy()
    integers, dtype = NARROW[whole.dtype]
    return whole.view(integers).numpy().view(dtype)
