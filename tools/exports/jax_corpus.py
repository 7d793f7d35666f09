"""Export the public functions of JAX for one device and for eight, run them, and compare the results with JAX's.

    python tools/exports/jax_corpus.py [--only REGEX] [--save FOLDER]

These are the samples of jax_functions.py and many more, from text and from portable artifacts. On eight devices the
operands are sharded. Functions that this version of JAX does not have are left out. The exit code is 1 if a result
differs. Needs the extras `jax` and `lapack`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.stats
import numpy as np
from compare import Case, NotExported, Sample, main
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from jax_functions import KEY, C, N, P, V, X, Y, array, exported
from jax_functions import samples as functions

MESH = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
A, B, I8, U32 = abs(X) + 0.5, abs(Y) + 0.5, array(4, 8, dtype=np.int8), array(4, 8, dtype=np.uint32)
UNIT, LARGE, HALVES, TRUE = np.abs(np.tanh(X)), array(16, 8), array(8, 4).astype(np.float16), X > 0
special, stats, signal = jax.scipy.special, jax.scipy.stats, jax.scipy.signal

NAMES: list[tuple[Any, str, list[Any]]] = [  # module, functions, operands
    (lax, "bessel_i0e reciprocal log2 one_minus_square stop_gradient", [A]),
    (lax, "cumlogsumexp cummax cummin cumprod cumsum", [LARGE]),
    (lax, "igammac igamma_grad_a random_gamma_grad polygamma", [A, B]),
    (lax, "mulhi mul max min div rem", [U32, U32 + np.uint32(1)]),
    (lax, "dot batch_matmul", [array(2, 4, 8)[0], LARGE[:8]]),
    (jnp, "all any isfinite isnan isposinf isneginf logical_not", [X]),
    (jnp, "arccos arcsin arctan arctanh arcsinh deg2rad rad2deg sinc spacing reciprocal fabs log10 log2", [UNIT]),
    (jnp, "nanmean nansum nanmax nanmin nanstd nanvar nanprod nanmedian nanargmax nancumsum nancumprod", [X]),
    (jnp, "around rint positive negative conj angle exp2 cbrt diff ediff1d unwrap", [V]),
    (jnp, "fliplr flipud squeeze transpose cov corrcoef average atleast_3d matrix_transpose unstack", [X[:, :3]]),
    (jnp, "logaddexp2 remainder divmod float_power true_divide fmax fmin greater less_equal nextafter", [A, B]),
    (jnp, "hstack vstack dstack column_stack concatenate stack block", [[X, Y]]),
    (jnp, "gcd lcm left_shift right_shift bitwise_or bitwise_xor bitwise_and isin", [abs(N), abs(N) + 1]),
    (jnp, "bitwise_count bitwise_invert packbits invert sort argsort", [array(16, dtype=np.uint8)]),
    (jnp, "logical_and logical_or logical_xor", [TRUE, UNIT > 0.5]),
    (jnp, "polyadd polysub polymul polyval trapezoid searchsorted vecdot", [V, V + 1]),
    (jnp, "polyder polyint vander diagflat sort_complex", [V]),
    (jnp, "add subtract multiply matmul dot vdot inner maximum minimum", [I8[:, :4], I8[:, 4:]]),
    (jnp, "sum mean max argmax prod sort cumsum var tanh exp", [HALVES]),
    (jnp, "sum mean prod cumsum exp sort absolute std", [C]),
    (jax.nn, "celu elu gelu glu hard_sigmoid hard_silu hard_tanh leaky_relu log_sigmoid log_softmax logmeanexp", [X]),
    (jax.nn, "logsumexp mish relu relu6 selu sigmoid silu soft_sign softmax softplus sparse_plus squareplus", [X]),
    (jax.nn, "standardize log1mexp sparse_sigmoid swish", [A]),
    (special, "entr erfcinv expit i0 i0e i1 i1e log_ndtr ndtr ndtri gammaln gamma digamma logit spence", [UNIT]),
    (special, "dawsn erfcx exp1 expi fresnel sici loggamma factorial", [A]),
    (special, "beta betaln boxcox boxcox1p gammainc gammaincc kl_div poch rel_entr xlog1py xlogy zeta", [A + 1, B]),
    (stats, "rankdata sem mode", [X]),
    (stats.norm, "cdf logcdf logpdf pdf ppf sf isf logsf", [UNIT.astype(np.float64)]),
    (stats.cauchy, "cdf logpdf pdf ppf sf", [UNIT]),
    (stats.logistic, "cdf logpdf pdf ppf sf", [UNIT]),
    (stats.gamma, "cdf logpdf pdf sf logcdf", [A, B]),
    (stats.t, "logpdf pdf", [A, B]),
    (stats.poisson, "cdf logpmf pmf", [abs(N), A]),
    (stats.chi2, "cdf logpdf sf", [A, B]),
    (jnp.fft, "fftn ifft2 fftshift ifftshift hfft irfft", [C]),
    (jnp.fft, "rfft2 rfftn", [LARGE]),
    (jnp.linalg, "trace vector_norm matrix_norm eigvalsh pinv", [P]),
    (jax.scipy.linalg, "cholesky cho_factor lu lu_factor polar sqrtm det inv toeplitz", [P]),
    (signal, "convolve2d correlate2d", [X, Y]),
]  # fmt: skip

DISTRIBUTIONS: dict[str, tuple[float, ...]] = {
    "beta": (2, 3), "binomial": (9, 0.3), "chisquare": (3,), "f": (3, 4), "gamma": (2,), "geometric": (0.3,),
    "generalized_normal": (2,), "loggamma": (2,), "pareto": (2,), "poisson": (3,), "rayleigh": (2,), "t": (3,),
    "triangular": (0, 0.3, 1), "wald": (2,), "weibull_min": (1, 2), "bernoulli": (0.3,), "double_sided_maxwell": (1, 2),
    "cauchy": (), "exponential": (), "gumbel": (), "laplace": (), "logistic": (), "lognormal": (1,), "maxwell": (),
    "normal": (), "rademacher": (), "uniform": (),
}  # fmt: skip


def spread(x: np.ndarray) -> NamedSharding:
    """Return a sharding of the first axis whose size allows it, over as many of the eight devices as possible."""
    for axes, count in (("x", "y"), 8), ("y", 4), ("x", 2):
        for axis, size in enumerate(x.shape):
            if size and size % count == 0:
                return NamedSharding(MESH, PartitionSpec(*[None] * axis, axes))
    return NamedSharding(MESH, PartitionSpec())


def named(module: Any, name: str, operands: list[Any], **options: Any) -> Case:
    """Export a function of a module, if this version of JAX has and compiles it; operands may be lists of arrays."""
    function = getattr(module, name, None)
    if function is None:
        raise NotExported
    draw = lambda key: function(key, *DISTRIBUTIONS[name], shape=(4, 6))  # noqa: E731
    arrays, tree = jax.tree.flatten(operands)
    call = draw if module is jax.random else lambda *xs: function(*jax.tree.unflatten(tree, xs))
    try:
        return exported(call, arrays, **options)
    except jax.errors.JaxRuntimeError:
        raise NotExported from None


def samples() -> Iterator[Sample]:
    on_one = list(functions())
    for index, (module, names, operands) in enumerate([*NAMES, (jax.random, " ".join(DISTRIBUTIONS), [KEY])]):
        for name in names.split():
            label = f"{module.__name__.removeprefix('jax.')}.{name}.{index}"
            on_one.append(Sample(label, partial(named, module, name, operands)))
    for sample in on_one:
        yield sample
        if not sample.name.startswith("symbolic"):
            yield Sample(f"eight.{sample.name}", partial(sample.make, shard=spread))


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    sys.exit(main(samples(), "JAX"))
