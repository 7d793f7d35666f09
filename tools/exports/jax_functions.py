"""Export single JAX functions and small models, run them, and compare the results with JAX's on CPUs.

    python tools/exports/jax_functions.py [--only REGEX] [--save FOLDER]

The exit code is 1 if a result differs. Needs the extras `jax` and `lapack`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from compare import Case, Sample, main
from jax import export, lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

SOURCE = np.random.default_rng(0)


def array(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Return normally distributed numbers, or integers from -9 to 9 (0 to 9 if unsigned)."""
    if np.dtype(dtype).kind in "iu":
        return SOURCE.integers(0 if np.dtype(dtype).kind == "u" else -9, 10, shape).astype(dtype)
    numbers = SOURCE.normal(size=shape)
    return (numbers + 1j * SOURCE.normal(size=shape) if np.dtype(dtype).kind == "c" else numbers).astype(dtype)


X, Y, N = array(3, 4), array(3, 4), array(3, 4, dtype=np.int32)
V, W, C, D = array(12), array(5, 5), array(4, 4, dtype=np.complex64), array(5, 5, dtype=np.float64)
P, KEY = D @ D.T + np.eye(5), np.array([1, 2], np.uint32)
IMAGE, KERNEL = array(2, 8, 8, 3), array(3, 3, 3, 4)
HALF, NHWC = np.float32(0.5), ("NHWC", "HWIO", "NHWC")

NAMES: list[tuple[Any, str, list[Any]]] = [  # module, functions, operands
    (lax, "abs acos asin asinh atan atanh bessel_i1e cbrt ceil cos cosh digamma erf erfc exp exp2 expm1 floor", [X]),
    (lax, "is_finite lgamma log log1p logistic neg round rsqrt sign sin sinh sqrt square tan tanh", [X]),
    (lax, "acosh", [X + 2]),
    (lax, "erf_inv", [np.tanh(X)]),
    (lax, "conj real imag abs exp log sqrt tanh sin", [C]),
    (lax, "add sub mul div max min rem atan2 nextafter complex eq ne lt le gt ge", [X, Y]),
    (lax, "pow igamma zeta", [abs(X) + 1, abs(Y) + 1]),
    (lax, "bitwise_and bitwise_or bitwise_xor shift_left shift_right_logical shift_right_arithmetic", [N, abs(N) + 1]),
    (lax, "population_count clz bitwise_not", [array(3, 4, dtype=np.uint8)]),
    (lax, "betainc", [abs(X) + 1, abs(Y) + 1, np.abs(np.tanh(X))]),
    (jnp, "sum prod max min mean var std median argmin argsort sort cumsum cumprod ptp count_nonzero", [X]),
    (jnp, "i0 sinc nan_to_num signbit frexp modf trunc flip tril triu trace diag ravel rot90 gradient", [X]),
    (jnp, "hypot logaddexp fmod floor_divide copysign heaviside kron outer inner vdot append isclose", [X, Y]),
    (jnp, "cross dot matmul", [X[:, :3], array(3, 3)]),
    (jnp, "convolve correlate digitize", [V, np.sort(V)]),
    (jnp.fft, "fft ifft fft2", [C]),
    (jnp.fft, "rfft ihfft", [X]),
    (jnp.linalg, "inv det slogdet pinv cond matrix_rank eigvalsh svdvals norm cholesky", [P]),
    (jnp.linalg, "solve", [C, C + 1]),
    (jnp.linalg, "qr", [array(5, 3)]),
    (lax.linalg, "lu", [array(2, 4, 3)]),
    (lax.linalg, "tridiagonal_solve", [V, V + 5, V, array(12, 2)]),
    (jax.scipy.linalg, "expm hessenberg", [D]),
]

FUNCTIONS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "lax.reduce_precision": (lambda x: lax.reduce_precision(x, 5, 7), [X]),
    "lax.bitcast": (lambda x: lax.bitcast_convert_type(x, jnp.int32), [X]),
    "lax.clamp": (lambda x: lax.clamp(-HALF, x, HALF), [X]),
    "lax.top_k": (lambda x: lax.top_k(x, 3), [X]),
    "lax.approx_min_k": (lambda x: lax.approx_min_k(x, 3), [V]),
    "lax.sort": (lambda x, y: lax.sort((x, y), num_keys=1), [X, Y]),
    "lax.associative_scan": (lambda x: lax.associative_scan(jnp.maximum, x), [V]),
    "lax.scan": (lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(4), x), [X]),
    "lax.while_loop": (lambda x: lax.while_loop(lambda v: jnp.sum(v) < 100, lambda v: v * 2, abs(x)), [X]),
    "lax.cond": (lambda x: lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x), [X]),
    "lax.switch": (lambda i, x: lax.switch(i[0, 0], [jnp.sin, jnp.cos, jnp.tan], x), [N, X]),
    "lax.reduce_window": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 1), "SAME"), [X]),
    "lax.conv": (lambda x, k: lax.conv_general_dilated(x, k, (2, 1), "SAME", dimension_numbers=NHWC), [IMAGE, KERNEL]),
    "lax.conv_transpose": (lambda x, k: lax.conv_transpose(x, k, (2, 2), "VALID"), [IMAGE, KERNEL]),
    "lax.dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (i[0, 0], i[0, 1]), (2, 2)), [X, N]),
    "lax.dynamic_update": (lambda x, i: lax.dynamic_update_slice(x, x[:1, :2], (i[0, 0], i[0, 1])), [X, N]),
    "lax.pad": (lambda x: lax.pad(x, HALF, ((1, -1, 2), (0, 3, 0))), [X]),
    "lax.gather": (lambda x, i: x[i[0] % 3, i[1] % 4], [X, N]),
    "lax.scatter_add": (lambda x, i: x.at[i[0] % 3].add(1.5), [X, N]),
    "lax.rng_bit_generator": (lambda k: lax.rng_bit_generator(jnp.concatenate([k, k]), (3, 5)), [KEY]),
    "jnp.interp": (lambda v: jnp.interp(v, jnp.arange(5.0), jnp.arange(5.0) ** 2), [V]),
    "jnp.histogram": (lambda v: jnp.histogram(v, bins=4), [V]),
    "jnp.nonzero": (lambda x: jnp.nonzero(x > 0, size=5), [X]),
    "random.uniform": (lambda k: jax.random.uniform(k, (3, 5)), [KEY]),
    "random.permutation": (lambda k: jax.random.permutation(k, 10), [KEY]),
    "random.randint": (lambda k: jax.random.randint(k, (7,), -3, 9), [KEY]),
    "random.gamma": (lambda k: jax.random.gamma(k, 2.0, (4,)), [KEY]),
    "linalg.eigh": (lambda a: (lambda w, v: (w, v * w @ v.T))(*jnp.linalg.eigh(a)), [P]),
    "linalg.svd": (lambda a: (lambda u, s, v: (s, u * s @ v))(*jnp.linalg.svd(a, full_matrices=False)), [X]),
    "linalg.eigvals": (lambda a: jnp.sort(jnp.linalg.eigvals(a)), [D]),
    "linalg.schur": (lambda a: (lambda t, z: z @ t @ z.T)(*jax.scipy.linalg.schur(a)), [D]),
    "linalg.solve_triangular": (lambda a, b: jax.scipy.linalg.solve_triangular(a, b, trans=1), [P, D]),
}


def attention(x: Any, w: Any) -> Any:
    q, k, v = (x @ w * scale for scale in (1.0, 0.5, 2.0))
    return jax.nn.softmax(q @ k.T / 5**0.5) @ v  # a Python number: the result is f32, as are the products


def network(x: Any, k: Any) -> Any:
    y = jax.nn.relu(lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=NHWC))
    y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jax.nn.log_softmax(y.mean((1, 2)))


def parallel(a: Any, b: Any) -> Any:
    """Compute a matrix product that is sharded over eight devices."""
    mesh, spec = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2), PartitionSpec
    specs = {"in_specs": (spec("x", "y"), spec("y", None)), "out_specs": spec("x", None)}
    return jax.shard_map(lambda a, b: lax.psum(a @ b, "y") + lax.axis_index("x"), mesh=mesh, **specs)(a, b)


MODELS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "attention": (attention, [array(7, 5), W]),
    "convolutional": (network, [IMAGE, KERNEL]),
    "recurrent": (lambda x, w: lax.scan(lambda h, v: (jnp.tanh(h @ w + v), h), jnp.zeros(5), x), [array(7, 5), W]),
    "gradient": (jax.value_and_grad(lambda w, x: jnp.sum(jax.nn.gelu(x @ w) ** 2)), [W, array(7, 5)]),
    "gradient-convolutional": (jax.grad(lambda k, x: network(x, k).sum()), [KERNEL, IMAGE]),
    "hessian": (jax.hessian(lambda v: jnp.sum(jnp.sin(v) * v[::-1])), [V]),
    "vmap": (jax.vmap(attention, in_axes=(0, None)), [array(2, 7, 5), W]),
    "bf16": (lambda x, w: jax.nn.gelu(x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)), [array(7, 5), W]),
    "shard_map": (parallel, [array(4, 8), array(8, 3)]),
}

SYMBOLIC: dict[str, Callable[[Any], Any]] = {  # of a matrix with a symbolic number of rows
    "softmax": jax.nn.softmax, "product": lambda x: x @ x.T, "reshape": lambda x: x.reshape(x.shape[0] * 2, -1),
    "concatenate": lambda x: jnp.concatenate([x, x]), "iota": lambda x: jnp.arange(x.shape[0]), "cumsum": jnp.cumsum,
    "pad": lambda x: jnp.pad(x, ((1, 2), (0, 0))), "slice": lambda x: x[1:-1:2], "sort": lambda x: jnp.sort(x, 0),
    "scatter": lambda x: x.at[-1].set(0.0), "outer": lambda x: x[:, None] + x, "std": lambda x: x.std(0),
    "top_k": lambda x: lax.top_k(x.T, x.shape[0] - 2), "cholesky": lambda x: jnp.linalg.cholesky(x.T @ x),
    "random": lambda x: jax.random.normal(jax.random.key(0), x.shape), "qr": lambda x: jnp.linalg.qr(x)[1],
    "loop": lambda x: lax.fori_loop(0, x.shape[0], lambda i, v: v + x[i], jnp.zeros(4, x.dtype)),
}  # fmt: skip


def exported(
    function: Callable[..., Any],
    operands: list[Any],
    symbolic: bool = False,
    platforms: Sequence[str] | None = None,
    shard: Callable[[Any], NamedSharding] | None = None,
) -> Case:
    """Export a JAX function, by default for CPUs, and call it for the expected results.

    `shard` returns the sharding of an operand on several devices.
    """
    any_call = [export.DisabledSafetyCheck.custom_call("ALL")]
    jitted = jax.jit(function, in_shardings=jax.tree.map(shard, tuple(operands))) if shard else jax.jit(function)
    rows = export.symbolic_shape("n", constraints=["n>=4"]) if symbolic else None
    types = [jax.ShapeDtypeStruct((*rows, *x.shape[1:]) if rows else x.shape, x.dtype) for x in operands]
    program = export.export(jitted, platforms=platforms, disabled_checks=any_call)(*types)
    expected = list(map(np.asarray, jax.tree.leaves(jitted(*operands))))
    return Case(program.mlir_module(), operands, expected, program.mlir_module_serialized)


def samples() -> Iterator[Sample]:
    for module, names, operands in NAMES:
        for name in names.split():
            function = getattr(module, name)
            yield Sample(f"{module.__name__.removeprefix('jax.')}.{name}", partial(exported, function, operands))
    for name, sample in FUNCTIONS.items():
        yield Sample(name, partial(exported, *sample))
    for name, sample in MODELS.items():
        yield Sample(f"model.{name}", partial(exported, *sample))
    for name, function in SYMBOLIC.items():
        yield Sample(f"symbolic.{name}", partial(exported, function, [array(6, 4)], symbolic=True))


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    sys.exit(main(samples(), "JAX"))
