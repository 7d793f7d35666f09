"""What each version of StableHLO can have: artifacts for earlier ones are refused by name, or say the same."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

import stablehlo_ref as sr
from stablehlo_ref.bytecode.encoding import Cursor
from stablehlo_ref.bytecode.sections import read_header
from stablehlo_ref.bytecode.vhlo.artifact import artifact_version, serialize
from stablehlo_ref.bytecode.vhlo.ops import attribute_names, split_name
from stablehlo_ref.bytecode.vhlo.versions import (
    CURRENT,
    FIRST,
    HISTORIES,
    RELEASES,
    Version,
    bytecode_version,
    history_of,
    parse_version,
)
from stablehlo_ref.diagnostics import Source, UnsupportedError
from tests.compare import difference

TARGETS = [release.version for release in RELEASES]


def function(body: str = "", arguments: str = "%x: tensor<2xf32>") -> str:
    return f"func.func @main({arguments}) {{\n  {body}\n  return\n}}\n"


def accuracy(op: str) -> str:
    given = "#stablehlo.result_accuracy<ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>"
    return function(f"%0 = stablehlo.{op} %x {{result_accuracy = {given}}} : tensor<2xf32>")


class Case(NamedTuple):
    name: str
    text: str
    since: str  # the version of StableHLO that introduced it
    named: str  # what the refusal says


DECOMPOSITION = "func.func private @body(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"
CASES = [
    Case("op tan", function("%0 = stablehlo.tan %x : tensor<2xf32>"), "1.4.0", "op 'stablehlo.tan'"),
    Case(
        "op collective_broadcast",
        function('%0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}>'
                 " : (tensor<2xf32>) -> tensor<2xf32>"),
        "0.16.0",
        "op 'stablehlo.collective_broadcast'",
    ),
    Case(
        "op composite",
        DECOMPOSITION
        + function('%0 = stablehlo.composite "a.b" %x {decomposition = @body} : (tensor<2xf32>) -> tensor<2xf32>'),
        "0.19.0",
        "op 'stablehlo.composite'",
    ),
    Case("accuracy of exponential", accuracy("exponential"), "1.9.0",
         "attribute 'result_accuracy' of 'stablehlo.exponential'"),
    Case("accuracy of tanh", accuracy("tanh"), "1.10.0", "attribute 'result_accuracy' of 'stablehlo.tanh'"),
    Case(
        "batching dimensions of gather",
        function(
            "%i = stablehlo.constant dense<0> : tensor<2x1xi32>\n"
            '%0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<operand_batching_dims = [0], '
            "start_indices_batching_dims = [0], start_index_map = [1], collapsed_slice_dims = [1], "
            "index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>"
            " : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2xf32>",
            "%x: tensor<2x3xf32>",
        ),
        "1.1.0",
        "attribute 'operand_batching_dims' of 'stablehlo.gather'",
    ),
    Case(
        "algorithm of dot_general",
        function(
            "%0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = tf32, "
            "rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
            "num_primitive_operations = 1, allow_imprecise_accumulation = false>"
            " : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>"
        ),
        "1.6.0",
        "attribute 'lhs_precision_type' of 'stablehlo.dot_general'",
    ),
    Case(
        "several operands of all_to_all",
        function(
            '%0:2 = "stablehlo.all_to_all"(%x, %x) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, '
            "split_count = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>}>"
            " : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)"
        ),
        "1.5.0",
        "'stablehlo.all_to_all' with 2 operands",
    ),
    Case(
        "dictionary of custom_call",
        function(
            "%0 = stablehlo.custom_call @f(%x) {api_version = 4 : i32, backend_config = {a = 1 : i32}}"
            " : (tensor<2xf32>) -> tensor<2xf32>"
        ),
        "1.3.0",
        "custom_call with a dictionary as backend_config",
    ),
    Case("attribute of a mesh", 'func.func @main() attributes {a.b = #stablehlo.mesh_axis<name = "x", size = 2>}'
         " {\n  return\n}\n", "1.16.0", "attribute '#stablehlo.mesh_axis'"),
    *(
        Case(f"type {type}", function(arguments=f"%x: tensor<2x{type}>"), since, f"type {type}")
        for type, since in {
            "f8E5M2FNUZ": "0.10.0",
            "f8E4M3B11FNUZ": "0.11.0",
            "!quant.uniform<i8:f32:0, {1.000000e-01,2.000000e-01}>": "0.18.0",
            "i2": "1.2.0",
            "tf32": "1.6.0",
            "f8E3M4": "1.7.0",
            "f4E2M1FN": "1.8.0",
            "f8E8M0FNU": "1.8.0",
        }.items()
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_programs_need_the_version_that_introduced_what_they_have(case: Case) -> None:
    program = sr.parse(case.text).verify()
    since = parse_version(case.since)
    assert since
    for target in TARGETS:
        if target >= since:
            again = sr.load(program.serialize(str(target)))
            assert difference(program.module, again.module) is None
            continue
        with pytest.raises(UnsupportedError) as raised:
            program.serialize(str(target))
        (diagnostic,) = raised.value.diagnostics
        assert f"failed to convert VHLO to v{target}: {case.named}" in diagnostic.message
        assert f"needs version {since} or later" in diagnostic.message
        assert diagnostic.line and diagnostic.location and diagnostic.location.excerpt()


PLAIN = function("%0 = stablehlo.tanh %x : tensor<2xf32>\n  %1 = stablehlo.add %0, %x : tensor<2xf32>")


@pytest.mark.parametrize("target", [str(target) for target in TARGETS])
def test_what_says_nothing_new_goes_to_every_version(target: str) -> None:
    program = sr.parse(PLAIN)
    data = program.serialize(target)
    assert artifact_version(data) == parse_version(target)
    assert difference(program.module, sr.load(data).module) is None
    revision = b"tanh_v2" if parse_version(target) >= Version(1, 10) else b"tanh_v1"
    assert revision in data


def test_target_may_lack_the_patch_or_be_current() -> None:
    program = sr.parse(PLAIN)
    assert program.serialize("1.9") == program.serialize("1.9.0")
    assert program.serialize() == program.serialize("current") == program.serialize(str(CURRENT))
    assert artifact_version(program.serialize("1.9.7")) == Version(1, 9, 7)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("0.8.0", "target version 0.8.0 is less than minimum supported 0.9.0"),
        ("99.0.0", f"target version 99.0.0 is greater than current version {CURRENT}"),
        ("newest", "Invalid target version argument 'newest'; expected three numbers such as"),
        ("1.2.3.4", "Invalid target version argument '1.2.3.4'"),
        ("", "Invalid target version argument ''"),
    ],
)
def test_unknown_targets(target: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(message)):
        sr.parse(PLAIN).serialize(target)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%0 = chlo.erf %x : tensor<2xf32> -> tensor<2xf32>", "portable artifacts have no op 'chlo.erf'"),
        ('%0 = stablehlo.custom_call @f(%x) {a.b} : (tensor<2xf32>) -> tensor<2xf32>',
         "portable artifacts have no attribute such as unit, in 'stablehlo.custom_call'"),
        ("%0 = stablehlo.constant dense_resource<w> : tensor<2xf32>",
         "portable artifacts have no attribute such as the elements of a tensor<2xf32>, in 'stablehlo.constant'"),
    ],
)  # fmt: skip
def test_what_no_artifact_has(body: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(message)) as raised:
        serialize(sr.parse(function(body)).module)
    assert raised.value.diagnostics[0].line == 2


# --- the table ------------------------------------------------------------------------------------------------------


def test_releases_are_in_order_and_each_op_is_introduced_once() -> None:
    assert sorted(TARGETS) == TARGETS
    assert len(set(TARGETS)) == len(TARGETS)
    introduced = [op for release in RELEASES for op in release.ops]
    assert len(set(introduced)) == len(introduced)


def test_each_op_and_attribute_of_the_table_exists() -> None:
    for base, history in HISTORIES.items():
        newest = 1 + len(history.revisions)
        assert split_name(f"vhlo.{base}_v{newest}") is not None, base
        assert split_name(f"vhlo.{base}_v{newest + 1}") is None
        for number, (_, revision) in enumerate(history.revisions, 2):
            assert set(revision.adds) <= set(attribute_names(base, number)), base
            assert not set(revision.adds) & set(attribute_names(base, number - 1)), base
            assert set(revision.drops) <= set(attribute_names(base, number - 1)), base


def test_ops_without_a_history_have_one_revision() -> None:
    assert history_of("add").since == FIRST
    assert split_name("vhlo.add_v1") == ("add", 1)
    for name in ("vhlo.add_v2", "vhlo.add_v0", "vhlo.add", "vhlo.frobnicate_v1", "stablehlo.add_v1"):
        assert split_name(name) is None, name


@pytest.mark.parametrize(
    ("target", "version"), [("0.9.0", 0), ("0.10.0", 1), ("0.12.0", 3), ("0.14.0", 4), ("0.15.0", 6), ("1.22.0", 6)]
)
def test_versions_of_the_format(target: str, version: int) -> None:
    parsed = parse_version(target)
    assert parsed and bytecode_version(parsed) == version
    header = read_header(Cursor(sr.parse(PLAIN).serialize(target), Source("", "")))
    assert (header.version, header.producer) == (version, f"StableHLO_v{target}")


def test_other_data_is_no_artifact() -> None:
    assert artifact_version(b"module {}") is None
    assert artifact_version(b"ML\xefR\x0dMLIR23\0") is None


def test_op_of_a_newer_version_is_named() -> None:
    data = sr.parse(PLAIN).serialize("1.0.0").replace(b"tanh_v1", b"tanh_v7")
    with pytest.raises(UnsupportedError) as raised:
        sr.load(data)
    message = str(raised.value)
    assert f"unknown op 'vhlo.tanh_v7'; the newest known version of StableHLO is {CURRENT}" in message
    assert "written by 'StableHLO_v1.0.0'" in message
    assert "byte " in message


def test_artifact_of_a_newer_version_is_read_if_its_ops_are_known() -> None:
    program = sr.parse(PLAIN)
    data = program.serialize().replace(f"StableHLO_v{CURRENT}".encode(), b"StableHLO_v9.99.0")
    assert artifact_version(data) == Version(9, 99)
    assert difference(program.module, sr.load(data).module) is None


def test_earlier_revisions_have_the_defaults_of_what_they_lack() -> None:
    text = function(
        "%i = stablehlo.constant dense<0> : tensor<1xi32>\n"
        '%0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], '
        "start_index_map = [0]>, slice_sizes = array<i64: 1>}> : (tensor<2xf32>, tensor<1xi32>) -> tensor<1xf32>"
    )
    program = sr.parse(text).verify()
    old, new = (program.serialize(target) for target in ("1.0.0", "1.1.0"))
    assert b"gather_v1" in old and b"gather_v2" in new
    assert difference(sr.load(old).module, sr.load(new).module) is None


# As jaxlib 0.12 writes it: `sdy.all_reduce max {"x"} %0 out_sharding=<mesh<["x"=2]>, [{}]> : tensor<4xf32>`.
WITH_REDUCTION = bytes.fromhex(
    "4d4cef520d4d4c495232342e302e3067697400011f070105090901030f0305071305031703371f0901130b130b0b13130f1313050d17130f"
    "130f0f01091317070f0281050d170101010d03050f170103031701032311070517010379170105050d15031901050317010311090b010101"
    "17031d0911011b03110505030103010b010202044d050150030107043d0301050350090307042903050b03030b0007460f05030103010504"
    "1103030603010501007b13050b05170f0f090b116275696c74696e0066756e6300736479006d6f64756c650072657475726e00616c6c5f72"
    "6564756365002d006d61696e007800081f070501010d01050101070107131b1b"
)


def test_property_that_earlier_files_lack() -> None:
    assert 'sdy.all_reduce max {"x"}' in str(sr.parse(WITH_REDUCTION))
