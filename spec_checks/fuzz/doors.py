"""What applications read besides programs and arrays: options, indexes, traces, dumps, answers, requests of an editor.

A door has text that it accepts, which is changed, and what is done with it in a folder of its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any

import numpy as np

import stablehlo_ref as sr
from spec_checks.fuzz import files, mutations
from stablehlo_ref.cli.aliases import COMMANDS
from stablehlo_ref.cli.main import main
from stablehlo_ref.conform.campaign import INDEX, Results, export, judge_files
from stablehlo_ref.conform.report import read_known
from stablehlo_ref.debug.contract import contract_of
from stablehlo_ref.debug.reduce import reduce
from stablehlo_ref.debug.trace_diff import diff_traces
from stablehlo_ref.debug.traces.trace import Trace
from stablehlo_ref.testing.expected import expectations, mismatches
from stablehlo_ref.testing.golden import op as golden_op
from stablehlo_ref.testing.run_lines import run_lines, scripts
from stablehlo_ref.text import inline_function

LIMITS = sr.Limits(max_total_bytes=1 << 26, max_seconds=5)
PROGRAM = """func.func @main(%x: tensor<4xf32> {a.b = 1 : i32}, %y: tensor<2x?xi8>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""
SMALL = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.{} %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}}
"""
OPTIONS = (
    "--input=x=[1, 2.5, -inf, 0x7FC00000]", "--input=x=dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>",
    "--input=y=[[1, 2], [3, 4]]", "--input=x=@x.bin:tensor<4xf32>", "--input=x=x.npy", "--input=y=dense<1>",
    "--args=[dense<1.0> : tensor<4xf32>, dense<[[1], [2]]> : tensor<2x1xi8>]", "--random=x=uniform(-1, 1)",
    "--random=*=normal(0, 1)", "--dim=y:1=3", "--inputs=x.npz", "--weights=x.npz", "--random-inputs=7",
    "--expect=x.npz", "--max-seconds=1.5m", "--max-total-bytes=2GiB", "--trace=%0,add", "--keep=%0|add", "--entry=main",
    "--ulp=3",    "--mode=reproducible,exact-sums", "--trace-to=trace", "--random-weights=3",
)  # fmt: skip
RUN_LINES = """// RUN: stablehlo-opt %s --canonicalize --split-input-file | FileCheck %s
// RUN: stablehlo-translate --interpret -split-input-file %s
// RUN: stablehlo-opt --stablehlo-refine-shapes='types=tensor<4xf32>,tensor<2x3xi8>' \\
// RUN:   --pass-pipeline='builtin.module(func.func(cse), inline)' %s > %t
// expected-error@+1 {{an error}}
""" + PROGRAM  # fmt: skip
KNOWN = """[[known]]
op = "stablehlo.tanh"  # with wildcards
type = "f8*"
reason = "https://example.org/1"
[[known]]
op = "chlo.[a-e]*"
reason = '''several
lines'''
"""
DUMPS = "".join(
    f"// -----// IR Dump After {name} //----- //\n{SMALL.format(op)}"
    for name, op in (("Inliner (inline)", "abs"), ("CSEPass: cse", "abs"), ("SwapPass: swap{a=1}", "negate"))
)
XLA_FILES = ("module_0001.f.before_optimizations.txt", "module_0001.f.0002.p.after_q.txt", "0001_cse.mlir", "b.mlirbc")
SPMD = """sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""
SPMD_OPTIONS = (
    "--mesh=x=2,y=2",
    '--in-shardings=[{"x"}, {}]',
    '--out-shardings=[{"x"}, {"y"}]',
    "--contract=xla-cpu,fma=true",
)
CONTRACT = "xla-cpu,dot_algorithm=tf32,ulp.tanh=16,error.lgamma=1e-3,fma=false,elementary_ulps=2"
PIPELINE = "builtin.module(func.func(cse,canonicalize),stablehlo-refine-shapes{types=tensor<4xf32>},inline,symbol-dce)"
REQUESTS = "hover", "definition", "references", "completion", "formatting", "didChange", "didClose", "didOpen"

Data = str | bytes


@dataclass(frozen=True)
class Door:
    """What a door accepts, and what it does with it: in a folder, with random choices."""

    seed: Callable[[Random], Data]
    use: Callable[[Data, Path, Random], object]


def draw(random: Random, kind: str) -> Data:
    """Return what a door accepts with a few changes, of tokens or of bytes."""
    seed = DOORS[kind].seed(random)
    if isinstance(seed, str) and random.random() < 0.8:
        return mutations.text(random, seed)
    changed = mutations.data(random, seed.encode() if isinstance(seed, str) else seed)
    return changed if isinstance(seed, bytes) else changed.decode("utf-8", "surrogateescape")


def use(kind: str, data: Data, folder: Path, random: Random) -> object:
    """Do what a door does; return an exit code if it is that of a command."""
    with contextlib.chdir(folder):
        return DOORS[kind].use(data, folder, random)


def _bytes(data: Data) -> bytes:
    return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data


def _command(*words: str) -> int:
    try:
        return main(list(words))
    except SystemExit as end:  # of argparse
        return int(end.code or 0)


# --- options ----------------------------------------------------------------------------------------------------------


def _options(random: Random) -> str:
    return "\n".join(random.sample(OPTIONS, random.randint(1, 3)))


def _run_with_options(data: Data, folder: Path, random: Random) -> int:
    (folder / "p.mlir").write_text(PROGRAM)
    np.save("x.npy", files.ARRAY)
    np.savez("x.npz", x=files.ARRAY, y=np.ones((2, 1), np.int8))
    files.ARRAY.tofile("x.bin")
    return _command("p.mlir", *_words(data))


def _words(data: Data) -> list[str]:
    """Return the lines as words of a command line that writes no files."""
    words = _bytes(data).decode("utf-8", "surrogateescape").replace("\0", "").split("\n")
    return [word for word in words if not word.startswith(("-o", "--output", "--probe"))]


def _run_run_lines(data: Data, folder: Path, random: Random) -> object:
    """Do what the plug-in of pytest does with a file, with each command in this process."""
    text = _bytes(data).decode("utf-8", "replace")
    (folder / "p.mlir").write_text(text)
    list(mismatches(expectations(text, 1), (), "p.mlir"))
    codes = [0]
    for line in scripts(run_lines(text)):
        if line.interprets_parts or any(c in line.command for c in "|>&;<`$"):
            continue
        with contextlib.suppress(ValueError):  # an open quote
            tool, *words = shlex.split(line.command.replace("%s", "p.mlir")) or [""]
            if tool in COMMANDS:
                codes.append(_command(*COMMANDS[tool].split()[2:], *(w for w in words if not w.startswith("-o"))))
    return max(codes)


def _golden(data: Data, folder: Path, random: Random) -> object:
    return golden_op(_bytes(data).decode("utf-8", "replace"), files.ARRAY, files.ARRAY)


def _inline(data: Data, folder: Path, random: Random) -> object:
    text = _bytes(data).decode("utf-8", "replace")
    return inline_function(text, random.choice((["%a"], ["%a", "%b"], ["%a#1", "a"])), filename="f.mlir")


# --- files of applications --------------------------------------------------------------------------------------------


def _known(data: Data, folder: Path, random: Random) -> object:
    (folder / "known.toml").write_bytes(_bytes(data))
    return read_known(folder / "known.toml")


@cache
def _exported() -> Mapping[str, bytes]:
    """Return the files of a few cases."""
    folder = Path(mkdtemp())
    export(folder, [f"op/stablehlo.{op}/{t}/0" for op, t in (("add", "f32"), ("tanh", "bf16"), ("not", "i1"))])
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _index(random: Random) -> str:
    return _exported()[INDEX].decode()


def _judge(data: Data, folder: Path, random: Random) -> object:
    """Judge results: those of an index that was changed, or one array or text that was."""
    is_index = _bytes(data).lstrip()[:1] == b"{"
    results = folder / "results"
    results.mkdir()
    for name, contents in _exported().items():
        (folder / name).write_bytes(_bytes(data) if is_index and name == INDEX else contents)
        if ".expected" in name:
            (results / name.replace("expected", "")).write_bytes(contents)
    if not is_index:
        (results / random.choice(("000000.0.npy", "000001.0.npy", "000001.txt"))).write_bytes(_bytes(data))
    return list(judge_files(folder, results))


def _dumps(data: Data, folder: Path, random: Random) -> int:
    if random.random() < 0.5:
        (folder / "dumps.mlir").write_bytes(_bytes(data))
    else:
        (folder / "dumps.mlir").mkdir()
        for name in random.sample(XLA_FILES, 3):
            (folder / "dumps.mlir" / name).write_bytes(random.choice((_bytes(data), SMALL.format("abs").encode())))
    only = random.choice((["--only=*"], ["--only=[module"], ["--bisect"], []))
    return _command("diff-passes", "dumps.mlir", "--random-inputs=0", "--max-seconds=5", *only)


@cache
def _trace() -> Mapping[str, bytes]:
    folder = Path(mkdtemp())
    y = np.ones((2, 1), np.int8)
    sr.load(PROGRAM).trace(files.ARRAY, y, store=folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _traces(data: Data, folder: Path, random: Random) -> object:
    """Compare a trace with one whose index or one of whose arrays was changed."""
    is_index = _bytes(data).lstrip()[:1] == b"{"
    for side in ("a", "b"):
        (folder / side).mkdir()
        for name, contents in _trace().items():
            (folder / side / name).write_bytes(contents)
    name = "index.jsonl" if is_index else random.choice([n for n in _trace() if n.endswith(".npy")])
    (folder / "b" / name).write_bytes(_bytes(data))
    traces = [Trace.load(folder / side) for side in ("a", "b")]
    for trace in traces:
        _ = [trace[name] for name in trace]
    return str(diff_traces(*traces)), diff_traces(*traces, ulp=2).to_json()


def _archive_trace(data: Data, folder: Path, random: Random) -> int:
    (folder / "a.npz").write_bytes(_bytes(data))
    return _command("diff-traces", "a.npz", "a.npz")


def _answers(data: Data, folder: Path, random: Random) -> object:
    (folder / "answers.jsonl").write_bytes(_bytes(data))
    program = sr.load(SMALL.format("abs"))
    return str(reduce(program, [files.ARRAY], lambda text, arrays: "abs" in text or None, max_calls=3, folder=folder))


def _database(random: Random) -> bytes:
    path = Path(mkdtemp(), "results")
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE records (name TEXT PRIMARY KEY, cell TEXT, detail TEXT, seconds REAL, uses TEXT)")
        cell = random.choice(("pass", "?", ""))
        file.execute("INSERT INTO records VALUES ('op/stablehlo.add/f32/0', ?, '', 0.5, '')", [cell])
        file.commit()
    return path.read_bytes()


def _results(data: Data, folder: Path, random: Random) -> object:
    (folder / "results").write_bytes(_bytes(data))
    results = Results(folder / "results")
    with contextlib.closing(results):
        return results.records()


def _cache(data: Data, folder: Path, random: Random) -> object:
    """Load a program from a cache whose file was changed, also where its checksum is right."""
    from stablehlo_ref.reading.module_cache import ALIGNMENT, _checksum

    sr.load(PROGRAM, cache=folder)
    file = next(folder.glob("*.stablehlo"))
    contents = bytearray(file.read_bytes())
    content = mutations.data(random, bytes(contents[ALIGNMENT:]))
    file.write_bytes(_checksum(content).ljust(ALIGNMENT, b"\0") + content)
    return str(sr.load(PROGRAM, cache=folder).verify())


def _weights_folder(data: Data, folder: Path, random: Random) -> object:
    """Bind a folder with names of a few arrays, one of which was changed."""
    weights = folder / "weights"
    weights.mkdir()
    names = ["w.a", "w.b", "x/w.a", "w", "args[0]", "a", "é", "w['a']", "..npy", "a b"]
    for name in random.sample(names, random.randint(0, 3)):
        with contextlib.suppress(OSError, ValueError):
            (weights / f"{name}.npy").parent.mkdir(exist_ok=True)
            (weights / f"{name}.npy").write_bytes(random.choice((files.SEEDS["npy"](random), _bytes(data))))
    if random.random() < 0.2:
        (weights / "dir.npy").mkdir()
    return sr.load(files.PROGRAM, limits=LIMITS).bind(weights).run()


def _several(data: Data, folder: Path, random: Random) -> int:
    """Link or compare programs of which one was changed."""
    (folder / "a.mlir").write_bytes(_bytes(data))
    (folder / "b.mlir").write_text(SMALL.format("negate"))
    name = random.choice(("link", "equiv", "equiv", "diff-traces"))
    options = {"equiv": ["--tries=3", "--seconds=2"], "link": ["--max-seconds=5"]}.get(name, [])
    return _command(name, *random.sample(["a.mlir", "b.mlir"], 2), *options)


def _spmd(random: Random) -> str:
    return "\n".join([*random.sample(SPMD_OPTIONS, random.randint(1, 3)), "", SPMD])


def _spmd_check(data: Data, folder: Path, random: Random) -> int:
    words, _, text = _bytes(data).decode("utf-8", "surrogateescape").partition("\n\n")
    (folder / "g.mlir").write_bytes(_bytes(text or SPMD))
    return _command("spmd-check", "g.mlir", "--random-inputs=0", "--max-seconds=5", *_words(words))


def _contract(data: Data, folder: Path, random: Random) -> object:
    return str(contract_of(_bytes(data).decode("utf-8", "surrogateescape")))


def _pipeline(data: Data, folder: Path, random: Random) -> int:
    (folder / "p.mlir").write_text(PROGRAM)
    return _command("opt", "p.mlir", f"--pass-pipeline={_bytes(data).decode('utf-8', 'surrogateescape')}")


# --- an editor --------------------------------------------------------------------------------------------------------


def _requests(random: Random) -> str:
    """Return messages of an editor: it opens a text, and asks for something there."""
    text = mutations.text(random, PROGRAM) if random.random() < 0.5 else PROGRAM
    document = {"uri": "file:///p.mlir", "languageId": "mlir", "version": 1, "text": text}
    messages = [{"method": "textDocument/didOpen", "params": {"textDocument": document}}]
    for number in range(random.randint(1, 4)):
        method = random.choice(REQUESTS)
        place = {"line": random.randrange(6), "character": random.randrange(50)}
        change = {"range": {"start": place, "end": place}, "text": random.choice(mutations.WORDS)}
        params: dict[str, Any] = {
            "textDocument": document, "position": place, "context": {"includeDeclaration": True},
            "options": {"tabSize": 2, "insertSpaces": True}, "contentChanges": [change],
        }  # fmt: skip
        message = {"method": f"textDocument/{method}", "params": params}
        messages.append(message if method.startswith("did") else {"id": number, **message})
    return json.dumps([{"jsonrpc": "2.0", **message} for message in messages])


def _serve(data: Data, folder: Path, random: Random) -> object:
    """Give a server the messages that are objects; anything that it reports as a fault of its own is one."""
    import asyncio
    import logging

    from stablehlo_ref.lsp import server as module

    try:
        messages = json.loads(_bytes(data))
    except (ValueError, RecursionError):
        return "no JSON"
    logging.disable()
    module.DELAY = 0.0
    written = io.BytesIO()
    server = module.Server()
    initialize = {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {"capabilities": {}}}

    async def session() -> None:
        protocol = server.protocol.protocol
        protocol.set_writer(written)
        for message in [initialize, *(messages if isinstance(messages, list) else [messages])]:
            if isinstance(message, dict):
                with contextlib.suppress(module.JsonRpcException):
                    protocol.handle_message(protocol.structure_message(message))
        await asyncio.sleep(0.001)

    asyncio.run(session())
    if b"-32603" in written.getvalue() or b"Traceback" in written.getvalue():  # an internal error
        raise RuntimeError(written.getvalue()[-2000:].decode())
    return None


def _array_or(seed: Callable[[Random], Data]) -> Callable[[Random], Data]:
    """Return a seed that is another one, or an array."""
    return lambda random: seed(random) if random.random() < 0.6 else files.SEEDS["npy"](random)


GOLDEN = '"stablehlo.add"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>'
ANSWERS = '["ab12", "None"]\n["cd34", "True"]\n'
DOORS: Mapping[str, Door] = {
    "option": Door(_options, _run_with_options),
    "run-line": Door(lambda random: RUN_LINES, _run_run_lines),
    "golden": Door(lambda random: GOLDEN, _golden),
    "inline": Door(lambda random: random.choice((PROGRAM, SMALL.format("abs"))), _inline),
    "known": Door(lambda random: KNOWN, _known),
    "results": Door(_array_or(_index), _judge),
    "dumps": Door(lambda random: random.choice((DUMPS, SMALL.format("abs"))), _dumps),
    "trace": Door(_array_or(lambda random: _trace()["index.jsonl"].decode()), _traces),
    "archive": Door(files.SEEDS["npz"], _archive_trace),
    "answers": Door(lambda random: ANSWERS, _answers),
    "database": Door(_database, _results),
    "cache": Door(lambda random: "", _cache),
    "folder": Door(files.SEEDS["npy"], _weights_folder),
    "programs": Door(lambda random: random.choice((SMALL.format("abs"), PROGRAM)), _several),
    "spmd": Door(_spmd, _spmd_check),
    "contract": Door(lambda random: CONTRACT, _contract),
    "pipeline": Door(lambda random: PIPELINE, _pipeline),
    "editor": Door(_requests, _serve),
}
