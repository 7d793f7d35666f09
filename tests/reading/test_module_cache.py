"""`load(..., cache=DIR)`: programs come back as they were; files that are not what they should be are ignored."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stablehlo_ref as sr
from stablehlo_ref.cli.main import main
from stablehlo_ref.diagnostics import LimitError, Source
from stablehlo_ref.limits import budget
from stablehlo_ref.reading import module_cache, parsing
from stablehlo_ref.reading.module_cache import ModuleCache

TEXT = """
#loc = loc("model.py":3:4)
module @m attributes {mhlo.num_replicas = 1 : i32} {
  func.func @main(%x: tensor<2xf32> loc("x"(#loc))) -> (tensor<2xf32> {jax.result_info = "out"}) {
    %c = stablehlo.constant dense<[1.5, -0.0]> : tensor<2xf32>
    %n = stablehlo.constant dense<3> : tensor<4x5xi32>
    %e = stablehlo.constant dense<7.0> : tensor<0x2xf32>
    %0:2 = stablehlo.while(%i = %n, %a = %x) : tensor<4x5xi32>, tensor<2xf32>
      cond {
        %p = stablehlo.constant dense<false> : tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        stablehlo.return %i, %a : tensor<4x5xi32>, tensor<2xf32>
      }
    %1 = stablehlo.add %0#1, %c {mhlo.sharding = "{replicated}"} : tensor<2xf32> loc(#loc)
    %2 = stablehlo.compare LT, %1, %c, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %3 = stablehlo.select %2, %1, %c : tensor<2xi1>, tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
"""
FAILS = """
func.func @main(%x: tensor<2xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<2xf32>
  check.expect_eq %x, %c : tensor<2xf32>
  return
}
"""
X = np.array([1, 2], np.float32)


@pytest.fixture
def unparsed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function after whose call no text is parsed."""

    def parse(*arguments: object, **options: object) -> None:
        raise AssertionError("the program is parsed")

    return lambda: monkeypatch.setattr(parsing, "parse_module", parse)


def test_a_second_load_does_not_parse(tmp_path: Path, unparsed: Any) -> None:
    first = sr.load(TEXT, cache=tmp_path / "new")
    unparsed()
    second = sr.load(TEXT, cache=tmp_path / "new")
    assert str(second) == str(first)
    assert second.run(X)[0].tobytes() == first.run(X)[0].tobytes()
    op, again = (p.value("%1").owner for p in (first, second))
    assert str(op.location) == str(again.location) and op.model_location == again.model_location


def test_files_and_errors_have_their_places(tmp_path: Path, unparsed: Any) -> None:
    path = tmp_path / "fails.mlir"
    path.write_text(FAILS)
    messages = []
    for _ in range(2):
        with pytest.raises(sr.EvaluationError) as error:
            sr.load(path, cache=tmp_path / "cache").run(X)
        messages.append(str(error.value))
        unparsed()
    assert messages[0] == messages[1] and "fails.mlir:4:3" in messages[0]


PROGRAMS = sorted((Path(__file__).parent.parent / "interpret").glob("*.mlir"))


@pytest.mark.parametrize("path", PROGRAMS[::15], ids=lambda path: path.stem)
def test_programs_come_back_as_they_were(path: Path) -> None:
    program = sr.parse(path.read_text())
    module = program.module
    try:
        data = module_cache.encode(module)
    except module_cache.NotCompact:
        pytest.skip("is not data alone")
    restored = module_cache.decode(np.frombuffer(data, np.uint8), module.location.source)
    assert str(sr.Program(restored)) == str(program)
    for op, again in zip(module.walk(), restored.walk(), strict=True):
        assert again.properties == op.properties and again.attributes == op.attributes
        assert again.location.offset == op.location.offset and again.model_location == op.model_location
        assert [value.name for value in again.results] == [value.name for value in op.results]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:100],
        lambda data: data[:-1],
        lambda data: data[:200] + b"?" + data[201:],
        lambda data: b"another kind of file",
        lambda data: data[:64] + (2**62).to_bytes(8, "little") + data[72:],
    ],
)
def test_damaged_files_are_ignored_and_replaced(tmp_path: Path, damage: Any) -> None:
    expected = str(sr.load(TEXT, cache=tmp_path))
    (file,) = tmp_path.iterdir()
    good = file.read_bytes()
    file.write_bytes(damage(good))
    assert str(sr.load(TEXT, cache=tmp_path)) == expected
    assert file.read_bytes() == good


def decode(tables: object) -> object:
    text = json.dumps(tables).encode()
    data = (len(text).to_bytes(8, "little") + text).ljust(1 << 10)
    return module_cache.decode(np.frombuffer(data, np.uint8), Source(""))


@pytest.mark.parametrize(
    ("kind", "objects", "message"),
    [
        (["func.return", "", [], ["x", [0]]], [["tuple", 4]], "4 is not an attribute"),
        (["other.return", "", [], []], [], "'other.return' is an op of another package"),
        (["func.func", "", ["arg_attrs", [1]], []], [[0, "f32"], ["tuple", [0]]], "a type is not an attribute"),
        (["func.return", "", [], []], [[1, "a", 4]], "child must be .*, got 4"),
    ],
)
def test_forged_values_are_refused(kind: object, objects: object, message: str) -> None:
    classes = ["stablehlo_ref.ir.types:FloatType", "stablehlo_ref.ir.locations:NameLocation"]
    tables = {"classes": classes, "objects": objects, "kinds": [kind], "operations": [], "values": [], "aliases": []}
    with pytest.raises(module_cache.NotCompact, match=message):
        decode(tables)


def test_the_target_of_an_alias_is_a_location() -> None:
    tables = {"classes": [], "objects": [["alias", "#loc"]], "kinds": [], "operations": [], "values": []}
    with pytest.raises(module_cache.NotCompact, match="the target of an alias is no location"):
        decode({**tables, "aliases": [[[0], 4]]})


def test_a_type_is_not_an_attribute() -> None:
    kinds, classes = [["func.return", "", [], ["x", [0]]]], ["stablehlo_ref.ir.types:FloatType"]
    tables = {
        "classes": classes,
        "objects": [[0, "f32"]],
        "kinds": kinds,
        "operations": [],
        "values": [],
        "aliases": [],
    }
    with pytest.raises(module_cache.NotCompact, match="a type is not an attribute"):
        decode(tables)


@pytest.mark.parametrize(
    "name", ["os:system", "builtins:eval", "stablehlo_ref.ir.types:tensor_type", "stablehlo_ref.ir.missing:Y"]
)
def test_nothing_but_data_classes_is_made(name: str) -> None:
    tables = {"classes": [name], "objects": [[0, "echo"]], "kinds": [], "operations": [], "values": [], "aliases": []}
    with pytest.raises(module_cache.NotCompact, match="is not a class of data"):
        decode(tables)


def test_the_key_has_text_versions_and_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sr.load(TEXT, cache=tmp_path)
    sr.load(TEXT + "\n", cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.setattr(module_cache, "__version__", "0.0.0")
    sr.load(TEXT, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    sr.load(TEXT, cache=tmp_path, allow_unregistered_dialect=True)
    assert len(list(tmp_path.iterdir())) == 4


def test_invalid_programs_and_other_dialects_are_not_stored(tmp_path: Path) -> None:
    invalid = "func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> { return %x : tensor<2xf32> }\n"
    for _ in range(2):
        with pytest.raises(sr.InvalidError):
            sr.load(invalid, cache=tmp_path)
    sr.load('func.func @main() { "mine.op"() : () -> ()\n return }', cache=tmp_path, allow_unregistered_dialect=True)
    assert not list(tmp_path.iterdir())


def test_a_directory_that_cannot_be_used_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert sr.load(TEXT, cache=tmp_path / "file").run(X)


def test_the_files_used_least_recently_are_removed(tmp_path: Path) -> None:
    size = 0
    for number in range(20):
        cache = ModuleCache(tmp_path, max_bytes=5 * size or 1 << 20)
        with cache.in_use():
            program = sr.parse(f"{TEXT}// {number}\n").verify()
        cache.store(program.module)
        size = size or sum(file.stat().st_size for file in tmp_path.iterdir())
    assert 0 < sum(file.stat().st_size for file in tmp_path.iterdir()) <= 5 * size


def test_the_command_line_has_the_option(tmp_path: Path, unparsed: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(TEXT)
    assert main([str(path), "--random-inputs", "0", "--cache", str(tmp_path / "cache")]) == 0
    first = capsys.readouterr().out
    unparsed()
    assert main([str(path), "--random-inputs", "0", "--cache", str(tmp_path / "cache")]) == 0
    assert capsys.readouterr().out == first


@pytest.mark.parametrize("is_hit", [False, True])
def test_time_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_hit: bool) -> None:
    def late(*arguments: object, **options: object) -> None:
        budget.check_time("late", needed=1e9)

    if is_hit:
        sr.load(TEXT, cache=tmp_path)
    monkeypatch.setattr(module_cache._Decoder if is_hit else module_cache._Encoder, "_operation", late)
    with pytest.raises(LimitError, match=r"<string>:\d+:\d+: error: late takes longer"):
        sr.load(TEXT, cache=tmp_path, limits=sr.Limits(max_seconds=1000))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_only_regular_files_of_the_size_of_a_program_are_read(tmp_path: Path) -> None:
    expected = str(sr.load(TEXT, cache=tmp_path))
    (file,) = tmp_path.iterdir()
    file.unlink()
    os.mkfifo(file)
    assert str(sr.load(TEXT, cache=tmp_path)) == expected
    assert file.is_file()
    with file.open("r+b") as opened:
        opened.truncate(1 << 40)  # it is sparse
    assert str(sr.load(TEXT, cache=tmp_path)) == expected
    assert file.stat().st_size < 1 << 20


def test_other_entries_stay_and_abandoned_files_do_not(tmp_path: Path) -> None:
    (tmp_path / "link.stablehlo").symlink_to("missing")
    (tmp_path / "folder.stablehlo").mkdir()
    new, old, other = (tmp_path / name for name in ("a.stablehlo-part", "b.stablehlo-part", "c.txt"))
    for file in (new, old, other):
        file.write_bytes(b"x" * 1000)
    os.utime(old, (0, 0))
    module_cache._remove_oldest(tmp_path, 1000)
    assert not old.exists() and new.exists() and other.exists()
    module_cache._remove_oldest(tmp_path, 999)
    assert sorted(os.listdir(tmp_path)) == ["c.txt", "folder.stablehlo", "link.stablehlo"]


def test_all_sources_of_the_package_are_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before, stat = module_cache._sources.__wrapped__(), os.stat

    def with_another_op_class(path: Any, **options: Any) -> os.stat_result:
        is_op_class = str(path).endswith(os.path.join("ops", "elementwise.py"))
        return stat(__file__ if is_op_class else path, **options)

    monkeypatch.setattr(os, "stat", with_another_op_class)
    assert module_cache._sources.__wrapped__() != before


def test_the_key_has_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sr.load(TEXT, cache=tmp_path)
    monkeypatch.setattr(module_cache, "_sources", lambda: "others")
    sr.load(TEXT, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("cache", "error"), [("", ValueError), ("a\0b", ValueError), (123, TypeError), (b"cache", TypeError)]
)
def test_what_is_no_directory_is_rejected(cache: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^cache must be (the path of a directory|str \| PathLike\[str\] \| None), got"):
        sr.load(TEXT, cache=cache)


def test_the_command_line_warns_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(f"{TEXT}\n// -----\n{TEXT}")
    assert main([str(path), "--split-input-file", "--random-inputs", "0", "--cache", str(path)]) == 0
    assert capsys.readouterr().err == f"warning: --cache {path}: nothing is kept: File exists\n"
    with pytest.raises(SystemExit):
        main([str(path), "--cache", ""])
    assert "--cache: expected the path of a directory, got ''" in capsys.readouterr().err
