"""Requirement files of pip, and other texts that list one requirement a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import basename, dirname

from eaglelint.facts import EnginePin
from eaglelint.location import MappedText, join
from eaglelint.project import Source
from eaglelint.readers.releases import requirement_pin

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_EDITABLE = re.compile(r"\s*(?:-e|--editable)[\s=]+")
_OPTIONS = re.compile(r"\s--?[A-Za-z].*", re.DOTALL)
_SECTION = re.compile(r"\s*\[([^\]]*)\]")
_ENTRY = re.compile(r"([A-Za-z_][\w.-]*)\s*[=:]")


def requirement_file_pins(source: Source) -> Iterator[EnginePin]:
    """The pins of a requirements or constraints file."""
    name = f"{basename(dirname(source.path))}/{basename(source.path)}".lower()
    kind = "constraints" if "constraint" in name else "requirements"
    for line in logical_lines(source.text):
        comment = _COMMENT.search(line.text)
        text = line[: comment.start()] if comment else line
        editable = _EDITABLE.match(text.text)
        text = text[editable.end() :] if editable else text
        if text.text.lstrip().startswith("-"):
            continue
        options = _OPTIONS.search(text.text)
        pin = _pin(text[: options.start()] if options else text, kind)
        if pin is not None:
            yield pin


def setup_cfg_pins(source: Source) -> Iterator[EnginePin]:
    """The pins of a setup.cfg: `install_requires` and `extras_require`."""
    section = key = ""
    for line in lines(source.text):
        text = line.text.rstrip("\r\n")
        if not text.strip() or text.lstrip().startswith(("#", ";")):
            continue
        header = _SECTION.match(text)
        if header and not text[0].isspace():
            section, key = header[1].strip(), ""
            continue
        start = 0
        if not text[0].isspace():
            entry = _ENTRY.match(text)
            key, start = (entry[1], entry.end()) if entry else ("", 0)
        elif section == "options.extras_require":
            entry = re.match(r"\s+[A-Za-z_][\w.-]*\s*=(?!=)", text)
            start = entry.end() if entry else 0
        if (section == "options" and key == "install_requires") or section == "options.extras_require":
            pin = _pin(line[start : len(text)], "setup")
            if pin is not None:
                yield pin


def lines(text: MappedText) -> Iterator[MappedText]:
    """The lines of a text, with their line ends."""
    for found in _LINE.finditer(text.text):
        if found[0]:
            yield text[found.start() : found.end()]


def logical_lines(text: MappedText) -> Iterator[MappedText]:
    """The lines of a text, those that end in a backslash joined with the next; without line ends."""
    parts: list[MappedText] = []
    for line in lines(text):
        content = line.text.rstrip("\r\n")
        goes_on = content.endswith("\\") and not content.lstrip().startswith("#")
        parts.append(line[: len(content) - goes_on])
        if not goes_on:
            yield join(parts)
            parts = []
    if parts:
        yield join(parts)


def _pin(text: MappedText, source: str) -> EnginePin | None:
    content = text.text
    start = len(content) - len(content.lstrip())
    end = max(start, len(content.rstrip().rstrip(",")))
    return requirement_pin(content[start:end], text.location(start, end), source)
