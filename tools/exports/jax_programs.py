"""Export numerical JAX programs, run them, and compare the results with JAX's.

    python tools/exports/jax_programs.py [--only REGEX] [--save FOLDER]

The exit code is 1 if a result differs. Needs the extras `jax` and `lapack`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from compare import Sample, main
from jax import lax
from jax.experimental import sparse
from jax.experimental.ode import odeint
from jax_functions import KEY, array, exported

X, W, V = array(6, 8), array(8, 8), array(16)
SQUARE = array(4, 4, dtype=np.float64)
POSITIVE = SQUARE @ SQUARE.T + np.eye(4)
EDGES, NODES = array(2, 12, dtype=np.uint8).astype(np.int32) % 6, array(6, 8)
PROMPT, EMBEDDING, PROJECTIONS = np.array([3, 1, 4], np.int32), array(10, 8), array(3, 8, 8)


def generate(prompt: Any, embedding: Any, projections: Any) -> Any:
    """Decode greedily, with cached keys and values, nine tokens or until token 0."""
    length = 12

    def attend(token: Any, place: Any, cache: Any) -> Any:
        x = embedding[token] * jnp.cos(place + jnp.arange(8.0, dtype=jnp.float32))
        query, *new = x @ projections
        cache = tuple(lax.dynamic_update_slice(c, n[None], (place, jnp.int32(0))) for c, n in zip(cache, new))
        scores = jnp.where(jnp.arange(length) <= place, cache[0] @ query, -jnp.inf)
        return embedding @ (x + jax.nn.softmax(scores) @ cache[1]), cache

    def step(state: Any) -> Any:
        tokens, place, cache = state
        logits, cache = attend(tokens[place], place, cache)
        chosen = jnp.where(place + 1 < len(prompt), tokens[place + 1], jnp.argmax(logits).astype(jnp.int32))
        return tokens.at[place + 1].set(chosen), place + 1, cache

    cache = (jnp.zeros((length, 8), jnp.float32),) * 2
    state = jnp.zeros(length, jnp.int32).at[: len(prompt)].set(prompt), jnp.int32(0), cache
    return lax.while_loop(lambda s: (s[1] < length - 1) & ((s[1] < 3) | (s[0][s[1]] != 0)), step, state)


def diffuse(key: Any, w: Any) -> Any:
    """Sample from a diffusion model in ten steps that add fresh noise."""

    def step(x: Any, time: Any) -> Any:
        noise = jnp.tanh(x @ w) * time
        fresh = jax.random.normal(jax.random.fold_in(key, time.astype(int)), x.shape, x.dtype)
        return x - 0.1 * noise + 0.01 * fresh, noise.std()

    return lax.scan(step, jax.random.normal(key, (4, 8), jnp.float32), jnp.linspace(9, 0, 10, dtype=jnp.float32))


def message(nodes: Any, edges: Any) -> Any:
    """Compute a graph network layer: sum, mean and softmax over the incoming edges of each node."""
    source, target = edges
    sums, count = (jax.ops.segment_sum(v, target, 6) for v in (nodes[source], jnp.ones(12)))
    scores = jnp.exp(nodes[source, 0] - jax.ops.segment_max(nodes[source, 0], target, 6)[target])
    weights = scores / jax.ops.segment_sum(scores, target, 6)[target]
    return sums / jnp.maximum(count, 1)[:, None], jax.ops.segment_sum(weights[:, None] * nodes[source], target, 6)


def quantized(x: Any, w: Any) -> Any:
    """Compute a product of int8 matrices in int32, with scales by row and column."""
    (a, s), (b, t) = (
        (jnp.round(v / (m := abs(v).max(k, keepdims=True) / 127)).astype(jnp.int8), m) for v, k in ((x, 1), (w, 0))
    )
    return lax.dot(a, b, preferred_element_type=jnp.int32) * s * t


def kalman(f: Any, q: Any) -> Any:
    """Run a Kalman filter over twenty measurements of two of four state variables."""
    h, r = jnp.eye(2, 4), 0.1 * jnp.eye(2)

    def step(state: Any, z: Any) -> Any:
        x, p = f @ state[0] * 0.3, f @ state[1] @ f.T * 0.09 + q
        gain = jnp.linalg.solve(h @ p @ h.T + r, h @ p).T
        return (x + gain @ (z - h @ x), (jnp.eye(4) - gain @ h) @ p), jnp.linalg.slogdet(p)[1]

    return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), jnp.sin(jnp.arange(40.0)).reshape(20, 2))


def gaussian_process(x: Any, y: Any) -> Any:
    """Return the gradient of the likelihood by length scale and noise, and a prediction."""
    kernel = lambda a, b, s: jnp.exp(-((a[:, None] - b) ** 2) / (2 * s**2))  # noqa: E731

    def likelihood(scale: Any, noise: Any) -> Any:
        factor = jnp.linalg.cholesky(kernel(x, x, scale) + noise * jnp.eye(len(x)))
        return y @ jax.scipy.linalg.cho_solve((factor, True), y) / 2 + jnp.log(jnp.diagonal(factor)).sum()

    weights = jnp.linalg.solve(kernel(x, x, 1.0) + 0.1 * jnp.eye(len(x)), y)
    return jax.value_and_grad(likelihood, (0, 1))(1.0, 0.1), kernel(x + 0.5, x, 1.0) @ weights


def integrated(y: Any, w: Any) -> Any:
    return odeint(lambda y, t: jnp.tanh(w @ y) - y * t, y, jnp.linspace(0.0, 1, 5), rtol=1e-6)


def newton(x: Any) -> Any:
    objective = lambda v: jnp.sum(jnp.cosh(v - 1)) + jnp.sum(v**2) * jnp.sum(v) ** 2 / 9  # noqa: E731
    step = lambda v, _: (v - jnp.linalg.solve(jax.hessian(objective)(v), jax.grad(objective)(v)), objective(v))  # noqa: E731
    return lax.scan(step, x, length=12)


def lbfgs(x: Any) -> Any:
    objective = lambda v: jnp.sum((v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2)  # noqa: E731
    solver = optax.lbfgs()

    def step(state: Any, _: Any) -> Any:
        value, gradient = optax.value_and_grad_from_state(objective)(state[0], state=state[1])
        moves = {"value": value, "grad": gradient, "value_fn": objective}
        update, inner = solver.update(gradient, state[1], state[0], **moves)
        return (optax.apply_updates(state[0], update), inner), value

    return lax.scan(step, (x, solver.init(x)), length=6)[1]


def inexact(product: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, w: product(sparse.BCOO.fromdense(jnp.where(x > 0, x, 0), nse=48), w)


def drawn(implementation: str) -> Callable[..., Any]:
    """Return a function that draws from many distributions with one of JAX's generators."""

    def draw(seed: Any) -> Any:
        a, b, c, d = jax.random.split(jax.random.key(seed[0], impl=implementation), 4)
        uniform = jax.random.uniform(a, (3, 5)), jax.random.bits(a, (7,), jnp.uint8), jax.random.bernoulli(a, 0.3, (5,))
        whole = jax.random.randint(b, (9,), -5, 5), jax.random.categorical(b, jnp.arange(5.0), shape=(6,))
        order = (
            jax.random.permutation(c, 11),
            jax.random.choice(c, 9, (4,), replace=False),
            jax.random.laplace(c, (4,)),
        )
        return uniform, whole, order, jax.random.gamma(d, 2.5, (3,)), jax.random.truncated_normal(d, -1, 1, (4,))

    return draw


PROGRAMS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "generate": (generate, [PROMPT, EMBEDDING, PROJECTIONS]),
    "diffusion": (diffuse, [KEY, W]),
    "graph": (message, [NODES, EDGES]),
    "int8": (quantized, [X, W]),
    "kalman": (kalman, [SQUARE, POSITIVE]),
    "gaussian-process": (gaussian_process, [V.astype(np.float64), array(16, dtype=np.float64)]),
    "odeint": (integrated, [SQUARE[0], SQUARE]),
    "odeint-gradient": (jax.grad(lambda y, w: integrated(y, w).sum()), [SQUARE[0], SQUARE]),
    "newton": (newton, [SQUARE[0]]),
    "lbfgs": (lbfgs, [SQUARE[0]]),
    "sparse": (inexact(lambda s, w: (s @ w, (s.T @ s).todense(), s.sum(0).todense())), [X, W]),
    "fft-convolution": (lambda x, w: jax.scipy.signal.fftconvolve(x, w), [X, W]),
    "stft": (lambda v: jax.scipy.signal.stft(v, nperseg=8)[2], [V]),
    **{f"random.{name}": (drawn(name), [KEY]) for name in ("threefry2x32", "rbg", "unsafe_rbg")},
}  # fmt: skip


def samples() -> Iterator[Sample]:
    for name, program in PROGRAMS.items():
        yield Sample(name, partial(exported, *program))


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    sys.exit(main(samples(), "JAX"))
