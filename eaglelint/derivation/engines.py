"""The source of an engine on disk: which files of a checkout, a site-packages folder or a wheel belong to it.

Nothing is unpacked or imported: files of a wheel are read into memory, and only those that a model is made of.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eaglelint.errors import UsageError
from eaglelint.project import Source

#: The folder of target models below an engine's package, and the engine.
MODEL_FOLDERS = {"srt/models": "sglang", "model_executor/models": "vllm", "vllm/models": "vllm"}
_PACKAGES = {"sglang": re.compile(r"(?:^|/)sglang/srt/"), "vllm": re.compile(r"(?:^|/)vllm/")}
#: Folders that no model file imports anything of interest from.
_SKIPPED = frozenset(
    {"__pycache__", ".git", "node_modules", "tests", "test", "docs", "benchmarks", "benchmark", "csrc"}
)
_LARGEST = 2_000_000
_MOST_FILES = 20_000
_VERSION = re.compile(r"^(?P<name>sglang|vllm)-(?P<version>\d[^-]*?)(?:\.dist-info|-|\.zip|\.tar)", re.IGNORECASE)


@dataclass(frozen=True)
class EngineSource:
    """The Python files of one engine; `version` is "" when nothing says it."""

    engine: str
    version: str
    sources: tuple[Source, ...]

    def models(self) -> list[Source]:
        """The files in folders of target models."""
        return [s for s in self.sources if any(f"{folder}/" in s.path for folder in MODEL_FOLDERS)]


def of_project(engine: str, sources: Sequence[Source]) -> EngineSource:
    """The files of an engine among those of a project: a vendored copy, or an overlay of some files."""
    inside = re.compile(r"(?:^|/)(?:sglang/)?srt/" if engine == "sglang" else r"(?:^|/)(?:vllm|model_executor)/")
    return EngineSource(engine, "", tuple(s for s in sources if s.kind == "python" and inside.search(s.path)))


def read(path: str) -> list[EngineSource]:
    """The engines under a path (folder, .whl or .zip). Raises UsageError when there is none or it can not be read."""
    place = Path(path)
    if place.is_dir():
        files, names = _folder(place)
    elif place.is_file() and zipfile.is_zipfile(place):
        files, names = _archive(place)
    else:
        raise UsageError(f"{path}: neither a folder nor a wheel")
    found = []
    for engine, package in _PACKAGES.items():
        own = tuple(s for s in files if package.search(s.path))
        if any(any(f"{folder}/" in s.path for folder, e in MODEL_FOLDERS.items() if e == engine) for s in own):
            found.append(EngineSource(engine, _version(engine, [*names, place.name]), own))
    if not found:
        raise UsageError(
            f"{path}: no target models of SGLang (srt/models) or vLLM (model_executor/models) are in there"
        )
    return found


def _folder(place: Path) -> tuple[list[Source], list[str]]:
    """Python files below a folder, named so that the engine's package name is in their path."""
    prefix = place.as_posix().removesuffix("/")
    inside = next((p for p in ("sglang/srt", "sglang", "vllm") if f"/{prefix}".endswith(f"/{p}")), "")
    files: list[Source] = []
    names: list[str] = []
    for folder, folders, entries in os.walk(place, followlinks=False):
        names += [name for name in folders if name.endswith(".dist-info")]
        folders[:] = sorted(f for f in folders if f not in _SKIPPED and not f.startswith("."))
        for entry in sorted(entries):
            if entry.endswith(".py"):
                file = Path(folder) / entry
                files.append(Source(file.as_posix(), "python", file))
        if len(files) > _MOST_FILES:
            break
    if inside == "" and any("/srt/models/" in f.path and "sglang/srt/" not in f.path for f in files):
        files = [Source(f.path.replace("/srt/", "/sglang/srt/", 1), "python", f.file) for f in files]
    return files, names


def _archive(place: Path) -> tuple[list[Source], list[str]]:
    files: list[Source] = []
    names: list[str] = []
    try:
        with zipfile.ZipFile(place) as archive:
            for entry in archive.infolist():
                names.append(entry.filename.split("/", 1)[0])
                if entry.filename.endswith(".py") and entry.file_size <= _LARGEST and _wanted(entry.filename):
                    content = archive.read(entry)
                    files.append(Source(entry.filename, "python", place, content))
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError) as error:
        raise UsageError(f"{place}: {error}") from None
    return files, names


def _wanted(name: str) -> bool:
    return any(package.search(name) for package in _PACKAGES.values()) and not _SKIPPED & set(name.split("/"))


def _version(engine: str, names: list[str]) -> str:
    for name in names:
        found = _VERSION.match(name)
        if found and found["name"].lower() == engine:
            return found["version"]
    return ""
