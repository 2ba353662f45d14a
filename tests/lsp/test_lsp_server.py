"""The language server, spoken to by a real client over standard input and output."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")
from lsprotocol import types as lsp
from pygls.lsp.client import BaseLanguageClient

ROOT = Path(__file__).resolve().parents[2]
CONFIG = "drafter/config.json"
SCRIPT = "tools/extract_states.py"


class Client(BaseLanguageClient):
    """Keeps the diagnostics of each file, and tells when new ones come."""

    def __init__(self, folder: Path) -> None:
        super().__init__("test", "1")
        self.folder = folder
        self.diagnostics: dict[str, list[lsp.Diagnostic]] = {}
        self.news = asyncio.Event()
        self.messages: list[str] = []

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.diagnostics[params.uri] = list(params.diagnostics)
            self.news.set()

        @self.feature(lsp.WINDOW_SHOW_MESSAGE)
        def shown(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self.news.set()

    def uri(self, path: str) -> str:
        return (self.folder / path).as_uri()

    def codes(self, path: str) -> list[str]:
        return sorted(str(one.code) for one in self.diagnostics.get(self.uri(path), []))

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(120) if sys.version_info >= (3, 11) else _forever():
            while not holds():
                await self.news.wait()
                self.news.clear()

    def open(self, path: str) -> str:
        text = (self.folder / path).read_bytes().decode()
        document = lsp.TextDocumentItem(self.uri(path), "text", 1, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
        return text

    def change(self, path: str, text: str, version: int) -> None:
        self.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(version, self.uri(path)),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )


class _forever:
    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> None: ...


def converse(folder: Path, talk: Callable[[Client], Awaitable[None]]) -> None:
    """Start a server for a folder, talk to it, and shut it down."""

    async def session() -> None:
        client = Client(folder)
        await client.start_io(sys.executable, "-m", "eaglelint", "lsp")
        await client.initialize_async(
            lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=folder.as_uri())
        )
        client.initialized(lsp.InitializedParams())
        await talk(client)
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()

    asyncio.run(session())


@pytest.fixture
def example(tmp_path: Path) -> Path:
    folder = tmp_path / "project é 𝒙"
    shutil.copytree(ROOT / "examples" / "kimi-k25-wiring", folder)
    return folder


def test_findings_follow_what_is_typed(example: Path):
    async def talk(client: Client) -> None:
        await client.until(lambda: "EGL401" in client.codes(CONFIG) and client.codes(SCRIPT) == ["EGL501"] * 3)
        found = next(one for one in client.diagnostics[client.uri(CONFIG)] if one.code == "EGL401")
        assert (found.range.start.line, found.range.start.character, found.range.end.character) == (17, 40, 51)
        assert found.related_information is not None
        assert client.uri("tools/patch_sglang.py") in [step.location.uri for step in found.related_information]
        text = client.open(CONFIG)
        client.change(CONFIG, text.replace("[-1, 2, 30]", "[2, 30, 58]"), 2)
        await client.until(lambda: "EGL401" not in client.codes(CONFIG))
        client.change(CONFIG, text.replace("[-1, 2, 30]", "[2, 30, 57]"), 3)
        await client.until(lambda: "EGL401" in client.codes(CONFIG))

    converse(example, talk)


def test_a_quick_fix_renames_in_code_with_wide_characters(example: Path):
    script = example / SCRIPT
    script.write_text(script.read_text().replace('dump["state_0"]', 'dump["state_0"]; "𝒙é"; embed_out'))

    async def talk(client: Client) -> None:
        text = client.open(SCRIPT)
        await client.until(lambda: "EGL501" in client.codes(SCRIPT))
        found = client.diagnostics[client.uri(SCRIPT)][0]
        actions = await client.text_document_code_action_async(
            lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(client.uri(SCRIPT)), found.range, lsp.CodeActionContext([found])
            )
        )
        assert actions is not None
        (action,) = [one for one in actions if isinstance(one, lsp.CodeAction)]
        assert action.edit is not None
        assert action.edit.changes is not None
        assert action.is_preferred
        (edits,) = action.edit.changes.values()
        assert _applied(text, list(edits)) == text.replace("embed_out", "layer2_out")

    converse(example, talk)


def _applied(text: str, edits: list[Any]) -> str:
    """What an editor makes of edits whose columns count UTF-16 units."""
    lines = text.splitlines(keepends=True)
    for edit in sorted(edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True):
        line = lines[edit.range.start.line].encode("utf-16-le")
        start, end = edit.range.start.character * 2, edit.range.end.character * 2
        lines[edit.range.start.line] = (line[:start] + edit.new_text.encode("utf-16-le") + line[end:]).decode(
            "utf-16-le"
        )
    return "".join(lines)


def test_hover_says_what_a_list_of_ids_means(example: Path):
    async def talk(client: Client) -> None:
        client.open(CONFIG)
        await client.until(lambda: "EGL401" in client.codes(CONFIG))
        hover = await client.text_document_hover_async(
            lsp.HoverParams(lsp.TextDocumentIdentifier(client.uri(CONFIG)), lsp.Position(17, 43))
        )
        assert hover is not None
        assert isinstance(hover.contents, lsp.MarkupContent)
        assert "**trained on** boundaries 3, 31, 59" in hover.contents.value
        assert "**SGLang 0.5.9**" in hover.contents.value
        elsewhere = lsp.HoverParams(lsp.TextDocumentIdentifier(client.uri(CONFIG)), lsp.Position(1, 1))
        assert await client.text_document_hover_async(elsewhere) is None

    converse(example, talk)


def test_a_wrong_configuration_is_told_and_the_server_lives_on(example: Path):
    (example / "eaglelint.toml").write_text('selekt = ["EGL4"]\n')

    async def talk(client: Client) -> None:
        await client.until(lambda: bool(client.messages))
        assert "eaglelint.toml:1" in client.messages[0]
        (example / "eaglelint.toml").write_text('select = ["EGL4"]\n')
        client.open(CONFIG)
        await client.until(lambda: "EGL401" in client.codes(CONFIG))
        assert client.codes(SCRIPT) == []

    converse(example, talk)
