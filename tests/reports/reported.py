"""Public reports as small projects: `data/NNN-slug.yaml`, one file a report.

    report: vllm-project/vllm#50170      owner/repository#number, or @commit
    also: [vllm-project/vllm#50171]      other threads on the same thing
    date: 2026-07-28
    summary: What went wrong, in one line.
    files:                               what the reporter had, by path
      head/config.json: |
        {...}
    checkpoints:                         files of weights: name -> type, shape and, for few numbers, the numbers
      head/model.safetensors: {fc.weight: "BF16 [4096, 12288]", d2t: "I64 [4] = 0 0 1 3"}
    ggufs:                               the same for GGUF
      draft.gguf: {metadata: {general.architecture: eagle3}, tensors: {fc.weight: [64, 192]}}
    expect:                              all that is reported above info, and the infos that matter
      - {rule: EGL202, file: head/config.json, at: "architectures", severity: warning, mentions: ["2, 40, 77"]}
    repaired:                            what changes so that nothing is reported
      files: {...}
      checkpoints: {...}
      ggufs: {...}
      remove: [path]

The place of a finding is `line: 3`, or `at: text` for the first line that holds the text. A tensor without numbers
takes no room on the disk, whatever its size.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import tensor_files
import yaml

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Expected:
    """A finding that a report's files must lead to."""

    rule: str
    file: str
    line: int = 1
    at: str = ""
    severity: str = ""
    mentions: Sequence[str] = ()

    def line_in(self, files: Mapping[str, str]) -> int:
        """The line, counted from 1; a text that the file does not hold is a mistake in the data."""
        if not self.at:
            return self.line
        return next(n for n, line in enumerate(files[self.file].splitlines(), 1) if self.at in line)


@dataclass(frozen=True)
class Tree:
    """The files of a project."""

    files: Mapping[str, str] = field(default_factory=dict)
    checkpoints: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    ggufs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    remove: Sequence[str] = ()

    def over(self, other: Tree) -> Tree:
        """The other project with the files of this one in place of its own."""
        return Tree(
            {path: text for path, text in {**other.files, **self.files}.items() if path not in self.remove},
            {path: text for path, text in {**other.checkpoints, **self.checkpoints}.items() if path not in self.remove},
            {path: text for path, text in {**other.ggufs, **self.ggufs}.items() if path not in self.remove},
        )

    def write(self, folder: Path) -> None:
        """Writes the files into a folder."""
        for path in (*self.files, *self.checkpoints, *self.ggufs):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
        for path, text in self.files.items():
            (folder / path).write_text(text, encoding="utf-8")
        for path, tensors in self.checkpoints.items():
            write_tensors(folder / path, tensors)
        for path, content in self.ggufs.items():
            (folder / path).write_bytes(tensor_files.gguf(content["metadata"], content.get("tensors", {})))


@dataclass(frozen=True)
class Report:
    """A public report and its reconstruction."""

    report: str
    date: str
    summary: str
    expect: tuple[Expected, ...]
    wrong: Tree
    repaired: Tree
    name: str
    also: Sequence[str] = ()
    grade: str = "S"
    """S: decidable from the files; P: in part."""


_TREE = {"files", "checkpoints", "ggufs"}


def read(file: Path) -> Report:
    """A report's file; a key that is not known is an error."""
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    trees = {key: content.pop(key) for key in _TREE if key in content}
    repaired = Tree(**content.pop("repaired"))
    expect = tuple(Expected(**each) for each in content.pop("expect"))
    content["date"] = str(content["date"])
    wrong = Tree(**trees)
    return Report(**content, expect=expect, wrong=wrong, repaired=repaired.over(wrong), name=file.stem)


@cache
def reports() -> tuple[Report, ...]:
    """All reports, in the order of their files."""
    return tuple(read(file) for file in sorted((HERE / "data").glob("*.yaml")))


def not_reproduced() -> Iterator[Mapping[str, str]]:
    """The reports that are not: `report`, `date`, `summary`, `reason`."""
    yield from yaml.safe_load((HERE / "not-reproduced.yaml").read_text(encoding="utf-8")) or ()


def write_tensors(file: Path, tensors: Mapping[str, str]) -> None:
    """A file of weights. Where no tensor of a safetensors file has numbers, its body is a hole."""
    if file.suffix != ".safetensors" or any("=" in text for text in tensors.values()):
        file.write_bytes(tensor_files.described(file.name, tensors))
        return
    header: dict[str, Any] = {}
    end = 0
    for name, text in tensors.items():
        dtype, _, shape = text.partition(" ")
        sizes = json.loads(shape)
        start, end = end, end + tensor_files.TYPES[dtype][0] * tensor_files.count(sizes)
        header[name] = {"dtype": dtype, "shape": sizes, "data_offsets": [start, end]}
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with file.open("wb") as out:
        out.write(struct.pack("<Q", len(head)) + head)
        out.truncate(8 + len(head) + end)
