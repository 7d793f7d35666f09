"""The language server, through the protocol: a client talks to `stablehlo-interp lsp` over its standard input."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls")

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

TIMEOUT = 60  # seconds
PROGRAM = """\
// Twice the sum.
!row = tensor<2xf32>
func.func @main(%x: !row, %y: !row) -> !row {
  %sum = stablehlo.add %x, %y : !row
  %two = stablehlo.constant dense<2.0> : !row
  %four = stablehlo.multiply %two, %two : !row
  %result = func.call @twice(%sum) : (!row) -> !row
  return %result : !row
}

func.func private @twice(%v: !row) -> !row {
  %sum = stablehlo.add %v, %v : !row
  return %sum : !row
}
"""
T = TypeVar("T")


class Editor(LanguageClient):
    """An editor with one document."""

    def __init__(self) -> None:
        super().__init__("test-editor", "1")
        self.published: asyncio.Queue[list[lsp.Diagnostic]] = asyncio.Queue()
        self.messages: list[str] = []
        self.version = 0
        self.uri = ""

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def on_diagnostics(params: lsp.PublishDiagnosticsParams) -> None:
            self.published.put_nowait(list(params.diagnostics))

        @self.feature(lsp.WINDOW_SHOW_MESSAGE)
        def on_message(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)

    async def open(self, text: str) -> list[lsp.Diagnostic]:
        self.version += 1
        self.uri = f"file:///program{self.version}.mlir"
        item = lsp.TextDocumentItem(self.uri, "mlir", self.version, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.published.get()

    async def type(self, start: lsp.Position, end: lsp.Position, text: str) -> list[lsp.Diagnostic]:
        self.version += 1
        self.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(self.version, self.uri),
                [lsp.TextDocumentContentChangePartial(lsp.Range(start, end), text)],
            )
        )
        return await self.published.get()

    def at(self, position: lsp.Position) -> dict[str, Any]:
        return {"text_document": lsp.TextDocumentIdentifier(self.uri), "position": position}


@pytest.fixture(scope="module")
def edit() -> Iterator[Any]:
    """Start a server; return a function that runs a session with it."""
    loop, editor = asyncio.new_event_loop(), Editor()

    def run(session: Callable[[Editor], Awaitable[T]]) -> T:
        return loop.run_until_complete(asyncio.wait_for(session(editor), TIMEOUT))

    async def start(editor: Editor) -> None:
        await editor.start_io(sys.executable, "-m", "stablehlo_ref", "lsp")
        await editor.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(), process_id=None, root_uri=None))
        editor.initialized(lsp.InitializedParams())

    async def stop(editor: Editor) -> None:
        await editor.shutdown_async(None)
        editor.exit(None)
        await editor.stop()

    run(start)
    yield run
    run(stop)
    loop.close()


def position(text: str, part: str, after: int = 0) -> lsp.Position:
    """Return where `part` first occurs in an ASCII text, and `after` characters on."""
    before = text[: text.index(part) + after]
    return lsp.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


def lines(locations: Any) -> list[int]:
    """Return the lines of locations, counted from 1."""
    return sorted(location.range.start.line + 1 for location in locations)


def test_diagnostics_while_typing(edit: Any) -> None:
    async def session(editor: Editor) -> list[list[lsp.Diagnostic]]:
        place, end = position(PROGRAM, "add"), position(PROGRAM, "add", 3)
        typo = lsp.Position(end.line, end.character - 1)
        found = [await editor.open(PROGRAM), await editor.type(place, end, "ad"), await editor.type(place, typo, "add")]
        row = position(PROGRAM, "tensor<2xf32>")
        return [*found, await editor.type(row, lsp.Position(row.line, row.character + 13), "tensor<2xi1>")]

    fine, broken, mended, invalid = edit(session)
    assert fine == [] == mended
    assert len(broken) == 1  # nothing follows from the op that cannot be read
    assert broken[0].message.startswith("unknown op 'stablehlo.ad'")
    assert broken[0].range.start == position(PROGRAM, "stablehlo.add")
    assert broken[0].source == "stablehlo"
    assert [error.range.start.line for error in invalid] == [4]  # a float, where the alias is now of booleans


def test_constraints_have_labels_notes_and_ranges(edit: Any) -> None:
    text = """\
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x3xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 1] : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
"""
    (error,) = edit(lambda editor: editor.open(text))
    assert error.code == "C2"
    assert "permutation = (1, 1)" in error.message
    assert error.range.start.line == 1


def test_hover(edit: Any) -> None:
    async def session(editor: Editor) -> list[str]:
        await editor.open(PROGRAM)
        texts = []
        for part in ("stablehlo.add", "%x", "stablehlo.multiply", "@twice", "!row ="):
            found = await editor.text_document_hover_async(lsp.HoverParams(**editor.at(position(PROGRAM, part, 1))))
            texts.append(found.contents.value)  # type: ignore[union-attr]
        return texts

    add, x, multiply, twice, row = edit(session)
    assert "Add `lhs` and `rhs`" in add and "%sum: tensor<2xf32>" in add and "- **C1** `" in add
    assert "%x: tensor<2xf32>" in x
    assert "`%four` is always `4.0` in all elements" in multiply
    assert "func.func private @twice(%v: !row) -> !row" in twice
    assert "!row = tensor<2xf32>" in row


def test_definitions_and_references(edit: Any) -> None:
    async def session(editor: Editor) -> list[tuple[int, list[int]]]:
        await editor.open(PROGRAM)
        found = []
        for part in ("%sum) :", "%v, %v", "@twice(%sum", "!row, %y"):
            at = editor.at(position(PROGRAM, part, 1))
            place: Any = await editor.text_document_definition_async(lsp.DefinitionParams(**at))
            context = lsp.ReferenceContext(include_declaration=False)
            uses = await editor.text_document_references_async(lsp.ReferenceParams(context=context, **at))
            found.append((place.range.start.line + 1, lines(uses)))
        return found

    assert edit(session) == [
        (4, [7]),  # %sum of @main, and not of @twice
        (11, [12, 12]),
        (11, [7]),
        (2, [3, 3, 3, 4, 5, 6, 7, 7, 8, 11, 11, 12, 13]),
    ]


def sort_text(item: Any) -> str:
    return str(item.sort_text)


def test_completion(edit: Any) -> None:
    async def session(editor: Editor) -> list[dict[str, str | None]]:
        await editor.open(PROGRAM)
        start = position(PROGRAM, "  return %result")
        found = []
        for text in (
            "  %0 = stablehlo.ad\n",
            "  func.call @\n",
            '  %0 = "stablehlo.gather"(%sum) <{\n',
            "  return %\n",
        ):
            await editor.type(start, start, text)
            place = lsp.Position(start.line, len(text) - 1)
            items: Any = await editor.text_document_completion_async(lsp.CompletionParams(**editor.at(place)))
            found.append({item.text_edit.new_text: item.detail for item in sorted(items.items, key=sort_text)})
            await editor.type(start, lsp.Position(start.line + 1, 0), "")
        return found

    ops, symbols, attributes, values = edit(session)
    assert "Add `lhs` and `rhs`" in (ops["stablehlo.add"] or "") and next(iter(ops)) == "stablehlo.add"
    assert set(symbols) == {"@main", "@twice"}
    assert "slice_sizes" in attributes and "stablehlo.add" not in attributes
    assert values == dict.fromkeys(("%x", "%y", "%sum", "%two", "%four", "%result"), "tensor<2xf32>")


def test_formatting_keeps_comments_or_says_why_not(edit: Any) -> None:
    squeezed = PROGRAM.replace("  %", "%").replace("add %x, %y", "add  %x,%y // of both\n")

    async def session(editor: Editor) -> tuple[str, Any, list[str]]:
        await editor.open(squeezed)
        options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
        params = lsp.DocumentFormattingParams(lsp.TextDocumentIdentifier(editor.uri), options)
        edits = await editor.text_document_formatting_async(params)
        await editor.type(lsp.Position(3, 0), lsp.Position(3, 0), "!")
        refused = await editor.text_document_formatting_async(params)
        return edits[0].new_text, refused, editor.messages  # type: ignore[index]

    text, refused, messages = edit(session)
    assert text.startswith("// Twice the sum.\nfunc.func @main(%x: tensor<2xf32>, ")
    assert "  %sum = stablehlo.add %x, %y : tensor<2xf32>  // of both\n  %two" in text
    assert refused is None and messages and messages[0].startswith("not formatted: ")


def test_positions_are_utf16_and_parts_are_separate(edit: Any) -> None:
    text = "// \N{GRINNING FACE}\nfunc.func @f(%x: tensor<f32>) {\n  return\n}\n// -----\n" * 2

    async def session(editor: Editor) -> Any:
        errors = await editor.open(text + 'func.func @g() { "\N{GRINNING FACE}.op"() : () -> () }')
        return errors

    (error,) = edit(session)
    assert (error.range.start.line, error.range.start.character) == (10, 17)
    assert error.range.end.character == 24  # the quotes, the face in two units, and .op


INITIALIZE = {"capabilities": {}, "processId": None, "rootUri": None}


def answers_to(*requests: object) -> tuple[list[dict[str, Any]], str]:
    """Return what the server answers to requests between the first and the last of a session, and its errors."""
    first = {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": INITIALIZE}
    last = {"jsonrpc": "2.0", "id": "last", "method": "shutdown", "params": None}
    texts = map(json.dumps, [first, *requests, last, {"jsonrpc": "2.0", "method": "exit"}])
    data = "".join(f"Content-Length: {len(text)}\r\n\r\n{text}" for text in texts)
    command = [sys.executable, "-m", "stablehlo_ref", "lsp"]
    done = subprocess.run(command, input=data, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    answers = [json.loads(text) for text in re.findall(r"^\{.*?\}(?=Content-Length|\Z)", done.stdout, re.M)]
    assert done.returncode == 0
    return [answer for answer in answers if answer.get("id", "last") not in ("first", "last")], done.stderr


def test_malformed_requests_are_answered_with_errors() -> None:
    malformed = [None, 3, {"textDocument": 3}, {"textDocument": {"uri": "a"}, "position": 1}]
    request = {"jsonrpc": "2.0", "method": "textDocument/hover"}
    answers, _ = answers_to(*({**request, "id": i, "params": params} for i, params in enumerate(malformed)))
    assert sorted(answer["id"] for answer in answers if "error" in answer) == [0, 1, 2, 3] and len(answers) == 4


def test_messages_without_a_version_are_refused() -> None:
    message = {"method": "textDocument/hover", "params": {}}
    answers, errors = answers_to({**message, "id": 7}, message)
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [(7, -32600)]
    assert "Traceback" not in errors


def test_reads_no_file_that_the_editor_has_not_opened(edit: Any) -> None:
    async def session(editor: Editor) -> None:
        device = lsp.TextDocumentIdentifier("file:///dev/zero")
        with pytest.raises(JsonRpcException, match="file:///dev/zero is not open"):
            await editor.text_document_hover_async(lsp.HoverParams(device, lsp.Position(0, 0)))

    edit(session)
