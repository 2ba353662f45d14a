"""Releases from the manifests and lock files of projects: pyproject.toml, Pipfile, pixi, conda, poetry, uv, pdm."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from posixpath import basename
from typing import Any

from eaglelint.facts import Document, EnginePin
from eaglelint.location import Location
from eaglelint.project import Source
from eaglelint.readers.documents import documents
from eaglelint.readers.packages import package_of
from eaglelint.readers.places import pointer_part
from eaglelint.readers.releases import git_pin, requirement_pin, versions_pin

_LOCK_FILES = ("uv.lock", "poetry.lock", "pdm.lock")
_LOCKED = re.compile(r"^\[\[package\]\][ \t]*$", re.MULTILINE)
_FIELD = re.compile(
    r'^(name|version|source|git|ref|revision|path|type|resolved_reference)[ \t]*=[ \t]*(".*"|\{.*)', re.MULTILINE
)
_CARET = re.compile(r"(\^|~)\s*v?(\d+(?:\.\d+)*)((?:[.-]?(?:post|rc|a|b|dev)\d*)*)")


def toml_pins(source: Source) -> Iterator[EnginePin]:
    """The pins of a pyproject.toml, Pipfile, pixi.toml or lock file; of other TOML files none."""
    name = basename(source.path).lower()
    if name in _LOCK_FILES:
        yield from _lock_pins(source)
    elif name in ("pyproject.toml", "pipfile", "pixi.toml"):
        for document in documents(source):
            yield from _of_manifest(document, name)


def pipfile_lock_pins(source: Source) -> Iterator[EnginePin]:
    """The pins of a Pipfile.lock."""
    for document in documents(source):
        for group in ("default", "develop"):
            for key, entry in _mapping(document.get(f"/{group}")).items():
                pointer = f"/{group}/{pointer_part(key)}"
                yield from _table_entry(document, pointer, key, entry, "lock")


def conda_pins(document: Document) -> Iterator[EnginePin]:
    """The pins of a conda environment: `vllm=0.11.0` and the list under `pip:`."""
    entries = document.get("/dependencies")
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        pointer = f"/dependencies/{index}"
        if isinstance(entry, str):
            name, _, versions = re.sub(r"\s*(?=[=<>!~])", " ", entry.rpartition("::")[2], count=1).partition(" ")
            package = package_of(name)
            if package is not None:
                yield versions_pin(package, _conda_versions(versions), document.spans[pointer], "conda")
        elif isinstance(entry, dict):
            yield from requirement_list(document, f"{pointer}/pip", "conda")


def requirement_list(document: Document, pointer: str, source: str, unit: str = "") -> Iterator[EnginePin]:
    """The pins of a list of requirements at a pointer of a document."""
    entries = document.get(pointer)
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, str):
            place = f"{pointer}/{index}"
            pin = requirement_pin(entry, document.spans.get(place, document.where(pointer)), source, unit)
            if pin is not None:
                yield pin


def _of_manifest(document: Document, name: str) -> Iterator[EnginePin]:
    sources = {**_mapping(document.get("/tool/uv/sources"))}
    lists = ["/project/dependencies", "/tool/uv/dev-dependencies"]
    lists += ["/tool/uv/override-dependencies", "/tool/uv/constraint-dependencies"]
    for groups in ("/project/optional-dependencies", "/dependency-groups", "/tool/pdm/dev-dependencies"):
        lists += [f"{groups}/{pointer_part(group)}" for group in _mapping(document.get(groups))]
    for environment in _mapping(document.get("/tool/hatch/envs")):
        below = f"/tool/hatch/envs/{pointer_part(environment)}"
        lists += [f"{below}/dependencies", f"{below}/extra-dependencies"]
    for pointer in lists:
        kind = "constraints" if pointer.endswith("constraint-dependencies") else "project"
        for pin in requirement_list(document, pointer, kind):
            yield _from_source(document, pin, sources)
    for pointer in _tables(document, name):
        for key, entry in _mapping(document.get(pointer)).items():
            yield from _table_entry(document, f"{pointer}/{pointer_part(key)}", key, entry, "project")


def _tables(document: Document, name: str) -> list[str]:
    """The tables of a manifest in which a key is a package and its value says which versions."""
    if name == "pipfile":
        return ["/packages", "/dev-packages"]
    root = "" if name == "pixi.toml" else "/tool/pixi"
    tables = [f"{root}/dependencies", f"{root}/pypi-dependencies"]
    for feature in _mapping(document.get(f"{root}/feature")):
        tables += [f"{root}/feature/{pointer_part(feature)}/{kind}" for kind in ("dependencies", "pypi-dependencies")]
    poetry = "/tool/poetry"
    tables += [f"{poetry}/dependencies", f"{poetry}/dev-dependencies"]
    tables += [f"{poetry}/group/{pointer_part(g)}/dependencies" for g in _mapping(document.get(f"{poetry}/group"))]
    return tables


def _table_entry(document: Document, pointer: str, key: str, entry: Any, source: str) -> Iterator[EnginePin]:
    """The pin of `vllm = "^0.11"` or `sglang = {version = "0.5.9", extras = ["all"]}`; a list of such counts each."""
    package = package_of(key)
    if package is None:
        return
    where = document.where(pointer)
    if isinstance(entry, str):
        yield _poetry_pin(package, entry, document.spans.get(pointer, where), source)
    elif isinstance(entry, list):
        for index, one in enumerate(entry):
            yield from _table_entry(document, f"{pointer}/{index}", key, one, source)
    elif isinstance(entry, dict):
        yield _of_table(package, entry, where, source) or _poetry_pin(
            package, str(entry.get("version", "*")), document.spans.get(f"{pointer}/version", where), source
        )


def _of_table(package: str, entry: dict[str, Any], where: Location, source: str) -> EnginePin | None:
    """The pin of a source that is no index; None when the version decides."""
    if isinstance(entry.get("git"), str):
        ref = next((entry[key] for key in ("tag", "rev", "ref", "branch") if isinstance(entry.get(key), str)), "")
        return git_pin(package, ref, where, source)
    for key in ("path", "file", "url", "workspace"):
        if entry.get(key):
            unknown = f"it is installed from {'a folder' if key in ('path', 'workspace') else 'an address'}"
            return EnginePin(package, "", "", where, source, unknown=unknown)
    return None


def _from_source(document: Document, pin: EnginePin, sources: dict[str, Any]) -> EnginePin:
    """A pin as `[tool.uv.sources]` redirects it: to a repository, a folder or an address instead of an index."""
    for key, entry in sources.items():
        if package_of(key) == pin.package:
            redirected = entry[0] if isinstance(entry, list) and len(entry) == 1 else entry
            if isinstance(redirected, dict):
                where = document.where(f"/tool/uv/sources/{pointer_part(key)}")
                return _of_table(pin.package, redirected, where, pin.source) or pin
    return pin


def _poetry_pin(package: str, text: str, where: Location, source: str) -> EnginePin:
    """A pin in the notation of poetry, Pipfile and pixi: `^0.5.9`, `~0.5`, `0.5.*`, `*`, or PEP 440."""
    parts: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        short = _CARET.fullmatch(part)
        if part in ("*", ""):
            continue
        if short is not None:
            parts += [f">={short[2]}{short[3]}", f"<{_next(short[2], short[1])}"]
        elif part[0].isdigit() and part.endswith("*"):
            parts.append(f"=={part}")
        else:
            parts.append(part)
    return versions_pin(package, ",".join(parts), where, source)


def _next(version: str, sign: str) -> str:
    """The first version that `^version` or `~version` does not admit."""
    numbers = [int(number) for number in version.split(".")]
    if sign == "~":
        place = min(1, len(numbers) - 1)
    else:
        place = next((index for index, number in enumerate(numbers) if number), len(numbers) - 1)
    return ".".join(str(number) for number in [*numbers[:place], numbers[place] + 1])


def _conda_versions(text: str) -> str:
    """Conda's notation as PEP 440: `=0.11` is any 0.11, a build string after it does not matter."""
    text = text.strip()
    fuzzy = re.fullmatch(r"=\s*([\w.!+]+?)(?:\.\*)?(=\S+|\s+\S+)?", text)
    if fuzzy is not None:
        return f"=={fuzzy[1]}" if fuzzy[2] else f"=={fuzzy[1]}.*"
    exact = re.fullmatch(r"==\s*([\w.!+]+)(?:=\S+)?", text)
    return f"=={exact[1]}" if exact else text


def _lock_pins(source: Source) -> Iterator[EnginePin]:
    """The pins of a lock file. Tools write these; their regular form is read without building the whole document."""
    text = source.text
    starts = [found.end() for found in _LOCKED.finditer(text.text)]
    for start, end in pairwise([*starts, len(text)]):
        fields: dict[str, re.Match[str]] = {}
        for found in _FIELD.finditer(text.text, start, end):
            fields.setdefault(found[1], found)
        package = package_of(_string(fields, "name"))
        if package is None:
            continue
        where = text.location(*fields["version" if "version" in fields else "name"].span())
        origin = fields["source"][2] if "source" in fields else ""
        git = re.search(r'\bgit = "([^"]*)"', origin)
        if git is not None:  # uv
            address, _, commit = git[1].partition("#")
            tag = re.search(r"[?&](?:tag|rev)=([^&]*)", address)
            yield git_pin(package, tag[1] if tag else commit, where, "lock")
        elif "git" in fields or _string(fields, "type") == "git":  # pdm, poetry
            ref = next((_string(fields, key) for key in ("ref", "revision", "resolved_reference") if key in fields), "")
            yield git_pin(package, ref, where, "lock")
        elif re.search(r"\b(?:editable|virtual|directory|path) =", origin) or "path" in fields:
            yield EnginePin(package, "", "", where, "lock", unknown="it is installed from a folder")
        else:
            yield versions_pin(package, _string(fields, "version"), where, "lock")


def _string(fields: dict[str, re.Match[str]], key: str) -> str:
    return fields[key][2].strip().strip('"') if key in fields else ""


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
