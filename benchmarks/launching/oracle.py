"""Launch commands as shfmt sees them: which simple commands of a shell text name an engine, and their words.

Nothing of eaglelint is used here. A word is a pattern: text that stands there is itself, what the shell would put in
the place of an expansion is anything. Text in quotes that names an engine (`bash -c '...'`, `CMD="..."`) is parsed
again.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Ends each word in the joined text that a pattern is matched against.
END = "\0"
_ONE, _MANY = f"[^{END}]*", f"[^{END}]*(?:{END}[^{END}]*)*"
_ALL = f"(?:[^{END}]*{END})*"
#: Stands in text that is parsed again for what an expansion will put there.
_HOLE = "\ue000"
_MODULES = ("sglang.launch_server", "vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server")
_PAIRS = {
    *(("vllm", "serve"), ("sglang", "serve"), ("tokenspeed", "serve"), ("ts", "serve")),
    *(("vllm.entrypoints.cli.main", "serve"), ("sglang.cli.main", "serve"), ("tokenspeed.cli", "serve")),
}
_OTHER = {"disaggregated", "disaggregated_mpi_worker", "mm_embedding_serve"}
#: Programs that only speak of commands, look for them or end them.
SPEAKERS = frozenset(
    {"pkill", "pgrep", "kill", "killall", "grep", "egrep", "rg", "echo", "printf", "ps", "which", "type", "man", "cat"}
    | {"sed", "awk", "wait", ":", "read", "test", "[", "tee", "pip", "pip3", "apt", "apt-get", "git", "curl", "wget"}
    | {"die", "log", "info", "warn", "warning", "error", "print_info"}
)


@dataclass(frozen=True)
class Expected:
    """A launch: the pattern of its words from the one that names the engine on, and how it stands in the file.

    `start` and `end` are offsets (characters) in the text; `form` is "command", "array" or "quoted" (text or elements
    that a variable or an argument holds: more words may follow where it is used) or "words" (a list in YAML or JSON).
    """

    engine: str
    pattern: str
    shown: str
    start: int
    end: int
    form: str = "command"


class Unparsable(Exception):
    """shfmt refuses the text."""


def shfmt() -> str | None:
    """The program, of this environment or of the system."""
    own = Path(sys.executable).with_name("shfmt")
    return str(own) if own.exists() else shutil.which("shfmt")


def tree(text: str) -> Any:
    """The syntax tree of a shell text; raises Unparsable."""
    program = shfmt()
    assert program is not None
    run = subprocess.run([program, "-ln", "bash", "--to-json"], input=text.encode(), capture_output=True, check=False)
    if run.returncode:
        raise Unparsable(run.stderr.decode(errors="replace").strip())
    return json.loads(run.stdout)


def launches(text: str) -> list[Expected]:
    """The launches in a shell text, in the order of their places; raises Unparsable."""
    if not re.search(r"sglang|vllm|trtllm-serve|tokenspeed|\bts\s+serve", text):
        return []
    data = text.encode()
    offsets: dict[int, int] = {}
    if len(data) != len(text):
        at = 0
        for index, char in enumerate(text):
            offsets[at] = index
            at += len(char.encode())
        offsets[at] = len(text)
    found = list(_walk(tree(text), offsets))
    return sorted(found, key=lambda launch: launch.start)


def _walk(node: Any, offsets: dict[int, int]) -> Iterator[Expected]:
    if isinstance(node, list):
        for entry in node:
            yield from _walk(entry, offsets)
    if not isinstance(node, dict):
        return
    words: list[Any] = []
    form = "command"
    if node.get("Type") == "CallExpr":
        words = node.get("Args") or []
        for assign in node.get("Assigns") or []:
            yield from _assigned(assign, offsets)
    elif node.get("Type") == "DeclClause":
        for assign in node.get("Args") or []:
            yield from _assigned(assign, offsets)
    if words:
        launch = of_words([Word.of(word) for word in words], offsets, form)
        if launch is not None:
            yield launch
        elif (first := Word.of(words[0]).literal.rsplit("/", 1)[-1]) not in SPEAKERS and first[:1] != "-":
            for word in words:
                yield from _quoted(word, offsets)
    for key, entry in node.items():
        if key not in ("Hdoc",) and not (key == "Assigns" and node.get("Type") == "CallExpr"):
            yield from _walk(entry, offsets)
    if node.get("Type") == "CallExpr":
        for assign in node.get("Assigns") or []:
            yield from _walk(assign.get("Value"), offsets)


def _assigned(assign: Any, offsets: dict[int, int]) -> Iterator[Expected]:
    """A command that an assignment holds: as the elements of an array, or as text."""
    array = assign.get("Array")
    if array:
        elements = [Word.of(entry["Value"]) for entry in array.get("Elems") or [] if entry.get("Value")]
        launch = of_words(elements, offsets, "array")
        if launch is not None:
            yield launch
    elif assign.get("Value"):
        yield from _quoted(assign["Value"], offsets)


def _quoted(word: Any, offsets: dict[int, int]) -> Iterator[Expected]:
    """The launches in a word that is one quoted text, which the shell will parse again or split."""
    parts = word.get("Parts") or []
    if len(parts) != 1 or parts[0]["Type"] not in ("SglQuoted", "DblQuoted"):
        return
    piece = Word.of(word)
    if re.search(r"\s", piece.literal) is None:
        return
    start, end = _span(word, offsets)
    try:
        inner = launches(piece.script)
    except Unparsable:
        return
    for launch in inner:
        if launch.shown.endswith("serve"):
            continue  # the name of a process, not how it is started
        yield Expected(launch.engine, launch.pattern + _ALL, launch.shown, start, end, "quoted")


@dataclass(frozen=True)
class Word:
    """One word: its pattern, its literal text (expansions left out), and as a script (expansions as variables)."""

    pattern: str
    literal: str
    script: str
    start: int
    end: int

    @classmethod
    def of(cls, word: Any) -> Word:
        """The word of a node of the tree."""
        pieces = [piece for piece in _pieces(word.get("Parts") or [], False) if piece != ("", "")]
        if len(pieces) == 1 and pieces[0][0] == _MANY:
            pattern = _ALL
        else:
            pattern = "".join(piece for piece, _ in pieces) + END
            if pattern.startswith(_MANY):  # the expansion may end in a blank or be empty
                pattern = f"(?:{pattern})"
        literal = "".join(text or "" for _, text in pieces)
        script = "".join(_HOLE if text is None else text for _, text in pieces)
        return cls(pattern, literal, script, word["Pos"]["Offset"], word["End"]["Offset"])


def _pieces(parts: list[Any], quoted: bool) -> Iterator[tuple[str, str | None]]:
    """The pieces of a word: a pattern and the text, None for what is not literal."""
    for part in parts:
        kind = part["Type"]
        if kind == "Lit":
            value = part.get("Value", "")
            text = _unescaped(value, quoted)
            brace = not quoted and re.search(r"(?<!\\)\{[^{}]*,[^{}]*\}", value) is not None
            if brace:
                yield _MANY, text
            elif text == _HOLE and not quoted:
                yield _MANY, None
            else:
                yield _escaped(text), text
        elif kind == "SglQuoted":
            value = part.get("Value", "")
            if part.get("Dollar"):
                yield (_ONE if "\\" in value else _escaped(value)), value
            else:
                yield _escaped(value), value
        elif kind == "DblQuoted":
            yield "", ""
            yield from _pieces(part.get("Parts") or [], True)
        elif quoted:
            several = kind == "ParamExp" and (
                (part.get("Param") or {}).get("Value") == "@" or _all_elements(part.get("Index"))
            )
            yield (_MANY if several else _ONE), None
        else:
            yield _MANY, None


def _escaped(text: str) -> str:
    return _ONE.join(re.escape(piece) for piece in text.split(_HOLE))


def _all_elements(index: Any) -> bool:
    return bool(index) and [p.get("Value") for p in index.get("Parts") or []] == ["@"]


def _unescaped(value: str, quoted: bool) -> str:
    value = value.replace("\\\n", "")
    return re.sub(r'\\([$`"\\])' if quoted else r"\\(.)", r"\1", value, flags=re.DOTALL)


def _span(node: Any, offsets: dict[int, int]) -> tuple[int, int]:
    start, end = node["Pos"]["Offset"], node["End"]["Offset"]
    return offsets.get(start, start), offsets.get(end, end)


def of_words(words: list[Word], offsets: dict[int, int], form: str) -> Expected | None:
    """The launch that a list of words is; None for anything else."""
    literals = [word.literal for word in words]
    if not literals or literals[0].rsplit("/", 1)[-1] in SPEAKERS:
        return None
    for index, literal in enumerate(literals):
        name = literal.rsplit("/", 1)[-1]
        after = literals[index + 1] if index + 1 < len(literals) else ""
        engine = ""
        if literal in _MODULES and index and literals[index - 1].endswith("m"):
            engine = literal.split(".")[0]
        elif (name, after) in _PAIRS:
            engine = "tokenspeed" if name == "ts" else name.split(".")[0]
        elif name == "trtllm-serve" and after not in _OTHER:
            engine = "tensorrt-llm"
        if engine and not (index and literals[index - 1] in ("install", "-f", "--image", "--name", "upgrade")):
            start, end = words[0].start, words[-1].end
            pattern = re.escape(literal) + END + "".join(word.pattern for word in words[index + 1 :])
            pattern += _ALL if form != "command" and form != "words" else ""
            return Expected(
                engine, pattern, " ".join(literals[index:]), offsets.get(start, start), offsets.get(end, end), form
            )
    return None
