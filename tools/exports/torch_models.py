"""Small PyTorch models of each kind with random weights, and their operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch_samples import array

PICTURE = array(2, 3, 16, 16)


class Chain(nn.Sequential):
    """Compose layers; if a layer returns a tuple, pass on its first element."""

    def forward(self, x: Any) -> Any:
        for layer in self:
            x = layer(x)
            x = x[0] if isinstance(x, tuple) else x
        return x


class Sum(nn.Module):
    """Return the sum of the results of branches; None is the identity."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Tensor) -> Tensor:
        return sum((branch(x) for branch in self.branches[1:]), self.branches[0](x))


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down, self.middle = convolution(3, 8), convolution(8, 8)
        self.up, self.last = nn.ConvTranspose2d(8, 8, 2, stride=2), nn.Conv2d(16, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        across = self.down(x)
        return self.last(torch.cat([across, self.up(self.middle(F.max_pool2d(across, 2)))], 1))


class Autoencoder(nn.Module):
    """A variational autoencoder with its noise as an operand."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = nn.Linear(8, 6), nn.Sequential(nn.Linear(3, 8), nn.Sigmoid())

    def forward(self, x: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        mean, variance = self.encoder(x).chunk(2, -1)
        decoded = self.decoder(mean + noise * torch.exp(variance / 2))
        return decoded, F.mse_loss(decoded, x) - (1 + variance - mean**2 - variance.exp()).mean() / 2


class Experts(nn.Module):
    """A mixture of experts: the gate selects two for each row."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 8)) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.gate(x).softmax(-1).topk(2)
        share = torch.zeros(x.shape[0], 4).scatter(1, chosen, weights / weights.sum(-1, keepdim=True))
        return torch.einsum("ne,end->nd", share, torch.stack([expert(x) for expert in self.experts]))


class Graph(nn.Module):
    """A graph layer: each node sums the messages of its neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.own, self.said = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        return F.relu(self.own(x).index_add(0, edges[1], self.said(x)[edges[0]]))


class Quantized(nn.Module):
    """A linear layer of 8-bit integers with stored quantized weights; operands are quantized by `scale`."""

    def __init__(self, scale: float = 0.05) -> None:
        super().__init__()
        self.scale = scale
        self.register_buffer("weight", array(6, 8, dtype=torch.int8))

    def forward(self, x: Tensor) -> Tensor:
        q = (x / self.scale).round().clamp(-128, 127).to(torch.int8)
        return (q.to(torch.int32) @ self.weight.to(torch.int32).T).to(torch.float32) * (self.scale * 0.1)


class FakeQuantized(nn.Module):
    """A linear layer in the form of PyTorch 2 export quantization: quantize, dequantize, compute."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 6)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(torch.fake_quantize_per_tensor_affine(x, 0.05, 3, -128, 127))


def convolution(inputs: int, outputs: int, **options: Any) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False, **options), nn.BatchNorm2d(outputs), nn.ReLU()
    )


def lenet() -> nn.Module:
    features = [nn.Conv2d(3, 6, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 8, 3), nn.Tanh(), nn.MaxPool2d(2)]
    return nn.Sequential(*features, nn.Flatten(), nn.Linear(32, 10), nn.LogSoftmax(-1))


def resnet() -> nn.Module:
    blocks = [Sum(nn.Identity(), nn.Sequential(convolution(8, 8), nn.Conv2d(8, 8, 3, padding=1))) for _ in range(3)]
    down = Sum(nn.Conv2d(8, 8, 1, stride=2), convolution(8, 8, stride=2))
    return nn.Sequential(convolution(3, 8), *blocks, down, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))


def mobilenet() -> nn.Module:
    depthwise = [nn.Conv2d(12, 12, 3, padding=1, groups=12, bias=False), nn.BatchNorm2d(12), nn.ReLU6()]
    block = nn.Sequential(nn.Conv2d(4, 12, 1), nn.Hardswish(), *depthwise, nn.Conv2d(12, 4, 1))
    return nn.Sequential(nn.Conv2d(3, 4, 3, stride=2), Sum(nn.Identity(), block), nn.AdaptiveAvgPool2d((2, 2)))


MODELS: dict[str, tuple[Callable[[], nn.Module], list[Tensor]]] = {
    "mlp": (lambda: nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3)), [array(5, 8)]),
    "lenet": (lenet, [PICTURE]),
    "resnet": (resnet, [PICTURE]),
    "mobilenet": (mobilenet, [PICTURE]),
    "unet": (UNet, [PICTURE]),
    "lstm": (lambda: Chain(nn.LSTM(8, 6, num_layers=2, batch_first=True), nn.Linear(6, 3)), [array(2, 5, 8)]),
    "lstm_both_ways": (lambda: Chain(nn.LSTM(8, 6, bidirectional=True)), [array(5, 2, 8)]),
    "gru": (lambda: Chain(nn.GRU(8, 6, batch_first=True)), [array(2, 5, 8)]),
    "encoder": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2),
                [array(2, 5, 8)]),
    "decoder": (lambda: nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), [array(2, 5, 8), array(2, 6, 8)]),
    "autoencoder": (Autoencoder, [array(5, 8), array(5, 3)]),
    "experts": (Experts, [array(5, 8)]),
    "graph": (Graph, [array(5, 8), torch.tensor([[0, 1, 2, 3, 0], [1, 2, 2, 0, 4]])]),
    "quantized": (Quantized, [array(5, 8)]),
    "fake_quantized": (FakeQuantized, [array(5, 8)]),
    "half": (lambda: nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 3)).bfloat16(),
             [array(5, 8, dtype=torch.bfloat16)]),
    "waveform": (lambda: nn.Sequential(nn.Conv1d(3, 8, 3, dilation=2), nn.GLU(1), nn.ConvTranspose1d(4, 1, 4, 2)),
                 [array(2, 3, 20)]),
}  # fmt: skip


def training(model: nn.Module, x: Tensor) -> tuple[Callable[..., Any], list[Tensor]]:
    """Return a training step that computes new weights, and its operands: examples, classes and old weights."""
    names, weights = zip(*model.named_parameters())

    def loss(weights: tuple[Tensor, ...], x: Tensor, due: Tensor) -> Tensor:
        return F.cross_entropy(torch.func.functional_call(model, dict(zip(names, weights)), (x,)), due)

    def step(x: Tensor, due: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        gradients = torch.func.grad(loss)(weights, x, due)
        return tuple(weight - 0.1 * gradient for weight, gradient in zip(weights, gradients))

    # Gradients that are 0 in exact arithmetic, such as those of key biases, are noise: keep weights away from 0.
    return step, [x, torch.arange(len(x)) % 2, *(weight + 0.1 for weight in weights)]
