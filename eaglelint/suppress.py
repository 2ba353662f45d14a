"""What keeps a finding from being reported: ignore comments, exceptions of the configuration, and which rules are on.

    # eaglelint: ignore[aux-layers-mismatch, EGL501] why it is accepted

An ignore comment holds for every finding that has a place on its line, be it the primary or a related one. A comment
that stands alone on its line holds for the line below, and on to the end of a command that is continued by backslashes,
in which no comment can stand. JSON has no comments: there, an entry of `exceptions` accepts a finding by path, pointer
and rule. What suppresses nothing, or names no rule, is reported itself (EGL003).
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from eaglelint import catalog
from eaglelint.errors import DocumentError, UnreadableSource
from eaglelint.findings import Finding, Severity
from eaglelint.location import Location, MappedText
from eaglelint.settings import Settings, matches

if TYPE_CHECKING:
    from eaglelint.project import Source

#: Rules that one comment may name.
_MOST_NAMES = 1_000
#: Lines of a comment below the one that accepts something, and of a command that is continued line by line.
_MOST_LINES = 200
_COMMENT = re.compile(r"(?P<marker>#|//|<!--)\s*eaglelint:\s*ignore\b(?:\[(?P<names>[^\]\r\n]*)\])?")
_COMMENT_BYTES = re.compile(rb"eaglelint:\s*ignore")

#: Kinds in which such a comment can only be meant: elsewhere (prose, JSON strings) an unused one is not reported.
_COMMENTED_KINDS = frozenset(
    {"shell", "yaml", "toml", "dockerfile", "requirements", "patch", "makefile", "systemd", "slurm"}
)
#: Findings about the run itself; comments can not hide them.
_NOT_SUPPRESSIBLE = frozenset({"EGL003", "EGL005"})


class Comment(NamedTuple):
    """An ignore comment: the names in it (None: it names no rule), where it stands and the lines it holds for.

    `certain` is False where the text may be no comment, so that nothing can be said about its being unused.
    """

    names: tuple[str, ...] | None
    where: Location
    lines: Collection[int]
    certain: bool


@dataclass
class Verdict:
    """The findings to report, those that were suppressed, and what is to be said about suppressions (EGL003)."""

    kept: list[Finding] = field(default_factory=list)
    suppressed: list[Finding] = field(default_factory=list)
    unused: list[Finding] = field(default_factory=list)


def comments(source: Source) -> list[Comment]:
    """The ignore comments of a source, in order; none in a file that can not be decoded or can not hold any."""
    if source.kind in ("json", "binary"):
        return []
    try:
        if not _COMMENT_BYTES.search(source.data):
            return []
        text = source.text
    except UnreadableSource:
        return []
    tokens = _comment_lines(text.text) if source.kind == "python" else frozenset()
    found = []
    for match in _COMMENT.finditer(text.text):
        where = text.location(match.start(), match.end())
        before = text.text[text.lines.offset(where.line, 1) : match.start()]
        if source.kind == "python":
            certain = where.line in tokens
        else:
            certain = source.kind in _COMMENTED_KINDS and _can_begin_comment(before)
        listed = match["names"]
        names = None if listed is None else tuple(re.split(r"[,\s]+", listed.strip(), maxsplit=_MOST_NAMES))
        alone = not before.strip(" \t+")
        found.append(Comment(names, where, _lines_held(text, where.line, match["marker"], alone), certain))
    return found


def _can_begin_comment(before: str) -> bool:
    return (not before or before[-1] in " \t+") and before.count('"') % 2 == 0 and before.count("'") % 2 == 0


def _comment_lines(text: str) -> frozenset[int]:
    """The lines of a Python file on which there is a comment; none when it can not be tokenized."""
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return frozenset(token.start[0] for token in tokens if token.type == tokenize.COMMENT)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return frozenset()


def _lines_held(text: MappedText, line: int, marker: str, alone: bool) -> Collection[int]:
    if not alone:
        return (line,)
    last, _ = text.lines.position(text.lines.length)
    below = line + 1
    while below < min(last, line + _MOST_LINES) and _line(text, below).strip(" \t+").startswith(marker):
        below += 1
    while below <= min(last, line + 2 * _MOST_LINES) and _line(text, below).endswith("\\"):
        below += 1
    return range(line, below + 1)


def _line(text: MappedText, line: int) -> str:
    start, end = text.lines.span(line)
    return text.text[start:end].rstrip("\r\n")


def places(finding: Finding) -> Iterator[Location]:
    """Every place of a finding: the primary one, then the related ones."""
    yield finding.where
    for step in finding.related:
        yield step.where


def reported(code: str, settings: Settings) -> bool:
    """Whether a rule is on: the closest of what selects and what ignores it wins, and of equals the ignoring one."""
    ignored = catalog.strength(settings.ignore, code)
    if code == "EGL005" and ignored < len(code):
        return True
    chosen = catalog.strength(settings.extend_select, code)
    if settings.select:
        chosen = max(chosen, catalog.strength(settings.select, code))
    elif catalog.enabled(code):
        chosen = max(chosen, 0)
    return chosen > ignored


def configured(findings: Iterable[Finding], settings: Settings) -> Iterator[Finding]:
    """The findings whose rule is on in their file, with the severity that the configuration gives the rule."""
    from dataclasses import replace

    severities: Mapping[str, Severity] = {catalog.resolve(name): level for name, level in settings.severity.items()}
    on: dict[str, bool] = {}
    for finding in findings:
        code = finding.rule
        if code not in on:
            on[code] = reported(code, settings)
        if not on[code] or _ignored_in_file(finding, settings):
            continue
        severity = severities.get(code, finding.severity)
        yield finding if severity == finding.severity else replace(finding, severity=severity)


def _ignored_in_file(finding: Finding, settings: Settings) -> bool:
    return any(
        catalog.strength(selectors, finding.rule) >= 0 and matches([pattern], settings.inside(finding.where.path))
        for pattern, selectors in settings.per_file_ignores.items()
    )


def suppress(findings: Iterable[Finding], sources: Sequence[Source], settings: Settings) -> Verdict:
    """Sort findings into those to report and those that a comment or an exception accepts, and judge these."""
    verdict = Verdict()
    found = [(comment, set[str]()) for source in sources for comment in comments(source)]
    by_line: dict[tuple[str, int], list[tuple[Comment, set[str]]]] = {}
    for entry in found:
        for line in entry[0].lines:
            by_line.setdefault((entry[0].where.path, line), []).append(entry)
    exceptions = _Exceptions(sources, settings)
    for finding in findings:
        hit = False
        if finding.rule not in _NOT_SUPPRESSIBLE:
            names = {finding.rule.lower(), catalog.slug(finding.rule)}
            for place in places(finding):
                for line in range(place.line, max(place.line, place.end_line) + 1) if by_line else ():
                    for comment, used in by_line.get((place.path, line), ()):
                        matching = {name for name in comment.names or () if name.lower() in names}
                        used |= matching
                        hit = hit or bool(matching)
            hit = exceptions.accept(finding) or hit
        (verdict.suppressed if hit else verdict.kept).append(finding)
    for comment, used in found:
        if comment.certain:
            verdict.unused += _judged(comment, used, settings)
    verdict.unused += exceptions.unused()
    return verdict


def _judged(comment: Comment, used: set[str], settings: Settings) -> Iterator[Finding]:
    if not comment.names or not any(comment.names):
        yield _unused("this ignore comment names no rule: write ignore[EGL401] or ignore[aux-layers-mismatch]", comment)
        return
    for name in comment.names:
        code = catalog.find(name)
        if name in used:
            continue
        if code is None:
            yield _unused(catalog.unknown(name), comment)
        elif reported(code, settings) and code not in _NOT_SUPPRESSIBLE:
            yield _unused(f"ignore[{name}] suppresses nothing: {code} is not reported at this line", comment)


def _unused(message: str, comment: Comment) -> Finding:
    return Finding("EGL003", "warning", message, comment.where)


class _Exceptions:
    """The exceptions of the configuration and which of them were needed."""

    def __init__(self, sources: Sequence[Source], settings: Settings) -> None:
        self._settings = settings
        self._used: set[int] = set()
        self._sources = {source.path: source for source in sources} if settings.exceptions else {}
        self._spans: dict[tuple[str, str], tuple[int, int] | None] = {}

    def accept(self, finding: Finding) -> bool:
        accepted = False
        for index, entry in enumerate(self._settings.exceptions):
            if catalog.find(entry.rule) != finding.rule:
                continue
            for place in places(finding):
                inside = matches([entry.path], self._settings.inside(place.path))
                if inside and (not entry.pointer or self._covers(place, entry.pointer)):
                    self._used.add(index)
                    accepted = True
        return accepted

    def _covers(self, place: Location, pointer: str) -> bool:
        key = (place.path, pointer)
        if key not in self._spans:
            self._spans[key] = self._span(*key)
        span = self._spans[key]
        return span is not None and span[0] <= place.start <= span[1]

    def _span(self, path: str, pointer: str) -> tuple[int, int] | None:
        """Where the node at a pointer begins (with its key) and ends, in characters; None when there is none."""
        from eaglelint.readers.documents import read_json, read_toml, read_yaml

        source = self._sources.get(path)
        if source is None:
            return None
        try:
            if source.kind == "yaml":
                documents = list(read_yaml(source.text))
            else:
                documents = [(read_toml if source.kind == "toml" else read_json)(source.text)]
        except (DocumentError, UnreadableSource):
            return None
        for document in documents:
            if pointer in document.spans:
                value = document.spans[pointer]
                return document.keys.get(pointer, value).start, value.end
        return None

    def unused(self) -> Iterator[Finding]:
        settings = self._settings
        for index, entry in enumerate(settings.exceptions):
            code = catalog.resolve(entry.rule)
            in_scope = any(matches([entry.path], settings.inside(path)) for path in self._sources)
            if index in self._used or not in_scope or not reported(code, settings):
                continue
            at = f" at {entry.pointer}" if entry.pointer else ""
            message = f"this exception accepts nothing: {code} is not reported in {entry.path}{at}"
            yield Finding("EGL003", "warning", message, self._where(index))

    def _where(self, index: int) -> Location:
        from eaglelint.configuration import places_in

        name = self._settings.file
        pointers = places_in(name)
        for prefix in ("", "/tool/eaglelint"):
            if f"{prefix}/exceptions/{index}" in pointers:
                return pointers[f"{prefix}/exceptions/{index}"]
        return Location(name)
