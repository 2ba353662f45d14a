"""Fenced code blocks of Markdown: the commands, programs and files that a text shows.

A block is a file of its own: nothing that one sets is known in the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from eaglelint.location import MappedText, join
from eaglelint.project import Source
from eaglelint.readers.passages import Passage

_FENCE = re.compile(r"(?m)^(?P<indent>[ \t]*(?:>[ \t]?)*[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")
_LANGUAGES = {
    **dict.fromkeys(("bash", "sh", "shell", "zsh", "console", "shell-session", "shellsession", "terminal"), "shell"),
    **dict.fromkeys(("python", "py", "python3", "pycon"), "python"),
    **dict.fromkeys(("yaml", "yml"), "yaml"),
    **dict.fromkeys(("dockerfile", "docker"), "dockerfile"),
}
_PROMPT = re.compile(r"[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[\w.-]+@[\w.-]+:[^\s$]*)?\$[ \t]+")
_PYTHON_PROMPT = re.compile(r"(?:>>>|\.\.\.)(?: |$)")
#: How the first line of a block without a language begins when it is a command.
_COMMAND = re.compile(
    r"\s*(?:\$ |#!/\S*sh\b|(?:[A-Z_]+=\S+ )*(?:python3?|vllm|sglang|trtllm-serve|tokenspeed|ts|docker|pip|uv|export)\s)"
)


def passages(source: Source) -> Iterator[Passage]:
    """The fenced blocks of a Markdown file whose language is known; raises UnreadableSource."""
    for info, text in _blocks(source.text):
        name = re.split(r"[\s{},.]+", info.lower().lstrip("{."))[0]
        language = _LANGUAGES.get(name, "")
        if not name and _COMMAND.match(text.text):
            language = "shell"
        if language == "shell":
            yield Passage("shell", _session(text))
        elif language == "python":
            yield Passage("python", _python_session(text))
        elif language:
            yield Passage(language, text)


def _blocks(text: MappedText) -> Iterator[tuple[str, MappedText]]:
    """The info string and the content of each block, without the indentation of its fence."""
    place = 0
    while (found := _FENCE.search(text.text, place)) is not None:
        indent, fence = found["indent"], found["fence"]
        closing = re.compile(rf"(?m)^[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*\r?$")
        close = closing.search(text.text, min(found.end() + 1, len(text)))
        end = close.start() if close is not None else len(text)
        lines = []
        for line in re.compile(r"[^\n]*\n?").finditer(text.text, min(found.end() + 1, end), end):
            begin = line.start()
            for char in indent:
                if begin < line.end() and text.text[begin] == char:
                    begin += 1
            lines.append(text[begin : line.end()])
        yield found["info"].strip(), join(lines) if lines else text[end:end]
        place = close.end() if close is not None else len(text)


def _lines(text: MappedText) -> list[MappedText]:
    return [text[slice(*found.span())] for found in re.finditer(r"[^\n]*\n|[^\n]+", text.text)]


def _session(text: MappedText) -> MappedText:
    """A script, or of a session with prompts what was typed."""
    lines = _lines(text)
    if not any(_PROMPT.match(line.text) for line in lines):
        return text
    typed: list[MappedText] = []
    going_on = False
    for line in lines:
        prompt = _PROMPT.match(line.text)
        if prompt is not None or going_on:
            typed.append(line[prompt.end() :] if prompt is not None else line)
            going_on = line.text.rstrip("\n").endswith("\\")
    return join(typed)


def _python_session(text: MappedText) -> MappedText:
    lines = _lines(text)
    if not any(_PYTHON_PROMPT.match(line.text) for line in lines):
        return text
    prompts = ((line, _PYTHON_PROMPT.match(line.text)) for line in lines)
    return join([line[found.end() :] for line, found in prompts if found is not None] or [text[:0]])
