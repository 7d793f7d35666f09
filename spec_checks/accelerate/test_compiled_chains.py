"""Compare chains in machine code with the ops one by one, bit by bit; needs the extra `jit`."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest

import stablehlo_ref as sr
import stablehlo_ref.program
from spec_checks.accelerate.test_chains import DTYPES, Writer, bits, pieces, small_chains, type_text
from spec_checks.examples import FACTOR
from stablehlo_ref.accelerate import chains, policy
from stablehlo_ref.accelerate.machine import compiler, functions, tensors
from stablehlo_ref.define.definition import REGISTRY
from stablehlo_ref.numerics import elementary
from stablehlo_ref.numerics.kernels import ArrayKernel

__all__ = ["small_chains"]
_OPS = {getattr(known.op_class, "floating", None): name for name, known in REGISTRY.items()}
NAMES = [_OPS[what] for what in functions.FUNCTIONS]
pytestmark = pytest.mark.skipif(not compiler.is_available(), reason="no llvmlite (the extra jit), or no jit")


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "SECONDS", -1.0)


def compiled(program: sr.Program, what: str = "a chain") -> bool:
    """Return whether a chain of a program, or an op of this name, runs as machine code."""
    titles = [title for plan in program.plans.values() for title, _ in plan.generated]
    return any(title.startswith(f"{what} at ") and title.endswith(", as machine code") for title in titles)


@pytest.mark.many_examples
@pytest.mark.usefixtures("small_chains")
@pytest.mark.parametrize("start", range(1000, 1160, 40))
def test_generated_programs(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "VECTOR", 16)
    monkeypatch.setattr(chains, "PIECE", 99)
    monkeypatch.setattr(chains, "STRIP", 10)
    count = 0
    for text, arrays in pieces(range(start, start + (40 if FACTOR else 12))):
        program = sr.parse(text)
        expected = bits(program.run(*arrays, fast=False))
        before = [x.tobytes() for x in arrays]
        for _ in range(3):
            assert bits(program.run(*arrays)) == expected, text
        assert [x.tobytes() for x in arrays] == before, f"an input was overwritten: {text}"
        count += compiled(program)
    assert count > (5 if FACTOR else 1)


NARROW_OPS = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "maximum", "minimum"), 2),
    **dict.fromkeys(("negate", "abs", "sign", "sqrt", "floor", "ceil", "round_nearest_even"), 1),
}


@pytest.mark.parametrize("op", NARROW_OPS)
@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_all_narrow_floats(element: str, op: str) -> None:
    t, count = type_text((1 << 18,), element), NARROW_OPS[op]
    program = sr.parse(f"""func.func @main(%x: {t}, %y: {t}) -> {t} {{
      %0 = stablehlo.{op} {", ".join(["%x", "%y"][:count])} : {t}
      return %0 : {t}
    }}""")
    numbers = np.resize(np.arange(1 << 16, dtype=np.uint16), 1 << 18)
    x, y = numbers.view(DTYPES[element]), np.random.default_rng(1).permutation(numbers).view(DTYPES[element])
    expected = bits(program.run(x, y, fast=False))
    for _ in range(2):
        assert bits(program.run(x, y)) == expected
    assert compiled(program)


@pytest.mark.parametrize("to", ["bf16", "f16", "f32", "f64", "i8", "i32", "ui16", "i1"])
@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_conversions_of_all_narrow_floats(element: str, to: str) -> None:
    t, u = (type_text((1 << 18,), e) for e in (element, to))
    program = sr.parse(f"""func.func @main(%x: {t}) -> {u} {{
      %0 = stablehlo.convert %x : ({t}) -> {u}
      return %0 : {u}
    }}""")
    x = np.resize(np.arange(1 << 16, dtype=np.uint16), 1 << 18).view(DTYPES[element])
    expected = bits(program.run(x, fast=False))
    for _ in range(2):
        assert bits(program.run(x)) == expected
    assert compiled(program)


def special_values(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return numbers of any sign, half of them special: NaNs of any bits, infinities, zeros, subnormal numbers."""
    if dtype.kind != "f":
        return rng.integers(0, 2, shape).astype(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    patterns = rng.integers(0, np.iinfo(unsigned).max, (5, *shape), unsigned, endpoint=True)
    infinity, subnormal = (np.array(x, dtype).view(unsigned) for x in (np.inf, np.finfo(dtype).smallest_normal / 8))
    sign = patterns[0] & ~(np.array(-1, f"i{dtype.itemsize}").view(unsigned) >> unsigned.type(1))
    nans, tiny = patterns[0] | infinity, sign | subnormal
    usual = (rng.standard_normal(shape) * 3).astype(dtype).view(unsigned)
    found = np.choose(rng.integers(0, 8, shape), [nans, sign | infinity, sign, tiny, *[usual] * 4])
    return found.astype(unsigned).view(dtype)


@pytest.mark.many_examples
@pytest.mark.usefixtures("small_chains")
@pytest.mark.parametrize("vector", [16, tensors.VECTOR])
@pytest.mark.parametrize("elements", [["f32"], ["f64"], ["f32", "f64", "i1", "i32"]], ids=",".join)
def test_bits_of_nans(elements: list[str], vector: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "VECTOR", vector)
    count = 0
    for seed in range(120 if FACTOR else 15):
        writer, rng = Writer(seed, elements), np.random.default_rng(seed)
        text = writer.program()
        arrays = [special_values(rng, shape, np.dtype(DTYPES[element])) for _, shape, element in writer.arguments]
        program = sr.parse(text)
        expected = bits(program.run(*arrays, fast=False))
        for _ in range(3):
            assert bits(program.run(*arrays)) == expected, text
        count += compiled(program)
    assert count > 5


def whole_chains(program: sr.Program) -> int:
    """Return how many chains of a program run as machine code."""
    return sum(
        "%renew, i64 %turns" in code and "chain" in title and "one by one" not in title
        for plan in program.plans.values()
        for title, code in plan.generated
    )


def rows_text(shape: tuple[int, ...], element: str, reduction: str) -> str:
    """Return a program that reduces rows twice, once of an operand, and stores results of all kinds."""
    t, kept, one = (type_text(s, element) for s in (shape, shape[:1], ()))
    axes = [*range(1, len(shape))]
    wide = type_text((shape[0], *[1] * len(axes)), element)
    negate = "not" if element == "i1" else "negate"
    reduced = f"applies stablehlo.{reduction} across dimensions = {axes} : ({t}, {one}) -> {kept}"
    return f"""func.func @main(%x: {t}, %y: {t}, %c: {one}) -> ({kept}, {t}, {wide}, {t}) {{
      %0 = stablehlo.reduce(%x init: %c) {reduced}
      %1 = stablehlo.{negate} %0 : {kept}
      %2 = stablehlo.broadcast_in_dim %1, dims = [0] : ({kept}) -> {t}
      %3 = stablehlo.add %y, %2 : {t}
      %4 = stablehlo.multiply %3, %x : {t}
      %5 = stablehlo.reduce(%4 init: %c) {reduced}
      %6 = stablehlo.broadcast_in_dim %5, dims = [0] : ({kept}) -> {wide}
      %7 = stablehlo.broadcast_in_dim %6, dims = {[0, *axes]} : ({wide}) -> {t}
      %8 = stablehlo.maximum %4, %7 : {t}
      return %0, %4, %6, %8 : {kept}, {t}, {wide}, {t}
    }}"""


def specials(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype, number: int) -> np.ndarray:
    """Return random elements, in a few forms: usual ones, zeros of both signs, NaNs with payloads, infinities."""
    if dtype.kind != "f":
        return (
            rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]
            if dtype.kind == "i"
            else (rng.random(shape) < 0.9)
        )
    x = (rng.standard_normal(shape) * 2.0 ** rng.integers(-9, 9, shape)).astype(dtype)
    if number == 1:
        x = np.copysign(dtype.type(0), x)
    if number > 1:
        payloads = np.array(np.nan, dtype).view(f"u{dtype.itemsize}") + rng.integers(1, 99, 2, f"u{dtype.itemsize}")
        some = np.array([np.inf, -np.inf, 0.0, -0.0, *-payloads.view(dtype)[: number - 2]], dtype)
        x = np.where(rng.random(shape) < 2 / shape[-1], rng.choice(some, shape), x)
    return x


SHAPES = [(3, 64), (2, 65), (4, 127), (3, 4, 40), (2, 1000), (3, 8192), (2, 5001), (1, 65536)]
KINDS = ["f64-add", "f32-maximum", "f64-minimum", "i32-add", "i32-minimum", "i8-maximum", "i8-and", "i1-or", "i1-add"]


@pytest.mark.usefixtures("small_chains")
@pytest.mark.parametrize(
    ("kind", "shape"), [*product(["f32-add"], SHAPES), *product(KINDS, SHAPES[1::3]), ("f32-minimum", (4, 127))]
)
def test_rows(kind: str, shape: tuple[int, ...]) -> None:
    element, reduction = kind.split("-")
    text = rows_text(shape, element, reduction)
    program, rng, dtype = sr.parse(text), np.random.default_rng(7), np.dtype(DTYPES[element])
    for number in range(5):
        x, y = (specials(rng, shape, dtype, number) for _ in range(2))
        for init in (0, 1, -0.0):
            arrays = x, y, np.array(init).astype(dtype)
            assert bits(program.run(*arrays)) == bits(program.run(*arrays, fast=False)), (number, init)
    assert whole_chains(program) == 1
    assert bits(program.run(*arrays, exact_sums=True)) == bits(program.run(*arrays, exact_sums=True, fast=False))


ELEMENTWISE = """func.func @main(%x: tensor<300x1100xf32>, %b: tensor<1100xf32>) -> tensor<300x1100xf32> {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<1100xf32>) -> tensor<300x1100xf32>
  %1 = stablehlo.add %x, %0 : tensor<300x1100xf32>
  %2 = stablehlo.exponential %1 : tensor<300x1100xf32>
  %3 = stablehlo.subtract %2, %0 : tensor<300x1100xf32>
  %4 = stablehlo.multiply %3, %x : tensor<300x1100xf32>
  return %4 : tensor<300x1100xf32>
}"""


@pytest.mark.parametrize("piece", [1 << 15, 1 << 24])
def test_pieces_and_forms_of_operands(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "PIECE", piece)
    monkeypatch.setattr(chains, "STRIP", 100)
    program, rng = sr.parse(ELEMENTWISE), np.random.default_rng(2)
    x, b = rng.standard_normal((600, 2200)).astype(np.float32), rng.standard_normal(1100).astype(np.float32)
    transposed = np.asfortranarray(x[:300, :1100])
    one = np.broadcast_to(np.float32(0.5), (300, 1100))
    for y in (x[:300, :1100], x[::2, 1100:], x[:300, ::2], x[300:0:-1, :1100], transposed, one):
        for c in (b, np.broadcast_to(b[0], 1100), b[::-1]):
            expected = bits(program.run(y, c, fast=False))
            for _ in range(2):
                assert bits(program.run(y, c)) == expected
    assert whole_chains(program) > 1


def test_threads_at_once() -> None:
    program, rng = sr.parse(ELEMENTWISE), np.random.default_rng(2)
    inputs = [[rng.standard_normal(s).astype(np.float32) for s in ((300, 1100), (1100,))] for _ in range(8)]
    expected = [bits(program.run(*arrays, fast=False)) for arrays in inputs]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert list(pool.map(lambda arrays: bits(program.run(*arrays)), inputs)) == expected


def test_the_deadline_is_checked_before_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    program, x, b = sr.parse(ELEMENTWISE), np.ones((300, 1100), np.float32), np.ones(1100, np.float32)
    monkeypatch.setattr(chains, "PIECE", 1 << 14)
    for _ in range(2):
        program.run(x, b)
    with pytest.raises(sr.StablehloError, match=r"takes longer than the limit of 0\.001 seconds"):
        program.run(x, b, limits=sr.Limits(max_seconds=0.001))


def operands(name: str) -> np.ndarray:
    """Return numbers of all magnitudes and signs, those at which results change most, and special ones."""
    rng = np.random.default_rng(len(name))
    random_bits = rng.integers(0, 1 << 32, 3 << 18, dtype=np.uint32).view(np.float32)
    usual = (rng.standard_normal(1 << 18) * 2.0 ** rng.integers(-12, 6, 1 << 18)).astype(np.float32)
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, -1e-45, 88.72284, -103.97, 4.0, 20.0])
    near = np.concatenate([special, np.nextafter(special, np.float32(1)), np.nextafter(special, np.float32(-1))])
    return np.concatenate([random_bits, usual, near, -near, np.float32(1) + near * np.float32(1e-6)])


def run_twice(name: str, x: np.ndarray) -> sr.Program:
    t = type_text(x.shape, "f32")
    text = f"""func.func @main(%x: {t}) -> ({t}, {t}) {{
      %0 = "{name}"(%x) : ({t}) -> {t}
      %1 = stablehlo.multiply %0, %x : {t}
      return %0, %1 : {t}, {t}
    }}"""
    program = sr.parse(text)
    expected = bits(program.run(x, fast=False))
    for _ in range(2):
        assert bits(program.run(x)) == expected
    assert compiled(program)
    return program


@pytest.mark.parametrize("name", NAMES)
def test_functions(name: str) -> None:
    run_twice(name, operands(name))


@pytest.mark.parametrize("name", NAMES)
def test_elements_in_doubt_are_computed_by_the_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    what, asked = REGISTRY[name].op_class.floating, list[int]()

    def kernels(dtype: np.dtype) -> ArrayKernel:
        kernel = what(dtype)

        def run(x: np.ndarray) -> np.ndarray:
            asked.append(x.size)
            return kernel(x)

        return run

    wide = functions.FUNCTIONS[what]._replace(error=2.0**-33)
    monkeypatch.setattr(functions, "FUNCTIONS", {**functions.FUNCTIONS, what: wide})
    monkeypatch.setattr(functions, "KERNELS", [kernels] * len(functions.KERNELS))
    x = np.random.default_rng(3).standard_normal(5 << 17).astype(np.float32)
    program = run_twice(name, x)
    expected, counts = bits(program.run(x, fast=False)), []
    for _ in range(2):  # from the third run on, all elements are computed by the chain's machine code
        asked.clear()
        assert bits(program.run(x)) == expected
        counts.append(len(asked))
    assert counts[0] == counts[1] > 300  # about one of 60 vectors


@pytest.fixture
def _functions_in_small_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "SIZE", 1)
    monkeypatch.setattr(chains, "WORK", 0)
    monkeypatch.setattr(chains, "MAX_PIECE", 128)


@pytest.mark.usefixtures("_functions_in_small_chains")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(3, 33), (500,)])
def test_functions_by_themselves(name: str, shape: tuple[int, ...]) -> None:
    t = type_text(shape, "f32")
    program = sr.parse(f'func.func @main(%x: {t}) -> {t} {{ %0 = "{name}"(%x) : ({t}) -> {t} return %0 : {t} }}')
    x = np.resize(operands(name)[-80:], shape)
    for y in (x, x.T.copy().T, np.broadcast_to(x.reshape(-1)[0], shape)):
        expected = bits(program.run(y, fast=False))
        for _ in range(2):
            assert bits(program.run(y)) == expected
        assert bits(program.run(y, jit=False)) == expected
    assert compiled(program)


@pytest.mark.usefixtures("_functions_in_small_chains")
def test_limit_of_time_where_all_elements_are_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, seconds = list[int](), 0.0

    def slow(x: np.ndarray) -> np.ndarray:
        asked.append(x.size)
        time.sleep(seconds)
        return x

    monkeypatch.setattr(chains, "MAX_PIECE", 1 << 20)
    wide = functions.FUNCTIONS[elementary.tanh]._replace(error=2.0**-10)
    monkeypatch.setattr(functions, "FUNCTIONS", {**functions.FUNCTIONS, elementary.tanh: wide})
    monkeypatch.setattr(functions, "KERNELS", [lambda dtype: slow] * len(functions.KERNELS))
    t = type_text((1 << 14,), "f32")
    program = sr.parse(f"func.func @main(%x: {t}) -> {t} {{ %0 = stablehlo.tanh %x : {t} return %0 : {t} }}")
    program.run(np.ones(1 << 14, np.float32))
    asked.clear()
    seconds = 0.01
    with pytest.raises(sr.EvaluationError, match="longer than the limit"):
        program.run(np.ones(1 << 14, np.float32), limits=sr.Limits(max_seconds=0.1))
    assert 0 < len(asked) <= 10


@pytest.mark.usefixtures("_functions_in_small_chains")
def test_functions_in_regions() -> None:
    program = sr.parse("""func.func @main(%x: tensor<70x80xf32>) -> tensor<70x80xf32> {
      %0 = "stablehlo.map"(%x) ({
      ^bb0(%a: tensor<f32>):
        %1 = stablehlo.logistic %a : tensor<f32>
        %2 = stablehlo.multiply %1, %a : tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }) {dimensions = array<i64: 0, 1>} : (tensor<70x80xf32>) -> tensor<70x80xf32>
      return %0 : tensor<70x80xf32>
    }""")
    x = np.random.default_rng(0).standard_normal((70, 80)).astype(np.float32)
    for _ in range(3):
        assert bits(program.run(x)) == bits(program.run(x, fast=False))


@pytest.mark.parametrize("shape", [(300, 1024), (2, 5, 27000), (40, 16, 8, 64), (4, 72000), (36, 7208)])
@pytest.mark.parametrize("is_special", [False, True])
def test_sums_of_rows(shape: tuple[int, ...], is_special: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = len(shape) - 1 - (len(shape) == 4)
    t, kept, dims = type_text(shape, "f32"), type_text(shape[:rows], "f32"), [*range(rows, len(shape))]
    text = f"""func.func @main(%x: {t}, %c: tensor<f32>) -> ({t}, {kept}) {{
      %0 = stablehlo.multiply %x, %x : {t}
      %1 = stablehlo.subtract %0, %x : {t}
      %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = {dims} : ({t}, tensor<f32>) -> {kept}
      %3 = stablehlo.broadcast_in_dim %2, dims = {[*range(rows)]} : ({kept}) -> {t}
      %4 = stablehlo.divide %1, %3 : {t}
      %5 = stablehlo.add %4, %x : {t}
      %6 = stablehlo.multiply %5, %x : {t}
      return %6, %2 : {t}, {kept}
    }}"""
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    if is_special:
        x.reshape(-1)[::50021] = [np.inf, -np.inf, np.nan, -0.0][shape[0] % 4]
    program = sr.parse(text)
    for init in (0.0, -0.0, 1.5):
        expected = bits(program.run(x, np.float32(init), fast=False))
        for jit in (True, True, False):
            assert bits(program.run(x, np.float32(init), jit=jit)) == expected
        exact = bits(program.run(x, np.float32(init), fast=False, exact_sums=True))
        assert bits(program.run(x, np.float32(init), exact_sums=True)) == exact
    assert whole_chains(program) == (shape not in ((4, 72000), (36, 7208)))  # too long a row, too few elements
