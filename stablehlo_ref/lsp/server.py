"""The language server: documents and requests of an editor, over standard input and output."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlparse

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from stablehlo_ref._version import __version__
from stablehlo_ref.diagnostics import Diagnostic, StablehloError
from stablehlo_ref.lsp.answers import Item, complete, formatted, hover
from stablehlo_ref.lsp.document import Chunk, Document, range_of

DELAY = 0.2  # seconds without a change before a text is checked
KINDS = {
    "op": lsp.CompletionItemKind.Function,
    "attribute": lsp.CompletionItemKind.Property,
    "name": lsp.CompletionItemKind.Variable,
}
_find_label = re.compile(r"^'[^']*' op \((\w[\w ]*)\): ").match


class Protocol(LanguageServerProtocol):
    """The protocol, in which requests that are malformed are answered, too: with an error."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and "id" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    def handle_message(self, message: Any) -> None:
        if hasattr(message, "jsonrpc"):
            super().handle_message(message)
        elif isinstance(message, dict) and "id" in message:  # it does not say which version of JSON-RPC it is in
            self._send_response(message["id"], error=JsonRpcInvalidRequest().to_response_error())


class Server:
    """Answers an editor, and keeps what it knows of the current text of each document."""

    def __init__(self) -> None:
        sync = lsp.TextDocumentSyncKind.Incremental
        self.protocol = LanguageServer("stablehlo", __version__, text_document_sync_kind=sync, protocol_cls=Protocol)
        self.known: dict[str, Document] = {}
        self._offer(lsp.TEXT_DOCUMENT_DID_OPEN, self.did_open)
        self._offer(lsp.TEXT_DOCUMENT_DID_CHANGE, self.did_change)
        self._offer(lsp.TEXT_DOCUMENT_DID_CLOSE, self.did_close)
        self._offer(lsp.TEXT_DOCUMENT_HOVER, self.hover)
        self._offer(lsp.TEXT_DOCUMENT_DEFINITION, self.definition)
        self._offer(lsp.TEXT_DOCUMENT_REFERENCES, self.references)
        self._offer(lsp.TEXT_DOCUMENT_FORMATTING, self.formatting)
        self._offer(lsp.TEXT_DOCUMENT_COMPLETION, self.completion, lsp.CompletionOptions(list('.%@#!^"{<')))

    def _offer(self, feature: str, method: Callable[..., object], options: object = None) -> None:
        """Register the method for a feature, as a partial function, to which pygls can add attributes."""
        self.protocol.feature(feature, options)(partial(method))

    # --- documents ----------------------------------------------------------------------------------------------

    def document(self, uri: str) -> Document:
        """Return what is known of the current text of a document.

        JsonRpcInvalidParams for one that the editor has not opened: no file is read.
        """
        if (opened := self.protocol.workspace.text_documents.get(uri)) is None:
            raise JsonRpcInvalidParams(f"{uri} is not open")
        text = opened.source
        known = self.known.get(uri)
        if known is None or known.text != text:
            known = self.known[uri] = Document(text, PurePosixPath(unquote(urlparse(uri).path)).name)
        return known

    def place(self, uri: str, position: lsp.Position) -> tuple[Document, Chunk, int]:
        """Return the document, the part of it, and the offset in that part of a position."""
        document = self.document(uri)
        offset = document.lines.offset(position.line, position.character)
        part = document.part_at(offset)
        return document, part, max(offset - part.start, 0)

    def publish(self, uri: str) -> None:
        """Send the errors of a document."""
        document = self.document(uri)
        found = [_diagnostic(uri, document, part, error) for part, error in document.errors()]
        self.protocol.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found))

    def did_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        self.publish(params.text_document.uri)

    async def did_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        await asyncio.sleep(DELAY)
        document = self.protocol.workspace.text_documents.get(uri)
        if document is not None and document.version == version:
            self.publish(uri)

    def did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        self.known.pop(params.text_document.uri, None)
        self.protocol.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))

    # --- requests -----------------------------------------------------------------------------------------------

    def hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        document, part, offset = self.place(params.text_document.uri, params.position)
        shown = hover(part, offset)
        if shown is None:
            return None
        text, start, end = shown
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, text)
        return lsp.Hover(content, _range(document, part.start + start, part.start + end))

    def definition(self, params: lsp.DefinitionParams) -> lsp.Location | None:
        document, part, offset = self.place(params.text_document.uri, params.position)
        name = part.names.at(offset)
        if name is None or name.definition is None:
            return None
        found = part.names.at(name.definition)
        end = found.end if found is not None else name.definition
        return lsp.Location(params.text_document.uri, _range(document, part.start + name.definition, part.start + end))

    def references(self, params: lsp.ReferenceParams) -> list[lsp.Location]:
        document, part, offset = self.place(params.text_document.uri, params.position)
        name = part.names.at(offset)
        if name is None or name.definition is None:
            return []
        wanted = params.context.include_declaration
        found = [n for n in part.names.of(name.definition) if wanted or not n.is_definition]
        ranges = [_range(document, part.start + n.start, part.start + n.end) for n in found]
        return [lsp.Location(params.text_document.uri, range) for range in ranges]

    def completion(self, params: lsp.CompletionParams) -> lsp.CompletionList:
        document, part, offset = self.place(params.text_document.uri, params.position)
        found = [_completion(document, part, item, offset, rank) for rank, item in enumerate(complete(part, offset))]
        return lsp.CompletionList(is_incomplete=True, items=found)  # others fit when more or less has been typed

    def formatting(self, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        document = self.document(params.text_document.uri)
        try:
            text = formatted(document.text)
        except StablehloError as error:
            message = f"not formatted: {error.diagnostics[0].message}"
            self.protocol.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, message))
            return None
        return [lsp.TextEdit(_range(document, 0, len(document.text)), text)] if text != document.text else []


def _completion(document: Document, part: Chunk, item: Item, offset: int, rank: int) -> lsp.CompletionItem:
    edit = lsp.TextEdit(_range(document, part.start + item.start, part.start + offset), item.text)
    return lsp.CompletionItem(
        item.text, kind=KINDS[item.kind], detail=item.detail or None, sort_text=f"{rank:06}", text_edit=edit
    )


def _range(document: Document, start: int, end: int) -> lsp.Range:
    return lsp.Range(lsp.Position(*document.lines.position(start)), lsp.Position(*document.lines.position(end)))


def _diagnostic(uri: str, document: Document, part: Chunk, error: Diagnostic) -> lsp.Diagnostic:
    label = _find_label(error.message)
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(uri, _range(document, *range_of(part, note.location))), "\n".join((note.message, *note.notes))
        )
        for note in error.attached
    ]
    return lsp.Diagnostic(
        _range(document, *range_of(part, error.location)),
        "\n".join((error.message, *error.notes)),
        severity=lsp.DiagnosticSeverity.Error,
        code=label[1] if label else None,
        source="stablehlo",
        related_information=related or None,
    )


def serve() -> None:
    """Serve an editor over standard input and output until it disconnects."""
    Server().protocol.start_io()
