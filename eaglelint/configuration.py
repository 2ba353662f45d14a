"""Finding, reading and validating the configuration: `eaglelint.toml`, or `[tool.eaglelint]` in `pyproject.toml`.

The nearest file above what is checked holds; the search ends at the root of the repository. Without one nothing is
imported: pydantic is loaded only for a configuration that exists. What is wrong raises UsageError with file and line.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from eaglelint.errors import DocumentError, UsageError
from eaglelint.location import Location, MappedText
from eaglelint.opening import read_regular
from eaglelint.settings import Settings, matches

_OWN_FILE = "eaglelint.toml"
#: The largest file that is read as configuration, in bytes.
_LARGEST = 8 << 20
_SECTION = re.compile(rb"^\s*\[+\s*tool\s*\.\s*[\"']?eaglelint", re.MULTILINE)


class _Problem(NamedTuple):
    """Something wrong in the configuration: the keys that lead to it and what it is."""

    keys: tuple[str | int, ...]
    what: str


def load(paths: Sequence[str], config: str | None = None) -> Settings:
    """The settings for a run over `paths`, from the file `config` when it is given. Raises UsageError."""
    if config is not None:
        section = _section(Path(config))
        if section is None:
            raise UsageError(f"{config}: there is no [tool.eaglelint] in this file")
        return _settings(Path(config), section)
    for folder in _folders(paths):
        for name in (_OWN_FILE, "pyproject.toml"):
            file = folder / name
            section = _section(file) if file.is_file() else None
            if section is not None:
                return _settings(file, section)
    return Settings().placed("", os.getcwd())


def _folders(paths: Sequence[str]) -> Iterator[Path]:
    """The folders that may hold the configuration, nearest first: from what is checked up to the repository's root."""
    try:
        start = Path(os.path.commonpath([os.path.abspath(path) for path in paths or ["."]]))
    except ValueError:
        start = Path.cwd()
    if not start.is_dir():
        start = start.parent
    for folder in (start, *start.parents):
        yield folder
        if (folder / ".git").exists():
            return


def _section(file: Path) -> Mapping[str, Any] | None:
    """The configuration in a file, None for a pyproject.toml without one (also when that is not even valid TOML)."""
    try:
        data = read_regular(file, _LARGEST)
    except OSError as error:
        raise UsageError(f"{_shown(file)}: can not be read: {(error.strerror or str(error)).lower()}") from error
    own = file.name != "pyproject.toml"
    if not own and b"eaglelint" not in data:
        return None
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]
    try:
        value: dict[str, Any] = tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        if own or _SECTION.search(data):
            raise UsageError(f"{_shown(file)}{_line_in(error, data)}: not valid TOML: {_reason(error)}") from error
        return None
    if own:
        return value
    tool = value.get("tool")
    section = tool.get("eaglelint") if isinstance(tool, dict) else None
    if section is not None and not isinstance(section, dict):
        raise UsageError(f"{_shown(file)}: tool.eaglelint must be a table")
    return section


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return re.sub(r" \(at (line|end).*", "", str(error))


def _line_in(error: Exception, data: bytes) -> str:
    """The line that a TOML error names, as it stands in messages."""
    line = re.search(r"at line (\d+)", str(error))
    if line:
        return f":{line[1]}"
    return f":{len(data.rstrip().splitlines())}" if "end of document" in str(error) else ""


def _shown(file: Path) -> str:
    relative = os.path.relpath(file)
    return (str(file) if relative.startswith("..") else relative).replace(os.sep, "/")


def _settings(file: Path, section: Mapping[str, Any]) -> Settings:
    """The settings that a section holds; every problem in it is named with its line."""
    from pydantic import TypeAdapter, ValidationError

    try:
        settings = TypeAdapter(Settings).validate_json(json.dumps(section, default=str), strict=True)
    except ValidationError as error:
        problems = [_translated(entry, section) for entry in error.errors(include_url=False)]
    else:
        problems = list(_mistakes(settings))
    _refuse(file, problems)
    return settings.placed(_shown(file), str(file.resolve().parent))


def check_files(settings: Settings) -> None:
    """Raise UsageError for files and folders that the configuration names and that are not there."""
    if settings.file:
        _refuse(Path(settings.folder, Path(settings.file).name), list(_missing(settings, Path(settings.folder))))


def _refuse(file: Path, problems: Sequence[_Problem]) -> None:
    """Raise UsageError when there are problems, each with its line."""
    if problems:
        places = places_in(str(file))
        prefix = () if file.name != "pyproject.toml" else ("tool", "eaglelint")
        raise UsageError("\n".join(_message(file, prefix, problem, places) for problem in problems))


def _message(file: Path, prefix: tuple[str, ...], problem: _Problem, places: Mapping[str, Location]) -> str:
    keys = (*prefix, *problem.keys)
    line = 0
    for length in range(len(keys), 0, -1):
        pointer = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys[:length])
        if pointer in places:
            line = places[pointer].line
            break
    return f"{_shown(file)}{f':{line}' if line else ''}: {problem.what}"


def places_in(file: str) -> Mapping[str, Location]:
    """Where each key (or, in a list, each value) of a TOML file stands, by JSON pointer. Empty if unreadable."""
    from eaglelint.readers.documents import read_toml

    try:
        document = read_toml(MappedText.whole(file, read_regular(file, _LARGEST).decode("utf-8-sig")))
    except (DocumentError, OSError, ValueError):
        return {}
    return {**document.spans, **document.keys}


def _named(keys: Sequence[str | int]) -> str:
    return ".".join(str(key) for key in keys if not isinstance(key, int))


def _translated(error: Any, section: Mapping[str, Any]) -> _Problem:
    """A pydantic error in the words of a configuration file."""
    keys: tuple[str | int, ...] = error["loc"]
    kind, name = error["type"], _named(error["loc"])
    if kind == "unexpected_keyword_argument":
        return _Problem(keys, f"unknown key {name!r}{_nearest(keys)}")
    if kind == "missing":
        return _Problem(keys[:-1], f"{name!r} is missing")
    value = error["input"]
    what = error["msg"].replace("Input should be", "must be")
    return _Problem(keys, f"{name!r} {what}, not {json.dumps(value, default=str)}")


def _nearest(keys: Sequence[str | int]) -> str:
    from dataclasses import fields
    from difflib import get_close_matches

    from eaglelint import settings as records

    tables = {
        "pipeline": records.PipelineSettings,
        "target": records.TargetSettings,
        "data": records.DataSettings,
        "exceptions": records.ExceptionSettings,
    }
    table = Settings if len(keys) == 1 else tables.get(str(keys[0]), Settings)
    known = [field.name.replace("_", "-") for field in fields(table) if field.init]
    near = get_close_matches(str(keys[-1]).replace("_", "-"), known, n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"


#: The most files of a project among which those that a configuration names are looked for.
_MOST_FILES = 20_000


def _missing(settings: Settings, folder: Path) -> Iterator[_Problem]:
    """Files and folders that are named and are not there: what was to be linked by them would silently not be."""
    if settings.target is not None and _is_absent(settings.target.path, folder):
        yield _Problem(("target", "path"), f"there is no {settings.target.path!r}")
    names: list[str] | None = None
    for index, pipeline in enumerate(settings.pipeline):
        if _is_absent(pipeline.drafter, folder) and not _is_hub_id(pipeline.drafter, folder):
            yield _Problem(("pipeline", index, "drafter"), f"there is no {pipeline.drafter!r}")
        for key in ("capture", "training", "launch"):
            for number, pattern in enumerate(getattr(pipeline, key)):
                names = _files(folder) if names is None else names
                if len(names) < _MOST_FILES and not any(matches((pattern,), name) for name in names):
                    what = f"no file matches {pattern!r}{_like(pattern, names)}"
                    yield _Problem(("pipeline", index, key, number), what)


def _is_absent(name: str, folder: Path) -> bool:
    """Whether a file or folder of the project is not there; absolute paths may be those of another machine."""
    return bool(name) and not os.path.isabs(name) and not (folder / name).exists()


def _is_hub_id(name: str, folder: Path) -> bool:
    """Whether a name may be that of a drafter on the Hub: `owner/name`, where no folder is called like the owner."""
    return re.fullmatch(r"[\w.-]+/[\w.-]+", name) is not None and not (folder / name.split("/")[0]).is_dir()


def _files(folder: Path) -> list[str]:
    """The files below a folder, as patterns see them; hidden folders are left out. Ends at `_MOST_FILES`."""
    found: list[str] = []
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        relative = os.path.relpath(path, folder).replace(os.sep, "/")
        found += [name if relative == "." else f"{relative}/{name}" for name in names]
        if len(found) >= _MOST_FILES:
            break
    return found[:_MOST_FILES]


def _like(pattern: str, names: Sequence[str]) -> str:
    """A hint at the file that is called most like a pattern."""
    from difflib import get_close_matches

    near = get_close_matches(pattern, [*names, *(name.rpartition("/")[2] for name in names)], n=1, cutoff=0.8)
    return f"; did you mean {near[0]!r}?" if near else ""


def _mistakes(settings: Settings) -> Iterator[_Problem]:
    """What types can not tell: names of rules, versions, patterns and pointers."""
    from eaglelint import catalog

    selectors: list[tuple[tuple[str | int, ...], str]] = [
        ((key, index), selector)
        for key, list_ in (
            ("select", settings.select),
            ("extend-select", settings.extend_select),
            ("ignore", settings.ignore),
        )
        for index, selector in enumerate(list_)
    ]
    for pattern, list_ in settings.per_file_ignores.items():
        selectors += [(("per-file-ignores", pattern, index), selector) for index, selector in enumerate(list_)]
    for keys, selector in selectors:
        yield from _tried(keys, catalog.check_selector, selector)
    for name in settings.severity:
        yield from _tried(("severity", name), catalog.resolve, name)
    for index, entry in enumerate(settings.exceptions):
        yield from _tried(("exceptions", index, "rule"), catalog.resolve, entry.rule)
        if entry.pointer and not entry.pointer.startswith("/"):
            yield _Problem(("exceptions", index, "pointer"), f"a JSON pointer begins with '/': {entry.pointer!r}")
    for engine, release in settings.engines.items():
        yield from _tried(("engines", engine), _check_engine, engine)
        yield from _tried(("engines", engine), _check_release, release)
    for index, pipeline in enumerate(settings.pipeline):
        wanted = re.sub(r"^[\w.-]*", "", pipeline.engine).strip()
        name = pipeline.engine[: len(pipeline.engine) - len(wanted)].strip()
        if name:
            yield from _tried(("pipeline", index, "engine"), _check_engine, name)
        if wanted:
            yield from _tried(("pipeline", index, "engine"), _check_release, wanted)
    if settings.target and settings.target.depth is not None and settings.target.depth < 1:
        yield _Problem(("target", "depth"), "'target.depth' must be at least 1")
    for key, patterns in (("include", settings.include), ("exclude", settings.exclude)):
        for index, pattern in enumerate(patterns):
            yield from _tried((key, index), _check_pattern, pattern)


def _tried(keys: tuple[str | int, ...], test: Any, value: str) -> Iterator[_Problem]:
    try:
        test(value)
    except UsageError as error:
        yield _Problem(keys, str(error))


def _check_engine(name: str) -> None:
    """Refuse what is nearly an engine; one that eaglelint knows nothing of may be named."""
    from difflib import get_close_matches

    from eaglelint.conventions.table import engines

    plain = name.lower().replace("_", "-")
    near = get_close_matches(plain, engines(), n=1, cutoff=0.75)
    if near and near[0] != plain:
        raise UsageError(f"unknown engine {name!r}; did you mean {near[0]!r}?")


def _check_release(release: str) -> None:
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    try:
        if release[:1].isdigit():
            Version(release)
        else:
            SpecifierSet(release)
    except ValueError:  # InvalidVersion, InvalidSpecifier, and numbers of thousands of digits
        raise UsageError(f"{release!r} is neither a version nor a range of versions") from None


def _check_pattern(pattern: str) -> None:
    from eaglelint.settings import matches

    try:
        matches([pattern], "x")
    except ValueError as error:
        raise UsageError(f"{pattern!r} is not a pattern: {error}") from None
