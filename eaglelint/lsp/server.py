"""The server: diagnostics after each pause of typing, quick fixes, and hover on lists of ids."""

from __future__ import annotations

import asyncio
import contextlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from eaglelint import __version__, catalog
from eaglelint.errors import UsageError
from eaglelint.findings import Finding
from eaglelint.lsp import wire
from eaglelint.lsp.service import Workspace

#: Seconds without a change after which the workspace is checked again.
_PAUSE = 0.3
_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "info": lsp.DiagnosticSeverity.Information,
}
#: What can make findings others. (The names of types matter: by them pygls knows what to hand to a feature.)
Changed = (
    lsp.DidOpenTextDocumentParams
    | lsp.DidChangeTextDocumentParams
    | lsp.DidSaveTextDocumentParams
    | lsp.DidCloseTextDocumentParams
    | lsp.DidChangeWatchedFilesParams
)


class Server(LanguageServer):
    """One folder, checked as a whole by one thread, again and again."""

    def __init__(self) -> None:
        super().__init__("eaglelint", __version__)
        self.folder: Workspace | None = None
        self._shown: set[str] = set()
        self._wanted = asyncio.Event()
        self._worker = ThreadPoolExecutor(1, "check")
        self._loop: asyncio.Task[None] | None = None

    @property
    def encoding(self) -> str:
        """The units in which the client counts columns."""
        return str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))

    def begin(self) -> None:
        """Check the workspace now, and after each change."""
        root = self.workspace.root_path
        if not root:
            return
        self.folder = Workspace(Path(root).resolve())
        os.chdir(self.folder.root)
        self._wanted.set()
        self._loop = asyncio.ensure_future(self._checks())

    def end(self) -> None:
        """No more checks."""
        if self._loop is not None:
            self._loop.cancel()
        self._worker.shutdown(wait=False, cancel_futures=True)

    def changed(self) -> None:
        """Something was typed, saved or closed."""
        self._wanted.set()

    async def _checks(self) -> None:
        assert self.folder is not None
        while True:
            await self._wanted.wait()
            while self._wanted.is_set():
                self._wanted.clear()
                await asyncio.sleep(_PAUSE)
            texts = dict(self._texts(self.folder))
            try:
                await asyncio.get_running_loop().run_in_executor(self._worker, self.folder.check, texts)
            except UsageError as error:
                self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, f"eaglelint: {error}"))
                continue
            except Exception as error:
                what = f"eaglelint: internal error: {type(error).__name__}: {error}"
                self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, what))
                continue
            self._publish(self.folder)

    def _texts(self, folder: Workspace) -> list[tuple[str, str]]:
        """The texts of the files that are open."""
        texts = []
        for document in list(self.workspace.text_documents.values()):
            file = to_fs_path(document.uri)
            path = folder.path(Path(file).resolve()) if file else None
            if path is not None:
                texts.append((path, document.source))
        return texts

    def _publish(self, folder: Workspace) -> None:
        """Show what was found, and clear what was shown before and is gone."""
        by_path: dict[str, list[lsp.Diagnostic]] = {}
        for finding in folder.result.findings if folder.result is not None else ():
            by_path.setdefault(finding.where.path, []).append(self._diagnostic(folder, finding))
        for path in sorted(self._shown - set(by_path)):
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(self._uri(folder, path), []))
        for path, diagnostics in sorted(by_path.items()):
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(self._uri(folder, path), diagnostics))
        self._shown = set(by_path)

    def _diagnostic(self, folder: Workspace, finding: Finding) -> lsp.Diagnostic:
        related = [
            lsp.DiagnosticRelatedInformation(
                lsp.Location(
                    self._uri(folder, step.where.path),
                    wire.span(folder.text(step.where.path), step.where, self.encoding),
                ),
                step.what,
            )
            for step in finding.related
        ]
        fix = f"\nfix: {finding.fix.description}" if finding.fix is not None else ""
        return lsp.Diagnostic(
            range=wire.span(folder.text(finding.where.path), finding.where, self.encoding),
            message=finding.message + fix,
            severity=_SEVERITIES[finding.severity],
            code=finding.rule,
            source=f"eaglelint {catalog.slug(finding.rule)}",
            related_information=related or None,
        )

    def _uri(self, folder: Workspace, path: str) -> str:
        return from_fs_path(str(folder.root / path)) or ""

    def path_of(self, uri: str) -> str | None:
        """A file of the workspace as it stands in findings, when what was checked is what the editor shows."""
        file = to_fs_path(uri)
        path = self.folder.path(Path(file).resolve()) if file and self.folder is not None else None
        text = self.folder.text(path) if path is not None and self.folder is not None else None
        if path is None or text is None or self.workspace.get_text_document(uri).source != text.text:
            return None
        return path

    async def in_turn(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """The fixes, worked out in the thread that checks: code is parsed by one thread at a time."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, self.actions, params)

    def actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """The fixes of findings in a range."""
        path = self.path_of(params.text_document.uri)
        text = self.folder.text(path) if path is not None and self.folder is not None else None
        if path is None or text is None or self.folder is None:
            return []
        start = wire.offset(text, params.range.start, self.encoding)
        end = wire.offset(text, params.range.end, self.encoding)
        made = []
        for action in self.folder.actions(path, start, end):
            changes: dict[str, list[lsp.TextEdit]] = {}
            for edit in action.edits:
                other = self.folder.text(edit.path)
                if other is None:
                    break
                there = other.text[edit.start : edit.end]
                quote = there[: (len(there) - len(edit.old)) // 2] if edit.old is not None else ""
                change = lsp.TextEdit(
                    wire.between(other, edit.start, edit.end, self.encoding), f"{quote}{edit.text}{quote}"
                )
                changes.setdefault(self._uri(self.folder, edit.path), []).append(change)
            else:
                made.append(
                    lsp.CodeAction(
                        title=action.title,
                        kind=lsp.CodeActionKind.QuickFix,
                        diagnostics=[one for one in params.context.diagnostics if one.code == action.finding.rule],
                        is_preferred=action.safe or None,
                        edit=lsp.WorkspaceEdit(changes=changes),
                    )
                )
        return made

    def hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        """What a list of ids means."""
        path = self.path_of(params.text_document.uri)
        text = self.folder.text(path) if path is not None and self.folder is not None else None
        if path is None or text is None or self.folder is None:
            return None
        found = self.folder.hover(path, wire.offset(text, params.position, self.encoding))
        if found is None:
            return None
        ids, words = found
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, words)
        return lsp.Hover(content, wire.span(text, ids.where, self.encoding))


def make() -> Server:
    """A server with its features."""
    server = Server()

    @server.feature(lsp.INITIALIZED)
    def initialized(_: lsp.InitializedParams) -> None:
        server.begin()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed(_: Changed) -> None:
        server.changed()

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])
    )
    async def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        return await server.in_turn(params)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        return server.hover(params)

    @server.feature(lsp.SHUTDOWN)
    def shutdown(_: None) -> None:
        with contextlib.suppress(RuntimeError):
            server.end()

    return server
