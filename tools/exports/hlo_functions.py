"""Run JAX functions from HLO text, before and after XLA's passes, and compare the results with JAX's on CPUs.

    python tools/exports/hlo_functions.py [--only REGEX] [--save FOLDER]

A sample is named after the function and the stage, `lax.sin/lowered` or `lax.sin/compiled`. The exit code is 1 if a
result differs. Needs the extras `jax` and `lapack`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from compare import Case, NotExported, Sample, main
from jax import lax
from jax_functions import FUNCTIONS, IMAGE, KERNEL, KEY, MODELS, NAMES, C, N, P, V, W, X, Y, array

E, B = array(2, 3, 4), array(3, 4) > 0
ONE = np.float32(1)


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the gradient of the sum of a function's results."""
    return jax.grad(lambda *operands: jnp.sum(function(*operands)))


UNARY = "abs cbrt cos cosh erf erfc exp expm1 lgamma log1p logistic sin sinh sqrt square tan tanh asinh atan digamma"
BINARY = "add sub mul div max min atan2"
INTEGER, BOOLEAN, CUMULATIVE = "add sub mul div rem max min eq lt", "and or xor", "cumsum cummax cummin"
TYPES = "int8 uint8 int64 uint32 bool float16 bfloat16 float64 complex64 float8_e4m3fn float8_e5m2"
PHILOX = lax.RandomAlgorithm.RNG_PHILOX
MORE: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    **{f"gradient.{name}": (gradient(getattr(lax, name)), [abs(X) + ONE]) for name in UNARY.split()},
    **{f"gradient.{name}": (gradient(getattr(lax, name)), [X, Y]) for name in BINARY.split()},
    **{f"int.{name}": (getattr(lax, name), [N, abs(N) + 1]) for name in INTEGER.split()},
    **{f"bool.{name}": (getattr(jnp, f"logical_{name}"), [B, ~B]) for name in BOOLEAN.split()},
    **{f"cumulative.{n}": (partial(getattr(lax, n), axis=1, reverse=True), [X]) for n in CUMULATIVE.split()},
    **{
        f"convert.{t}": (lambda x, t=t: x.astype(t), [X])
        for t in TYPES.split()
    },
    "constants": (lambda x: x * np.array([[1, -0.0, np.nan, np.inf]] * 3, np.float32), [X]),
    "constants.bf16": (lambda x: x.astype(jnp.bfloat16) + jnp.array([1.5, np.nan, -np.inf, 3e-5], jnp.bfloat16), [X]),
    "constants.c64": (lambda x: x * np.array([1 + 2j, complex(np.inf, -0.0), 0, 1j], np.complex64), [C]),
    "constants.bool": (lambda x: jnp.where(np.array([True, False, True, True]), x, 0), [X]),
    "constants.empty": (lambda x: (x[:0] + np.zeros((0, 4), np.float32)).sum() + x, [X]),
    "constants.large": (lambda x: x + np.arange(3000, dtype=np.float32).reshape(250, 3, 4), [X]),
    "constants.i4": (lambda x: x + jnp.array([1, -8, 7, 0], jnp.int4).astype(jnp.int32), [N]),
    "convolution.groups": (
        lambda x, k: lax.conv_general_dilated(
            x, k, (1, 2), ((1, 2), (0, 1)), (2, 1), (1, 2), ("NHWC", "HWIO", "NHWC"), feature_group_count=3
        ),
        [IMAGE, array(3, 3, 1, 6)],
    ),
    "convolution.gradient": (
        jax.grad(lambda k, x: lax.conv(x.transpose(0, 3, 1, 2), k.transpose(3, 2, 0, 1), (2, 1), "SAME").sum()),
        [KERNEL, IMAGE],
    ),
    "convolution.1d": (lambda x: lax.conv(x[None], x[:, None, :2][:1].repeat(3, 1), (1,), "VALID"), [X]),
    "dot.batch": (lambda x, y: jnp.einsum("bij,bkj->bik", x, y), [E, E]),
    "dot.precision": (lambda x, y: jnp.dot(x, y, precision="highest"), [X, Y.T]),
    "dot.mixed": (
        lambda x, y: lax.dot(x.astype("bfloat16"), y.astype("bfloat16"), preferred_element_type="f4"),
        [X, Y.T],
    ),
    "einsum.outer": (lambda x, y: jnp.einsum("ij,kl->kjil", x, y), [X, Y]),
    "transpose.layout": (lambda x: jnp.transpose(x, (2, 0, 1)).reshape(8, 3)[::-1], [E]),
    "reshape.bitcast": (lambda x: jnp.swapaxes(x, 0, 1).reshape(-1, 2) * 2, [E]),
    "reduce.two": (lambda x: lax.reduce((x, x), (0 * ONE, ONE), lambda a, b: (a[0] + b[0], a[1] * b[1]), (1,)), [X]),
    "reduce.window": (lambda x: lax.reduce_window(x, 0 * ONE, lax.add, (2, 2), (1, 2), "SAME", (2, 1), (1, 2)), [X]),
    "pool.gradient": (
        gradient(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 1), "VALID") * 3),
        [X],
    ),
    "scatter.two": (lambda x, i: x.at[i[0] % 3, i[1] % 4].mul(2, mode="drop"), [X, N]),
    "scatter.min": (lambda x, i: x.at[i[:, 0] % 3].min(0), [X, N]),
    "gather.batch": (lambda x, i: jnp.take_along_axis(x, i % 4, axis=1), [X, N]),
    "gather.clip": (lambda x, i: jnp.take(x, i, axis=1, mode="clip"), [X, N]),
    "sort.two_keys": (lambda x, n: lax.sort((n, x), dimension=0, num_keys=2), [X, N]),
    "sort.vmap": (jax.vmap(jnp.argsort), [E]),
    "while.two": (lambda x: lax.while_loop(lambda c: c[1] < 5, lambda c: (c[0] * 1.5, c[1] + 1), (x, 0)), [X]),
    "while.nested": (lambda x: lax.fori_loop(0, 3, lambda i, a: lax.fori_loop(0, i, lambda j, b: b + a, a), x), [X]),
    "scan.reverse": (lambda x: lax.scan(lambda c, v: (c * v, c), jnp.ones(4, x.dtype), x, reverse=True), [X]),
    "cond.gradient": (gradient(lambda x: lax.cond(x[0, 0] > 0, jnp.sin, lambda y: y * y, x)), [X]),
    "switch.vmap": (jax.vmap(lambda i, x: lax.switch(i[0], [jnp.sin, jnp.cos, jnp.tan], x)), [N, X]),
    "random.normal": (lambda k: jax.random.normal(k, (5, 3)), [KEY]),
    "random.bernoulli": (lambda k: jax.random.bernoulli(k, 0.3, (9,)), [KEY]),
    "random.choice": (lambda k: jax.random.choice(k, 10, (3,), replace=False), [KEY]),
    "rng.philox": (lambda k: lax.rng_bit_generator(jnp.concatenate([k, k]), (4,), algorithm=PHILOX), [KEY]),
    "cholesky.vmap": (jax.vmap(jnp.linalg.cholesky), [np.stack([P, P * 2])]),
    "tree": (lambda x: {"a": (x, [x + 1]), "b": ()}, [X]),
    "identity": (lambda x: x, [X]),
    "unused": (lambda x, y: y + 1, [X, Y]),
    "softmax.gradient": (jax.grad(lambda w, x: jnp.log(jax.nn.softmax(x @ w))[:, 0].sum()), [W, array(7, 5)]),
    "layer_norm": (lambda x: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5), [X]),
    "fft.3d": (jnp.fft.fftn, [E]),
    "irfft": (lambda x: jnp.fft.irfft(x + 0j, 5), [X]),
    "clip": (lambda x: jnp.clip(x, -1, 1), [X]),
    "roll": (lambda x: jnp.roll(x, 2, 1), [X]),
    "tile": (lambda x: jnp.tile(x, (2, 3)), [X]),
    "polyval": (lambda v: jnp.polyval(jnp.array([1.0, -2, 3]), v), [V]),
    "segment_sum": (lambda x, n: jax.ops.segment_sum(x, n[:, 0] % 3, 3), [X, N]),
    "remat": (jax.grad(jax.checkpoint(lambda v: jnp.sin(jnp.sin(v)).sum())), [V]),
    "jvp": (lambda x, y: jax.jvp(jnp.tanh, (x,), (y,)), [X, Y]),
    "reduce_precision.f16": (lambda x: lax.reduce_precision(x, 5, 10), [X]),
}  # fmt: skip


def texts(function: Callable[..., Any], operands: list[Any]) -> tuple[str, str, Any]:
    """Return the HLO of a function before and after XLA's passes, and the compiled function."""
    lowered = jax.jit(function, keep_unused=True).lower(*operands)
    compiled = lowered.compile()
    return lowered.compiler_ir("hlo").as_hlo_text(print_large_constants=True), compiled.as_text(), compiled


def case(stage: int, function: Callable[..., Any], operands: list[Any]) -> Case:
    """Return one of the texts, with the results of JAX."""
    *found, compiled = texts(function, operands)
    text = found[stage]
    if "{...}" in text:
        raise NotExported  # large constants are left out
    return Case(text, operands, list(map(np.asarray, jax.tree.leaves(compiled(*operands)))))


def functions() -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """Return all functions with their operands, by name."""
    found = {
        f"{module.__name__.removeprefix('jax.')}.{name}": (getattr(module, name), operands)
        for module, names, operands in NAMES
        for name in names.split()
    }
    models = {f"model.{name}": sample for name, sample in MODELS.items() if name != "shard_map"}
    return {**found, **FUNCTIONS, **models, **MORE}


def samples() -> Iterator[Sample]:
    for name, (function, operands) in functions().items():
        for number, stage in enumerate(("lowered", "compiled")):
            yield Sample(f"{name}/{stage}", partial(case, number, function, operands))


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    sys.exit(main(samples(), "JAX"))
