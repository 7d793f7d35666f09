"""Small Flax models for jax_models.py."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import nnx
from jax import lax


class Block(nn.Module):
    """A transformer layer."""

    causal: bool = False
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x: Any) -> Any:
        mask = nn.make_causal_mask(x[..., 0]) if self.causal else None
        y = nn.LayerNorm(dtype=self.dtype)(x)
        x = x + nn.MultiHeadDotProductAttention(2, dtype=self.dtype, use_bias=False)(y, mask=mask)
        y = nn.Dense(32, dtype=self.dtype)(nn.LayerNorm(dtype=self.dtype)(x))
        return x + nn.Dense(16, dtype=self.dtype)(nn.gelu(y))


class Bert(nn.Module):
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, tokens: Any) -> Any:
        x = nn.Embed(10, 16, dtype=self.dtype)(tokens) + self.param("place", nn.initializers.normal(), (8, 16))
        for _ in range(2):
            x = Block(dtype=self.dtype)(x.astype(self.dtype))
        return nn.tanh(nn.Dense(16, dtype=self.dtype)(x[:, 0]))


class Vit(nn.Module):
    @nn.compact
    def __call__(self, image: Any) -> Any:
        x = nn.Conv(16, (4, 4), (4, 4))(image)
        x = x.reshape(x.shape[0], -1, 16) + self.param("place", nn.initializers.normal(), (4, 16))
        return nn.Dense(5)(nn.LayerNorm()(Block()(x)).mean(1))


class Mixer(nn.Module):
    @nn.compact
    def __call__(self, image: Any) -> Any:
        x = nn.Conv(16, (4, 4), (4, 4))(image).reshape(image.shape[0], 4, 16)
        y = nn.LayerNorm()(x).swapaxes(1, 2)
        x = x + nn.Dense(4)(nn.gelu(nn.Dense(8)(y))).swapaxes(1, 2)
        return nn.Dense(5)((x + nn.Dense(16)(nn.gelu(nn.Dense(32)(nn.LayerNorm()(x))))).mean(1))


class Resnet(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.relu(nn.BatchNorm(use_running_average=True)(nn.Conv(8, (3, 3), use_bias=False)(x)))
        for width, stride in ((8, 1), (16, 2)):
            y = nn.relu(nn.GroupNorm(4)(nn.Conv(width, (3, 3), (stride, stride))(x)))
            y = nn.BatchNorm(use_running_average=True)(nn.Conv(width, (3, 3))(y))
            x = nn.relu(y + nn.Conv(width, (1, 1), (stride, stride))(x))
        return nn.Dense(5)(nn.max_pool(x, (2, 2), (2, 2)).mean((1, 2)))


class Unet(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        above = nn.silu(nn.Conv(8, (3, 3))(x))
        below = nn.silu(nn.Conv(16, (3, 3), padding="CIRCULAR")(nn.avg_pool(above, (2, 2), (2, 2))))
        up = nn.ConvTranspose(8, (2, 2), (2, 2))(below)
        wide = jax.image.resize(below, (*above.shape[:3], 16), "bilinear")
        return nn.Conv(3, (3, 3), feature_group_count=1)(jnp.concatenate([above, up, wide], -1))


class Recurrent(nn.Module):
    cell: Any

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.RNN(self.cell)(x), nn.Bidirectional(nn.RNN(nn.GRUCell(4)), nn.RNN(nn.GRUCell(4)))(x)


class Autoencoder(nn.Module):
    """A variational autoencoder."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        mean, deviation = jnp.split(nn.Dense(8)(nn.relu(nn.Dense(16)(x))), 2, -1)
        latent = mean + jnp.exp(deviation / 2) * jax.random.normal(jax.random.key(3), mean.shape)
        loss = (jnp.exp(deviation) + mean**2 - 1 - deviation).sum()
        return nn.sigmoid(nn.Dense(16)(nn.relu(nn.Dense(16)(latent)))), loss, nn.Dropout(0.5, deterministic=True)(x)


class Experts(nn.Module):
    """A mixture of experts: a router selects two of four experts for each token."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        tokens = x.reshape(-1, 16)
        weights, chosen = lax.top_k(nn.softmax(nn.Dense(4)(tokens)), 2)
        gates = (jax.nn.one_hot(chosen, 4) * weights[..., None]).sum(1)
        kernels = self.param("experts", nn.initializers.lecun_normal(), (4, 16, 16))
        dense = jnp.einsum("te,td,edf->tf", gates, tokens, kernels)
        order = jnp.argsort(chosen.ravel())
        sorted_tokens, sizes = tokens.repeat(2, 0)[order], jnp.bincount(chosen.ravel(), length=4)
        ragged = lax.ragged_dot(sorted_tokens, kernels, sizes)[jnp.argsort(order)].reshape(-1, 2, 16)
        return dense, (ragged * weights[..., None]).sum(1)


class Ssm(nn.Module):
    """A diagonal state space model, computed by an associative scan."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        step = nn.softplus(nn.Dense(16)(x))
        decay = jnp.exp(-step * jnp.exp(self.param("decay", nn.initializers.normal(), (16,))))
        _, states = lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (decay, step * x), axis=1)
        return nn.Dense(16)(states * nn.silu(nn.Dense(16)(x)))


class Perceptron(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.inner, self.outer = nnx.Linear(16, 32, rngs=rngs), nnx.Linear(32, 5, rngs=rngs)
        self.norm = nnx.BatchNorm(32, use_running_average=True, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return nnx.log_softmax(self.outer(nnx.relu(self.norm(self.inner(x)))))
