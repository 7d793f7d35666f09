# Needs JAX: pip install '.[jax]'
import jax
import jax.numpy as jnp

import stablehlo_ref as sr
from stablehlo_ref.testing import assert_close


def model(params, x):
    return jax.nn.softmax(jnp.tanh(x @ params["w"]) + params["b"])


params = {"w": jnp.eye(4), "b": jnp.arange(4.0)}
x = jnp.linspace(-1, 1, 8).reshape(2, 4)

program = sr.from_jax(model, params, x)  # sr.from_torch(module, (x,)) likewise
assert_close(program.run(params, x), model(params, x), rtol=1e-6)
