"""Time programs of many small ops, a tree search, iLQR, PPO and an LSTM, against XLA on one CPU, and compare results.

    python tools/exports/jax_loops.py [REGEX]

The exit code is the number of programs whose results differ. Needs the extra `jax`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax_functions import KEY, array

import stablehlo_ref as sr

REPEATS = 5
WARM_UP = 0.5  # seconds of runs before those that are timed: hot loops become Python source, or machine code
NODES, ACTIONS, FEATURES = 33, 4, 16  # of the tree search
HORIZON, STEP = 40, np.float32(0.05)  # of iLQR
STEPS, ENVIRONMENTS = 32, 8  # of PPO


def search(features: Any, weights: Any, heads: Any) -> Any:
    """Search a tree: select by upper confidence bounds, expand by a small model, and back up the values."""

    def select(tree: Any) -> Any:
        children, visits, totals, _ = tree

        def score(node: Any) -> Any:
            child = children[node]
            seen = jnp.where(child >= 0, visits[child], 0.0)
            value = jnp.where(seen > 0, totals[child] / jnp.maximum(seen, 1.0), 0.0)
            return value + jnp.sqrt(visits[node]) / (1.0 + seen)

        def descend(state: Any) -> Any:
            node, _, _ = state
            action = jnp.argmax(score(node)).astype(jnp.int32)
            return children[node, action], node, action

        return lax.while_loop(lambda s: s[0] >= 0, descend, (jnp.int32(0), jnp.int32(0), jnp.int32(0)))

    def simulate(number: Any, state: Any) -> Any:
        tree, parents = state
        _, parent, action = select(tree)
        children, visits, totals, hidden = tree
        new = jnp.tanh(weights[action] @ hidden[parent])
        tree = children.at[parent, action].set(number), visits, totals, hidden.at[number].set(new)
        parents = parents.at[number].set(parent)

        def back_up(state: Any) -> Any:
            node, visits, totals, value = state
            return parents[node], visits.at[node].add(1.0), totals.at[node].add(value), value * 0.97

        _, visits, totals, _ = lax.while_loop(
            lambda s: s[0] >= 0, back_up, (number, visits, totals, jnp.tanh(heads @ new))
        )
        return (tree[0], visits, totals, tree[3]), parents

    children = jnp.full((NODES, ACTIONS), -1, jnp.int32)
    hidden = jnp.zeros((NODES, FEATURES), jnp.float32).at[0].set(features)
    zeros = jnp.zeros(NODES, jnp.float32)
    tree = children, zeros.at[0].set(1.0), zeros, hidden
    (_, visits, totals, _), _ = lax.fori_loop(1, NODES, simulate, (tree, jnp.full(NODES, -1, jnp.int32)))
    return visits, totals


def pendulum(x: Any, u: Any) -> Any:
    """Return the state of a pendulum, an angle and its speed, after a step."""
    speed = x[1] + STEP * (9.81 * jnp.sin(x[0]) + u[0])
    return jnp.stack([x[0] + STEP * speed, speed])


def control(x0: Any, controls: Any) -> Any:
    """Improve the controls of a pendulum by three iterations of iLQR."""

    def cost(x: Any, u: Any) -> Any:
        return (x[0] - np.float32(np.pi)) ** 2 + 0.1 * x[1] ** 2 + 0.01 * u[0] ** 2

    def backward(value: Any, point: Any) -> Any:
        (vx, vxx), (x, u) = value, point
        fx, fu = jax.jacfwd(pendulum, (0, 1))(x, u)
        (lx, lu), ((lxx, _), (_, luu)) = jax.grad(cost, (0, 1))(x, u), jax.hessian(cost, (0, 1))(x, u)
        qx, qu = lx + fx.T @ vx, lu + fu.T @ vx
        qxx, quu, qux = lxx + fx.T @ vxx @ fx, luu + fu.T @ vxx @ fu, fu.T @ vxx @ fx
        gain, offset = -qux / quu[0, 0], -qu / quu[0, 0]
        return (qx + gain.T @ qu, qxx + qux.T @ gain), (gain, offset)

    def iterate(controls: Any, _: Any) -> Any:
        _, states = lax.scan(lambda x, u: (pendulum(x, u), x), x0, controls)
        zero = jnp.zeros(2, jnp.float32), jnp.zeros((2, 2), jnp.float32)
        _, (gains, offsets) = lax.scan(backward, zero, (states, controls), reverse=True)

        def forward(x: Any, plan: Any) -> Any:
            state, u, gain, offset = plan
            u = jnp.clip(u + 0.5 * offset + gain @ (x - state), -5.0, 5.0)
            return pendulum(x, u), (u, cost(x, u))

        _, (controls, costs) = lax.scan(forward, x0, (states, controls, gains, offsets))
        return controls, costs.sum()

    return lax.scan(iterate, controls, None, length=3)


def learn(key: Any, parameters: Any, states: Any) -> Any:
    """Collect steps of pendulums under a random policy, and update it twice by PPO."""

    def act(parameters: Any, x: Any) -> Any:
        w1, w2, w3 = parameters
        hidden = jnp.tanh(x @ w1)
        return hidden @ w2, (hidden @ w3)[..., 0]

    def step(state: Any, key: Any) -> Any:
        logits, value = act(parameters, state)
        action = jax.random.categorical(key, logits)
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
        following = jax.vmap(pendulum)(state, (action[:, None] - 1).astype(jnp.float32))
        return following, (state, action, chosen, value, jnp.cos(state[:, 0]))

    last, (x, action, chosen, value, reward) = lax.scan(step, states, jax.random.split(key, STEPS))

    def advantage(later: Any, now: Any) -> Any:
        total, following = later
        value, reward = now
        total = reward + 0.99 * following - value + 0.95 * 0.99 * total
        return (total, value), total

    first = jnp.zeros(ENVIRONMENTS, jnp.float32), act(parameters, last)[1]
    _, gained = lax.scan(advantage, first, (value, reward), reverse=True)
    scaled = (gained - gained.mean()) / (gained.std() + 1e-8)

    def loss(parameters: Any) -> Any:
        logits, now = act(parameters, x)
        logs = jax.nn.log_softmax(logits)
        ratio = jnp.exp(jnp.take_along_axis(logs, action[..., None], 2)[..., 0] - chosen)
        surrogate = jnp.minimum(ratio * scaled, jnp.clip(ratio, 0.8, 1.2) * scaled).mean()
        return ((now - value - gained) ** 2).mean() - surrogate + 0.01 * (jnp.exp(logs) * logs).sum(-1).mean()

    def update(parameters: Any, _: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(parameters)
        return jax.tree.map(lambda p, g: p - 0.01 * g, parameters, slopes), value

    return lax.scan(update, parameters, None, length=2)


def lstm(inputs: Any, w: Any, u: Any, b: Any) -> Any:
    """Run an LSTM over a sequence."""

    def step(state: Any, x: Any) -> Any:
        h, c = state
        i, f, g, o = jnp.split(x @ w + h @ u + b, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros(u.shape[0], jnp.float32)
    return lax.scan(step, (zeros, zeros), inputs)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "tree search": (search, (array(FEATURES), array(ACTIONS, FEATURES, FEATURES), array(FEATURES))),
    "iLQR": (control, (np.float32([0.1, 0.0]), 0.1 * array(HORIZON, 1))),
    "PPO": (learn, (KEY, (array(2, 32), array(32, 3), array(32, 1)), array(ENVIRONMENTS, 2))),
    "LSTM": (lstm, (array(128, 32), array(32, 256), 0.1 * array(64, 256), array(256))),
}


def seconds(run: Callable[..., Any], arguments: Sequence[Any], batch: int) -> float:
    """Return the CPU time of a run: the least of some batches, after the first runs."""
    times, start = list[float](), process_time()
    while process_time() - start < WARM_UP:
        jax.block_until_ready(run(*arguments))
    for _ in range(REPEATS):
        start = process_time()
        for _ in range(batch):
            jax.block_until_ready(run(*arguments))
        times.append((process_time() - start) / batch)
    return min(times)


def compare(name: str) -> bool:
    """Print the times of both and their ratio; return whether results agree."""
    function, arguments = PROGRAMS[name]
    lowered = jax.jit(function).lower(*arguments)
    compiled, program = lowered.compile(), sr.parse(lowered.as_text())
    flat = [np.asarray(x) for x in jax.tree.leaves(arguments)]
    pairs = zip(program.run(*flat), jax.tree.leaves(compiled(*arguments)))
    agrees = all(np.allclose(a, b, rtol=1e-3, atol=1e-3) for a, b in pairs)
    ours, xla = seconds(program.run, flat, 10), seconds(compiled, arguments, 100)
    verdict = "agrees" if agrees else "differs"
    print(f"{name:12} {ours * 1e3:8.2f} ms, XLA {xla * 1e3:8.3f} ms: {ours / xla:6.1f} x, {verdict}")
    return agrees


if __name__ == "__main__":
    found = [name for name in PROGRAMS if re.search("".join(sys.argv[1:2]), name)]
    sys.exit(len([name for name in found if not compare(name)]))
