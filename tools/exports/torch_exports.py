"""Common parts of the PyTorch exporters: samples as exported programs, and conversion of tensors to arrays."""

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

# Element types that numpy lacks: the torch dtype of integers of the same size, and the ml_dtypes type.
NARROW: dict[torch.dtype, tuple[torch.dtype, Any]] = {
    torch.bfloat16: (torch.int16, ml_dtypes.bfloat16),
    torch.float8_e4m3fn: (torch.uint8, ml_dtypes.float8_e4m3fn),
    torch.float8_e5m2: (torch.uint8, ml_dtypes.float8_e5m2),
}

# Samples that are also exported with a dynamic number of rows.
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

# Models of which a training step is also exported.
TRAINED = ("mlp", "lenet", "resnet", "vit")
MODELS = torch_models.MODELS | torch_transformers.MODELS

Make = Callable[[], tuple[Callable[..., Any], list[Tensor]]]


class Function(nn.Module):
    """A module that calls a function, because PyTorch exports modules."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *operands: Tensor) -> Any:
        return self.function(*operands)


@dataclass(frozen=True)
class Exporter:
    """An exporter of PyTorch programs to StableHLO.

    `export` returns the case for a program, its operands and the expected results. `mistaken` has, by sample name, the
    functions that programs compute where the exporter is wrong.
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
    """Convert errors to NotExported and suppress the output of exporters."""
    try:
        with redirect_stdout(StringIO()), warnings.catch_warnings(action="ignore"):
            yield
    except Exception as error:
        raise NotExported from error


def made() -> Iterator[tuple[str, Make]]:
    """Yield sample names, with functions that return the function and its operands."""
    for name, sample in {**named(), **torch_samples.FUNCTIONS, **torch_layers.FUNCTIONS}.items():
        yield name, partial(tuple, sample)
    for name, sample in torch_layers.GRADIENTS.items():
        yield f"gradient.{name}", partial(traced_gradient, *sample)
    for name, sample in MODELS.items():
        yield f"model.{name}", partial(modelled, *sample)
    for name in TRAINED:
        yield f"training.{name}", partial(traced_training, *MODELS[name])


def named() -> dict[str, tuple[Callable[..., Any], list[Tensor]]]:
    """Return the functions that are listed by name, with the element type as part of the sample name."""
    prefixes = {torch: "", torch.nn.functional: "F."}
    return {
        f"{prefixes.get(module, module.__name__[6:] + '.')}{name}.{str(operands[0].dtype)[6:]}": (
            getattr(module, name),
            operands,
        )
        for module, names, operands in torch_samples.NAMES + torch_layers.NAMES
        for name in names.split()
    }


def traced_gradient(function: Callable[..., Tensor], operands: list[Tensor]) -> tuple[Callable[..., Any], list[Tensor]]:
    return make_fx(torch.func.grad(function))(*operands), operands


def traced_training(make: Callable[[], nn.Module], operands: list[Tensor]) -> tuple[Callable[..., Any], list[Tensor]]:
    model, (x,) = modelled(make, operands)
    step, operands = torch_models.training(model, x)
    return make_fx(step)(*operands), operands


def modelled(make: Callable[[], nn.Module], operands: list[Tensor]) -> tuple[nn.Module, list[Tensor]]:
    return make().eval().requires_grad_(False), operands


def exported(function: Callable[..., Any], operands: list[Tensor], dynamic: bool) -> ExportedProgram:
    """Export a function; if `dynamic`, operands with as many rows as the first have a dynamic number of rows."""
    unknown = tuple({0: Dim.AUTO} if len(x) == len(operands[0]) else None for x in operands)
    shapes = (unknown,) if dynamic else None
    return torch.export.export(Function(function), tuple(operands), dynamic_shapes=shapes)


def inputs(program: ExportedProgram) -> list[Tensor]:
    """Return fake tensors for a program's operands, whose sizes may be symbolic."""
    names = program.graph_signature.user_inputs
    return [node.meta["val"] for node in program.graph.nodes if node.op == "placeholder" and node.name in names]


def more_rows(operand: Tensor, like: Tensor) -> Tensor:
    """Return an operand with one more row if its number of rows is dynamic in `like`."""
    return torch.cat([operand, operand[:1]]) if not is_concrete_int(like.shape[0]) else operand


def results(function: Callable[..., Any], operands: list[Tensor]) -> list[np.ndarray]:
    returned = function(*(operand.clone() for operand in operands))
    return [as_array(result) for result in torch.utils._pytree.tree_leaves(returned)]


def as_array(tensor: Tensor) -> np.ndarray:
    whole = tensor.detach().resolve_conj().resolve_neg().contiguous()
    if whole.dtype not in NARROW:
        return whole.numpy()
    integers, dtype = NARROW[whole.dtype]
    return whole.view(integers).numpy().view(dtype)
