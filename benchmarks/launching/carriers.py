"""The shell texts and command lists in scripts, Dockerfiles and YAML files, found without eaglelint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from launching.oracle import Expected, Word, launches, of_words

#: Keys whose texts are commands: workflows, compose, Kubernetes, Buildkite, GitLab, SkyPilot.
KEYS = {"run", "script", "before_script", "commands", "command", "args", "entrypoint", "setup"}
_INSTRUCTION = re.compile(r"(?mi)^[ \t]*(RUN|CMD|ENTRYPOINT)[ \t]+")


@dataclass(frozen=True)
class Text:
    """A text that a shell runs, or the words of an exec form.

    `start` and `end` are its offsets in the file, `exact` says that its characters stand there one by one.
    """

    text: str
    start: int
    end: int
    line: int
    exact: bool = False
    words: tuple[str, ...] = field(default=())
    whole: bool = True

    def launches(self) -> list[Expected]:
        """What it starts; raises Unparsable."""
        if not self.words:
            return launches(self.text)
        words = [Word(re.escape(word) + "\0", word, word, 0, 0) for word in self.words]
        found = of_words(words, {}, "words")
        if found is not None:
            return [found]
        shell = len(self.words) > 2 and self.words[0].endswith("sh") and "c" in self.words[1]
        return launches(self.words[-1]) if shell and self.whole else []

    def place(self, launch: Expected) -> tuple[int, int]:
        """Where a launch stands in the file."""
        return (self.start + launch.start, self.start + launch.end) if self.exact else (self.start, self.end)

    def line_of(self, launch: Expected) -> int:
        """The line of a launch, or of the text when its lines are folded."""
        return self.line + self.text.count("\n", 0, launch.start) if self.exact else self.line


def texts(path: str, kind: str, content: str) -> Iterator[Text]:
    """The texts of a file; raises ValueError when it is no file of its kind."""
    if kind == "shell":
        yield Text(content, 0, len(content), 1, exact="\r" not in content)
    elif kind == "dockerfile":
        yield from _dockerfile(content)
    else:
        yield from _yaml(content)


def _dockerfile(content: str) -> Iterator[Text]:
    """The instructions of a Dockerfile, lines joined."""
    for found in _INSTRUCTION.finditer(content):
        end = found.end()
        lines = []
        while end < len(content):
            stop = content.find("\n", end)
            stop = len(content) if stop < 0 else stop
            line = content[end:stop]
            end = stop + 1
            if line.lstrip().startswith("#") or (lines and not line.strip()):
                continue
            lines.append(line)
            if not line.rstrip().endswith("\\"):
                break
        text = "\n".join(lines)
        heredoc = re.search(r"<<-?['\"]?(\w+)", text) if found[1].upper() == "RUN" else None
        if heredoc is not None and (close := re.compile(rf"(?m)^\t*{heredoc[1]}$").search(content, end)):
            body = content[end : close.start()]
            bare = re.fullmatch(r"<<-?['\"]?\w+['\"]?", text.strip()) is not None
            text = body if bare else f"{text}\n{body}{close[0]}\n"
            end = close.end()
        text = re.sub(r"\A(?:\s*--\w+=\S+\s*(?:\\\n)?)+", " ", text) if found[1].upper() == "RUN" else text
        words: tuple[str, ...] = ()
        if text.lstrip().startswith("["):
            try:
                words = tuple(json.loads(text.replace("\\\n", "\n")))
            except ValueError:
                words = ()
        yield Text(text, found.start(), end, content.count("\n", 0, found.start()) + 1, words=words)


def _yaml(content: str) -> Iterator[Text]:
    if re.search(r"(?m)^\s*(?:\{\{|\{%)", content):
        raise ValueError("a template")
    try:
        roots = list(yaml.compose_all(content, yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    for root in roots:
        if root is not None:
            compose = isinstance(root, yaml.MappingNode) and any(key.value == "services" for key, _ in root.value)
            yield from _nodes(root, compose, "", set())


def _nodes(node: yaml.Node, compose: bool, key: str, seen: set[int]) -> Iterator[Text]:
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        for name, entry in node.value:
            yield from _nodes(entry, compose, str(name.value), seen)
        own = {str(name.value): entry for name, entry in node.value}
        lists = [own.get(name) for name in (("entrypoint", "command") if compose else ("command", "args"))]
        if "image" in own and any(isinstance(entry, yaml.SequenceNode) for entry in lists):
            yield from _exec([entry for entry in lists if entry is not None], compose)
    elif isinstance(node, yaml.SequenceNode):
        for entry in node.value:
            yield from _nodes(entry, compose, key, seen)
    elif isinstance(node, yaml.ScalarNode) and key in KEYS and node.tag.endswith(":str"):
        yield Text(_resolved(node.value, compose), *_places(node))


def _exec(entries: list[yaml.Node], compose: bool) -> Iterator[Text]:
    words: list[str] = []
    for entry in entries:
        if isinstance(entry, yaml.SequenceNode):
            words += [_resolved(item.value, compose) for item in entry.value if isinstance(item, yaml.ScalarNode)]
        elif isinstance(entry, yaml.ScalarNode):
            words += _resolved(entry.value, compose).split()
    start, _, line = _places(entries[0])
    if words and not any("$" in word for word in words):
        yield Text(" ".join(words), start, _places(entries[-1])[1], line, words=tuple(words), whole=False)


def _resolved(text: str, compose: bool) -> str:
    text = re.sub(r"\$\{\{.*?\}\}", "${_EXPRESSION}", text, flags=re.DOTALL)
    return text.replace("$$", "$") if compose else text


def _places(node: yaml.Node) -> tuple[int, int, int]:
    return node.start_mark.index, node.end_mark.index, node.start_mark.line + 1
