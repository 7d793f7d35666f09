"""Single PyTorch functions, and operands for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

SOURCE = torch.Generator().manual_seed(0)


def array(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return normally distributed numbers, or integers from -9 to 9 (0 to 9 if unsigned)."""
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, generator=SOURCE, dtype=torch.promote_types(dtype, torch.float32)).to(dtype)
    return torch.randint(-9 if dtype.is_signed else 0, 10, shape, generator=SOURCE).to(dtype)


X, Y, Z, M = array(3, 4), array(3, 4), array(2, 3, 4), array(3, 4) > 0
N, K, V, D = array(3, 4, dtype=torch.int32), array(3, 4, dtype=torch.int64), array(12), array(3, 4, dtype=torch.float64)
C, U, B, H = (array(4, 4, dtype=t) for t in (torch.complex64, torch.uint8, torch.bfloat16, torch.float16))
S, W, P = array(3, 4, dtype=torch.int8), array(5, 5), (lambda a: a @ a.T + torch.eye(5))(array(5, 5))
HEADS, CLASSES, ROWS, COLUMNS = array(2, 3, 5, 4), torch.tensor([1, 0, 3]), torch.tensor([2, 0, 1, 2]), torch.arange(4)
PLACES = torch.tensor([[0, 2, 1, 0], [1, 1, 0, 2], [2, 0, 2, 1]])

NAMES: list[tuple[Any, str, list[Any]]] = [  # module, functions, operands
    (torch, "abs acos asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc exp exp2 expm1 floor frac", [X / 4]),
    (torch, "isfinite isinf isnan isneginf lgamma neg rad2deg reciprocal relu round sigmoid sgn sign square", [X]),
    (torch, "signbit sin sinc sinh tan tanh trunc isposinf logit nan_to_num erfinv i0", [X]),
    (torch, "acosh log log10 log1p log2 rsqrt sqrt", [abs(X) + 1]),
    (torch, "add sub mul div remainder fmod maximum minimum fmax fmin atan2 hypot logaddexp logaddexp2", [X, Y]),
    (torch, "copysign nextafter eq ne lt le gt ge floor_divide dist xlogy heaviside isclose", [X, Y]),
    (torch, "pow", [abs(X), Y]),
    (torch, "add sub mul div fmod remainder maximum floor_divide bitwise_and bitwise_or bitwise_xor", [N, abs(N) + 1]),
    (torch, "bitwise_left_shift bitwise_right_shift gcd lcm eq lt", [N, abs(N) + 1]),
    (torch, "bitwise_not abs sum prod amax argmax sort", [K]),
    (torch, "add div", [U, U + 1]),
    (torch, "matmul add mul", [B, B]),
    (torch, "exp tanh amax sum", [abs(B)]),
    (torch, "sum amax bitwise_not", [U]),
    (torch, "sum mean exp tanh amin", [H]),
    (torch, "sum mean exp sin std", [D]),
    (torch, "logical_and logical_or logical_xor bitwise_and", [M, X > 1]),
    (torch, "logical_not all any sum count_nonzero nonzero", [M]),
    (torch, "sum mean prod amax amin aminmax max min argmax argmin std var std_mean var_mean median norm", [X]),
    (torch, "sort argsort msort t ravel flatten fliplr flipud tril triu trace diagonal", [X]),
    (torch, "diag diag_embed diff trapz vander", [V]),
    (torch, "ones_like zeros_like clone isreal", [X]),
    (torch, "abs angle conj real imag exp log sqrt sin tanh sum mean view_as_real", [C]),
    (torch, "mul matmul add div", [C, C + 1]),
    (torch, "mm matmul", [X, array(4, 5)]),
    (torch, "inner kron cdist", [X, Y]),
    (torch, "outer dot vdot", [V, array(12)]),
    (torch, "bmm", [Z, array(2, 4, 5)]),
    (torch, "mv", [X, V[:4]]),
    (torch, "addmm", [array(3, 5), X, array(4, 5)]),
    (torch, "addcmul addcdiv", [X, Y, abs(Y) + 1]),
    (torch.fft, "fft ifft fft2 fftshift", [C]),
    (torch.fft, "rfft ihfft rfft2", [X]),
    (torch.linalg, "cholesky inv det slogdet svdvals eigvalsh norm matrix_norm pinv cond", [P]),
    (torch.linalg, "solve", [P, array(5, 2)]),
    (torch.special, "entr erfcx expit gammaln i0e i1 i1e log_ndtr ndtr psi", [abs(X)]),
    (torch.special, "zeta gammainc gammaincc", [abs(X) + 1.5, abs(Y) + 1]),
]

FUNCTIONS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    **{f"to.{t}".replace("torch.", ""): (lambda x, t=t: (x * 3).to(t), [X]) for t in (
        torch.bfloat16, torch.float16, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool,
        torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2)},
    **{f"from.{x.dtype}".replace("torch.", ""): (lambda x: x.to(torch.float32), [x]) for x in (B, H, D, S, U, N, K, M)},
    "view_dtype": (lambda x: x.view(torch.int32), [X]),
    "promote": (lambda h, n, d: (h[:3] + n, n * 1.5, n + d, h[:3] + d), [H, N, D]),
    "sum_dims": (lambda x: (x.sum((0, 2)), x.mean(1, keepdim=True), x.prod(0), x.sum(dtype=torch.float64)), [Z]),
    "max_dim": (lambda x: (*x.max(1), *x.min(0, keepdim=True)), [X]),
    "argmax_dim": (lambda x: (x.argmax(1), x.argmin(0, keepdim=True)), [X]),
    "var_dim": (lambda x: (x.var(1, correction=0), x.std((0, 1), keepdim=True)), [X]),
    "logsumexp": (lambda x: torch.logsumexp(x, 1), [X]),
    "norms": (lambda x: (x.norm(1, 1), torch.linalg.vector_norm(x, float("inf"), 0), x.norm(3)), [X]),
    "any_dim": (lambda m: (m.any(1), m.all(0)), [M]),
    "median_dim": (lambda x: x.median(1), [X]),
    "kthvalue": (lambda x: x.kthvalue(2, 1), [X]),
    "quantile": (lambda x: torch.quantile(x, 0.3, 1), [X]),
    "cumsum": (lambda x: (x.cumsum(1), x.cumsum(0)), [X]),
    "cumprod": (lambda x: x.cumprod(1), [X]),
    "cummax": (lambda x: (*x.cummax(1), *x.cummin(0)), [X]),
    "logcumsumexp": (lambda x: x.logcumsumexp(1), [X]),
    "sort": (lambda x, k: (*x.sort(1, descending=True), *k.sort(0)), [X, K]),
    "argsort": (lambda x: x.argsort(0, descending=True), [X]),
    "topk": (lambda x: (*x.topk(2), *x.topk(2, 0, largest=False)), [X]),
    "searchsorted": (lambda v, x: torch.searchsorted(v.sort()[0], x), [V, X]),
    "bucketize": (lambda v, x: torch.bucketize(x, v.sort()[0], right=True), [V, X]),
    "bincount": (lambda k: torch.bincount(k, minlength=5), [ROWS]),
    "unique": (lambda k: torch.unique(k), [K]),
    "histc": (lambda v: torch.histc(v, 4, -2, 2), [V]),
    "one_hot": (lambda k: F.one_hot(k, 5), [CLASSES]),
    "embedding": (lambda w, k: F.embedding(k, w), [W, PLACES]),
    "embedding_bag": (lambda w, k: F.embedding_bag(k, w, mode="sum"), [W, PLACES]),
    "index": (lambda x, i, j: (x[i], x[i, j], x[:, j[None]], x[..., -1], x[1:, ::2], x[None]), [X, ROWS, COLUMNS]),
    "index_mask": (lambda x, m: x[m], [X, M]),
    "index_select": (lambda x, i: x.index_select(0, i), [X, ROWS]),
    "index_add": (lambda x, i: x.index_add(0, i, torch.ones(4, 4), alpha=2), [X, ROWS]),
    "index_copy": (lambda x, i, y: x.index_copy(0, i[:3], y), [X, ROWS, Y]),
    "index_fill": (lambda x, i: x.index_fill(1, i, 7.0), [X, CLASSES]),
    "index_put": (lambda x, i, j: x.index_put((i, j), torch.tensor(5.0)), [X, ROWS, COLUMNS]),
    "index_put_add": (lambda x, i, v: x.index_put((i,), v[:4], accumulate=True), [X, ROWS, V]),
    "gather": (lambda x, i: (x.gather(0, i), x.gather(1, i)), [X, PLACES]),
    "take": (lambda x, i: (x.take(i), x.take_along_dim(i, 1)), [X, PLACES]),
    "scatter": (lambda x, i, y: x.scatter(0, i[:1], y), [X, PLACES, Y]),
    "scatter_value": (lambda x, i: x.scatter(1, i[:, :1], 3.5), [X, PLACES]),
    "scatter_add": (lambda x, i, y: x.scatter_add(0, i, y), [X, PLACES, Y]),
    "scatter_reduce": (lambda x, i, y: x.scatter_reduce(1, i, y, "amax"), [X, PLACES, Y]),
    "scatter_mean": (lambda x, i, y: x.scatter_reduce(0, i, y, "mean", include_self=False), [X, PLACES, Y]),
    "select_scatter": (lambda x, v: x.select_scatter(v[:4], 0, 1), [X, V]),
    "slice_scatter": (lambda x, y: x.slice_scatter(y[:, :2], 1, 0, 4, 2), [X, Y]),
    "diagonal_scatter": (lambda x, v: x.diagonal_scatter(v[:3]), [X, V]),
    "masked_fill": (lambda x, m: x.masked_fill(m, -1.0), [X, M]),
    "masked_scatter": (lambda x, m, y: x.masked_scatter(m, y), [X, M, Y]),
    "masked_select": (lambda x, m: x.masked_select(m), [X, M]),
    "where": (lambda m, x, y: (torch.where(m, x, y), torch.where(m, x, 0)), [M, X, Y]),
    "clamp": (lambda x, y: (x.clamp(-0.5, 0.5), x.clamp(min=y), x.clamp_max(0.1)), [X, Y]),
    "lerp": (lambda x, y: (torch.lerp(x, y, 0.3), torch.lerp(x, y, y)), [X, Y]),
    "div_modes": (lambda x, n: (x.div(0.3, rounding_mode="floor"), n.div(4, rounding_mode="trunc")), [X, N]),
    "pow_scalar": (lambda x: (x**2, x**-1, 2**x, abs(x) ** 0.5, x**3), [X]),
    "round_decimals": (lambda x: x.round(decimals=1), [X]),
    "polygamma": (lambda x: torch.polygamma(1, abs(x)), [X]),
    "cat": (lambda x, y: (torch.cat([x, y, x], 1), torch.stack([x, y], -1), torch.hstack([x, y])), [X, Y]),
    "split": (lambda x: (*x.split(3, 1), *x.chunk(2), *x.unbind(1)), [X]),
    "reshape": (lambda x: (x.view(4, -1), x.unflatten(0, (2, 1)), x.squeeze(0).unsqueeze(1)), [Z]),
    "permute": (lambda x: (x.permute(2, 0, 1), x.transpose(0, 1), x.mT, x.movedim(0, 1)), [Z]),
    "expand": (lambda v: (v.expand(3, 12), v.repeat(2, 2), v.tile(2), v.repeat_interleave(2)), [V]),
    "flip": (lambda x: (x.flip(0, 1), x.rot90()), [X]),
    "roll": (lambda x: (x.roll((1, -1), (0, 1)), x.roll(1, 0)), [X]),
    "roll_flat": (lambda x: x.roll(5), [X]),
    "triangles": (lambda x: (x.tril(1), x.triu(-1), torch.tril_indices(3, 3)), [X]),
    "unfold": (lambda x: x.unfold(1, 2, 1), [X]),
    "as_strided": (lambda x: x.as_strided((3, 2), (1, 2)), [X]),
    "arange": (lambda x: (x + torch.arange(4), torch.arange(0.0, 2, 0.5), x + torch.linspace(0, 1, 4)), [X]),
    "eye": (lambda x: (x @ torch.eye(4), torch.full_like(x, 2, dtype=torch.int32), x.new_zeros(2)), [X]),
    "meshgrid": (lambda v, w: torch.meshgrid(v, w, indexing="ij"), [V, V[:3]]),
    "einsum": (lambda x, y: (torch.einsum("ij,kj->ik", x, y), torch.einsum("ij,ij->", x, y)), [X, Y]),
    "einsum_batched": (lambda q, k: torch.einsum("bhqd,bhkd->bhqk", q, k), [HEADS, HEADS + 1]),
    "tensordot": (lambda z, y: torch.tensordot(z, y, ([1, 2], [0, 1])), [Z, Y]),
    "matmul_broadcast": (lambda z, w: z @ w, [HEADS, array(4, 2)]),
    "matmul_integer": (lambda n: n @ n.T, [K]),
    "matrix_power": (lambda w: torch.linalg.matrix_power(w, 3), [W]),
    "cross": (lambda x, y: torch.linalg.cross(x[:, :3], y[:, :3]), [X, Y]),
    "qr": (lambda w: torch.linalg.qr(w)[1].abs(), [W]),
    "svd": (lambda w: (lambda u, s, v: (s, u * s @ v))(*torch.linalg.svd(w, full_matrices=False)), [X]),
    "eigh": (lambda p: (lambda w, v: (w, v * w @ v.T))(*torch.linalg.eigh(p)), [P]),
    "lu": (lambda w: torch.linalg.lu(w), [W]),
    "triangular_solve": (lambda p, w: torch.linalg.solve_triangular(p.tril(), w, upper=False), [P, W]),
    "complex": (lambda x, y: torch.view_as_real(torch.complex(x, y) * torch.polar(abs(x), y)), [X, Y]),
    "irfft": (lambda c: torch.fft.irfft(c), [C]),
    "stft": (lambda v: torch.stft(v, 4, 2, window=torch.ones(4), return_complex=True), [V]),
    "while_loop": (lambda x: torch._higher_order_ops.while_loop(
        lambda v: v.sum() < 100, lambda v: (v * 2,), (abs(x),)), [X]),
    "cond": (lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), [X]),
    "vmap": (torch.vmap(lambda x, y: x @ y), [X, Y]),
    "rand": (lambda x: (lambda r: (r >= 0) & (r < 1))(torch.rand_like(x)), [X]),
    "dropout_random": (lambda x: (lambda y: (y == 0) | (y == x * 2))(F.dropout(x, 0.5)), [X]),
}  # fmt: skip
