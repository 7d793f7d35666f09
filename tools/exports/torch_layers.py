"""PyTorch layers, losses and gradients, and operands for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch_samples import CLASSES, HEADS, PLACES, H, W, X, Y, Z, array

LINE, IMAGE, VOLUME, KERNEL = array(2, 3, 16), array(2, 4, 8, 9), array(1, 2, 5, 6, 7), array(6, 4, 3, 3)

NAMES: list[tuple[Any, str, list[Any]]] = [  # module, functions, operands
    (F, "relu relu6 elu selu celu gelu silu mish softplus softsign tanhshrink hardtanh hardswish hardsigmoid", [X]),
    (F, "hardshrink softshrink leaky_relu logsigmoid rrelu normalize glu", [X]),
    (F, "binary_cross_entropy binary_cross_entropy_with_logits", [torch.sigmoid(X), torch.sigmoid(Y)]),
    (F, "mse_loss l1_loss smooth_l1_loss huber_loss kl_div poisson_nll_loss soft_margin_loss", [X, Y]),
    (F, "cosine_similarity pairwise_distance", [X, Y]),
    (F, "cross_entropy multi_margin_loss nll_loss", [X, CLASSES]),
    (F, "linear", [X, array(5, 4), array(5)]),
    (F, "scaled_dot_product_attention", [HEADS, array(2, 3, 6, 4), array(2, 3, 6, 4)]),
]

FUNCTIONS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "softmax": (lambda x: (x.softmax(1), x.log_softmax(1), F.softmin(x, 1)), [X]),
    "softmax_f16": (lambda h: (h.softmax(-1), h.log_softmax(-1)), [H]),
    "activations": (lambda x: (F.gelu(x, approximate="tanh"), F.threshold(x, 0.1, 20), F.prelu(x, x[0, :1])), [X]),
    "dropout": (lambda x: F.dropout(x, training=False), [X]),
    "cross_entropy": (lambda x, k: F.cross_entropy(x, k, label_smoothing=0.1, reduction="sum"), [X, CLASSES]),
    "nll_loss": (lambda x, k: F.nll_loss(x.log_softmax(1), k, ignore_index=0), [X, CLASSES]),
    "triplet_loss": (lambda x, y: F.triplet_margin_loss(x, y, x + 1), [X, Y]),
    "cosine_embedding_loss": (lambda x, y: F.cosine_embedding_loss(x, y, torch.tensor([1, -1, 1])), [X, Y]),
    "conv1d": (lambda x, k: F.conv1d(x, k, stride=2, padding=1, dilation=2), [LINE, array(4, 3, 3)]),
    "conv2d": (lambda x, k, b: F.conv2d(x, k, b, stride=(2, 1), padding=(1, 2)), [IMAGE, KERNEL, array(6)]),
    "conv2d_same": (lambda x, k: F.conv2d(x, k, padding="same"), [IMAGE, KERNEL]),
    "conv2d_groups": (lambda x, k: F.conv2d(x, k, groups=4), [IMAGE, array(8, 1, 3, 2)]),
    "conv3d": (lambda x, k: F.conv3d(x, k, padding=1), [VOLUME, array(3, 2, 3, 3, 3)]),
    "conv_transpose1d": (lambda x, k: F.conv_transpose1d(x, k, stride=2), [LINE, array(3, 2, 4)]),
    "conv_transpose2d": (
        lambda x, k: F.conv_transpose2d(x, k, stride=2, padding=1, output_padding=1, groups=2),
        [IMAGE, array(4, 3, 3, 3)]),
    "conv_transpose3d": (lambda x, k: F.conv_transpose3d(x, k), [VOLUME, array(2, 2, 2, 2, 2)]),
    "conv2d_bf16": (lambda x, k: F.conv2d(x.bfloat16(), k.bfloat16()), [IMAGE, KERNEL]),
    "max_pool1d": (lambda x: F.max_pool1d(x, 3, 2, 1), [LINE]),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True), [IMAGE]),
    "max_pool2d_indices": (lambda x: F.max_pool2d(x, 2, return_indices=True), [IMAGE]),
    "max_pool3d": (lambda x: F.max_pool3d(x, 2), [VOLUME]),
    "avg_pool1d": (lambda x: F.avg_pool1d(x, 4), [LINE]),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), [IMAGE]),
    "avg_pool3d": (lambda x: F.avg_pool3d(x, 2), [VOLUME]),
    "lp_pool2d": (lambda x: F.lp_pool2d(x, 2, 2), [IMAGE]),
    "adaptive_avg_pool": (lambda x: (F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (4, 3))), [IMAGE]),
    "adaptive_max_pool": (lambda x: F.adaptive_max_pool1d(x, 4), [LINE]),
    "batch_norm": (lambda x, a, b: F.batch_norm(x, a, abs(b), b, a), [IMAGE, array(4), array(4)]),
    "batch_norm_train": (lambda x: F.batch_norm(x, None, None, training=True), [IMAGE]),
    "instance_norm": (lambda x: F.instance_norm(x), [IMAGE]),
    "layer_norm": (lambda x, w: F.layer_norm(x, (4,), w, w), [Z, array(4)]),
    "group_norm": (lambda x, w: F.group_norm(x, 2, w, w), [IMAGE, array(4)]),
    "rms_norm": (lambda x, w: F.rms_norm(x, (4,), w, 1e-6), [Z, array(4)]),
    "local_response_norm": (lambda x: F.local_response_norm(x, 2), [IMAGE]),
    "attention_causal": (lambda q: F.scaled_dot_product_attention(q, q + 1, q - 1, is_causal=True), [HEADS]),
    "attention_mask": (lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m), [HEADS, array(5, 5) > -1]),
    "interpolate_nearest": (lambda x: F.interpolate(x, scale_factor=2), [IMAGE]),
    "interpolate_bilinear": (lambda x: F.interpolate(x, (5, 11), mode="bilinear"), [IMAGE]),
    "interpolate_corners": (lambda x: F.interpolate(x, (5, 11), mode="bilinear", align_corners=True), [IMAGE]),
    "interpolate_bicubic": (lambda x: F.interpolate(x, (5, 11), mode="bicubic"), [IMAGE]),
    "interpolate_linear": (lambda x: F.interpolate(x, 20, mode="linear"), [LINE]),
    "grid_sample": (lambda x, g: F.grid_sample(x, g.tanh(), align_corners=False), [IMAGE, array(2, 3, 5, 2)]),
    "affine_grid": (lambda a: F.affine_grid(a, [2, 1, 3, 4], align_corners=False), [array(2, 2, 3)]),
    "pad_modes": (lambda x: tuple(F.pad(x, (2, 1), mode=m) for m in ("constant", "reflect", "replicate", "circular")),
                  [LINE]),
    "pad_negative": (lambda x: F.pad(x, (1, -2, 0, 1), value=0.5), [X]),
    "pixel_shuffle": (lambda x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x[..., :8], 2)), [IMAGE]),
    "fold": (lambda x: F.fold(F.unfold(x, 3, padding=1), (8, 9), 3, padding=1), [IMAGE]),
}  # fmt: skip

GRADIENTS: dict[str, tuple[Callable[..., Tensor], list[Tensor]]] = {  # of scalar functions
    "softmax": (lambda x: (x.sin() * x.softmax(1)).sum(), [X]),
    "matmul": (lambda x, y: (x @ y.T).tanh().sum(), [X, Y]),
    "attention": (lambda q: F.scaled_dot_product_attention(q, q + 1, q - 1).square().sum(), [HEADS]),
    "layer_norm": (lambda z: F.layer_norm(z, (4,)).exp().sum(), [Z]),
    "embedding": (lambda w, k: F.embedding(k, w).square().sum(), [W, PLACES]),
    "gather": (lambda x, k: x.gather(1, k).prod(1).sum(), [X, PLACES]),
    "conv2d": (lambda x, k: F.conv2d(x, k).sigmoid().sum(), [IMAGE, KERNEL]),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2).square().sum(), [IMAGE]),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2).square().sum(), [IMAGE]),
    "cumsum": (lambda x: x.cumsum(1).square().sum(), [X]),
    "cross_entropy": (lambda x, k: F.cross_entropy(x, k), [X, CLASSES]),
}
