"""The Python of a project: parsed once, found by path or by the name under which it is imported."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from typing import TYPE_CHECKING

from eaglelint.analyser import gate
from eaglelint.analyser.fragments import Fragment, FragmentError, parse, parse_module
from eaglelint.analyser.scope import ModuleScope
from eaglelint.analyser.tables import without_tables
from eaglelint.errors import UnreadableSource
from eaglelint.facts import Unreadable
from eaglelint.location import Location, MappedText

if TYPE_CHECKING:
    import libcst as cst

    from eaglelint.project import Source

_MAX_BYTES = 1_500_000
#: Above this size in all, only files that speak of capture itself are run; what they import is read when it is used.
_MANY_BYTES = 1_000_000
#: Bytes of files that are read only because others import them.
_MAX_IMPORTED = 600_000
#: A file by which a whole engine is recognised; a folder without it is an overlay of some of its files.
_ENGINE_MARKS = ("sglang/srt/server_args.py", "vllm/engine/arg_utils.py")


class Code:
    """All Python sources of a project and what was parsed of them so far.

    `imported` bounds the bytes that are read only because others import them.
    """

    def __init__(self, sources: Sequence[Source], imported: int = _MAX_IMPORTED) -> None:
        self._granted = imported
        self.sources = {source.path: source for source in sources}
        self.python = [source for source in sources if source.kind == "python"]
        self.unreadable: list[Unreadable] = []
        self._parsed: dict[str, Fragment | None] = {}
        self._fragments: dict[tuple[str, int, str], Fragment | None] = {}
        self._locators: dict[int, Locator] = {}
        self._imported = 0
        self._by_name: dict[str, list[str]] = {}
        for source in self.python:
            self._by_name.setdefault(source.path.rsplit("/", 1)[-1], []).append(source.path)

    def relevant(self) -> Iterator[Source]:
        """The Python files that pass the gate, in path order; of many only those that speak of capture itself.

        Unit tests are left out (what they capture trains nobody), and so are whole engines: what they capture for which
        ids is their convention, which `derive` reads.
        """
        engines = self._engines()
        passed = [
            source
            for source in self.python
            if not _is_test(source.path) and not source.path.startswith(engines) and _passes(source, gate.relevant)
        ]
        if sum(len(source.data) for source in passed) > _MANY_BYTES:
            passed = [source for source in passed if gate.central(source.data)]
        yield from passed

    def _engines(self) -> tuple[str, ...]:
        """The folders of the engines that lie in the project as a whole."""
        return tuple(
            path.removesuffix(mark.partition("/")[2])
            for mark in _ENGINE_MARKS
            for path in self._by_name.get(mark.rsplit("/", 1)[-1], ())
            if f"/{path}".endswith(f"/{mark}")
        )

    def parsed(self, path: str) -> Fragment | None:
        """The tree of a Python file, None when it can not be read (that is remembered as unreadable)."""
        if path not in self._parsed:
            self._parsed[path] = self._parse(path)
        return self._parsed[path]

    def _parse(self, path: str) -> Fragment | None:
        source = self.sources.get(path)
        if source is None:
            return None
        try:
            size = len(source.data)
            if not gate.relevant(source.data, path):
                self._imported += size
            if size > _MAX_BYTES or self._imported > self._granted:
                return None
            return parse_module(without_tables(source.text))
        except UnreadableSource as error:
            self.unreadable.append(Unreadable(error.where, error.reason, True))
        except FragmentError as error:
            self.unreadable.append(Unreadable(error.where, error.reason, gate.evidence(source.data, source.path)))
        return None

    def names(self, word: str, besides: Container[str]) -> bool:
        """Whether any other file of the project holds this word."""
        wanted = word.encode()
        return any(path not in besides and _holds(source, wanted) for path, source in self.sources.items())

    def fragment(self, text: MappedText) -> Fragment | None:
        """The tree of a piece of code inside something else."""
        key = (text.lines.path, text.origin[0] if len(text.origin) else 0, text.text)
        if key not in self._fragments:
            self._fragments[key] = parse(text)
        return self._fragments[key]

    def scope(self, fragment: Fragment, path: str, dotted: str, loose: bool = False) -> ModuleScope:
        """A fresh scope for a parsed tree; positions are computed when they are first asked for."""
        locator = self._locators.get(id(fragment))
        if locator is None:
            locator = self._locators[id(fragment)] = Locator(fragment)
        made = ModuleScope(path, dotted, fragment.text, fragment.module, locator, loose=loose)
        made._places = locator.places
        return made

    def resolve(self, dotted: str, importer: str, level: int) -> str | None:
        """The file that an import means, None when it is not in the project."""
        tail = dotted.replace(".", "/") if dotted else ""
        if level:
            parts = importer.split("/")[:-1]
            base = parts[: len(parts) - (level - 1)] if level > 1 else parts
            stem = "/".join([*base, tail] if tail else base)
            return next((p for p in (f"{stem}.py", f"{stem}/__init__.py") if p in self.sources), None)
        if not tail:
            return None
        folder = importer.rpartition("/")[0]
        while True:
            prefix = f"{folder}/" if folder else ""
            for candidate in (f"{prefix}{tail}.py", f"{prefix}{tail}/__init__.py"):
                if candidate in self.sources:
                    return candidate
            if not folder:
                break
            folder = folder.rpartition("/")[0]
        last = tail.rsplit("/", 1)[-1]
        fitting = [p for p in self._by_name.get(f"{last}.py", ()) if p.endswith(f"/{tail}.py")]
        return fitting[0] if len(fitting) == 1 and "/" in tail else None


def _passes(source: Source, judge: Callable[[bytes, str], bool]) -> bool:
    try:
        return judge(source.data, source.path)
    except UnreadableSource:
        return False


def _holds(source: Source, word: bytes) -> bool:
    try:
        return source.kind not in ("binary", "markdown") and word in source.data
    except UnreadableSource:
        return True


def _is_test(path: str) -> bool:
    *folders, name = path.split("/")
    return not {"tests", "test", "testing"}.isdisjoint(folders) or name.startswith("test_") or name.endswith("_test.py")


class Locator:
    """Offsets of the nodes of one tree; the positions of the whole tree are computed at the first question."""

    def __init__(self, fragment: Fragment) -> None:
        self.fragment = fragment
        self.places: dict[int, Location] = {}

    def __call__(self, node: cst.CSTNode) -> tuple[int, int]:
        return self.fragment.span(node) or (0, 0)
