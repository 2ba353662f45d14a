"""The catalogue of rules: one YAML file a rule in `rules/catalog/`, named `EGL401-aux-layers-mismatch.yaml`.

The records below are the model of such a file (validated by pydantic in the tests; `schemas/rule.schema.json` is
generated from them). A run needs little of it: codes and slugs come from the file names, and of a rule that fires only
the head of its file is parsed, which is everything before `examples`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from eaglelint._resources import data_root
from eaglelint.errors import UsageError
from eaglelint.findings import Severity

_STRICT: dict[str, Any] = {"extra": "forbid", "use_attribute_docstrings": True}

_FILE_NAME = re.compile(r"(EGL\d{3})-([a-z0-9-]+)\.yaml")


class CatalogError(Exception):
    """A file of the catalogue is not what it must be; raised for a rule without both examples, for instance."""


@dataclass(frozen=True)
class Expectation:
    """A finding that must be reported for an example."""

    __pydantic_config__ = _STRICT

    rule: str
    """Code of the rule."""
    file: str
    """File of the primary location."""
    line: int
    """Line of the primary location, from 1."""
    severity: Severity | None = None
    """Its severity; without one, any."""
    mentions: tuple[str, ...] = ()
    """What the message or the fix must hold."""


@dataclass(frozen=True)
class WrongExample:
    """A small project in which the rule speaks; nothing else above info may be reported."""

    __pydantic_config__ = _STRICT

    files: Mapping[str, str]
    """The text of each file, by path."""
    expect: tuple[Expectation, ...]
    """What must be reported."""
    about: str = ""
    """What the person did."""
    checkpoints: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The tensors of each file of weights, by path and name: type and shape, and small numbers after `=`."""
    crash: str = ""
    """Code of a rule that the test makes fail, for the rule on internal errors."""


@dataclass(frozen=True)
class RightExample:
    """A small project for which nothing above info is reported."""

    __pydantic_config__ = _STRICT

    files: Mapping[str, str]
    """The text of each file, by path."""
    about: str = ""
    """What the person did."""
    checkpoints: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The tensors of each file of weights, by path and name: type and shape, and small numbers after `=`."""


@dataclass(frozen=True)
class Examples:
    """What is wrong and what is right; both are needed. They are the documentation and the tests of the rule."""

    __pydantic_config__ = _STRICT

    wrong: tuple[WrongExample, ...]
    """Projects in which the rule speaks."""
    right: tuple[RightExample, ...]
    """The same, done right."""


@dataclass(frozen=True)
class Rule:
    """One rule of the catalogue."""

    __pydantic_config__ = _STRICT

    code: str
    """Code, such as EGL401. It never changes its meaning and is never reused."""
    slug: str
    """Readable name of what is wrong; accepted wherever a code is."""
    severity: Severity
    """Severity of a proven finding; what rests on an assumption is reported lower."""
    since: str
    """Release of eaglelint that first had the rule."""
    summary: str
    """What it reports, in one sentence."""
    why: str
    """Why it matters."""
    fix: str
    """How to fix it."""
    examples: Examples
    """What is wrong and what is right."""
    status: Literal["preview", "stable", "deprecated"] = "stable"
    """Whether the rule may still change."""
    enabled: bool = True
    """False when it is only reported where it is selected by name."""
    silences: tuple[str, ...] = ()
    """Codes of rules that say nothing about a defect of which this rule speaks."""
    references: tuple[str, ...] = field(default=())
    """Where to read more."""


def folder() -> Path:
    """Where the files of the catalogue lie."""
    return data_root("rules") / "catalog"


@cache
def names() -> Mapping[str, str]:
    """The slug of each code, in the order of the codes. Reads no file."""
    found = (_FILE_NAME.fullmatch(path.name) for path in folder().iterdir())
    return dict(sorted((match[1], match[2]) for match in found if match))


def slug(code: str) -> str:
    """The slug of a code; the code itself for a code that is not in the catalogue."""
    return names().get(code, code)


def _text(code: str) -> str:
    return (folder() / f"{code}-{names()[code]}.yaml").read_text(encoding="utf-8")


def _parse(text: str, code: str) -> dict[str, Any]:
    import yaml

    value = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    if not isinstance(value, dict):
        raise CatalogError(f"{code}: the file does not hold a mapping")
    return value


@cache
def head(code: str) -> Mapping[str, Any]:
    """The file of a rule up to its examples, as it stands; empty for a code that is not in the catalogue."""
    if code not in names():
        return {}
    start, found, examples = _text(code).partition("\nexamples:")
    if not found or "\n  wrong:" not in examples or "\n  right:" not in examples:
        raise CatalogError(f"{code}: a rule without a wrong and a right example does not load")
    return _parse(start, code)


def silences(code: str) -> Sequence[str]:
    """The codes that say nothing about a defect of which this rule speaks."""
    return tuple(head(code).get("silences", ()))


def enabled(code: str) -> bool:
    """Whether a rule is reported without being selected by name."""
    return bool(head(code).get("enabled", True))


@cache
def load(code: str) -> Rule:
    """A rule with its examples. Raises KeyError for an unknown code and CatalogError for a file that is not whole."""
    data = _parse(_text(code), code)
    examples = data.get("examples")
    if not isinstance(examples, dict) or not examples.get("wrong") or not examples.get("right"):
        raise CatalogError(f"{code}: a rule without a wrong and a right example does not load")
    try:
        wrong = tuple(
            WrongExample(
                files=entry["files"],
                expect=tuple(Expectation(**{**want, "mentions": _texts(want, "mentions")}) for want in entry["expect"]),
                about=entry.get("about", ""),
                checkpoints=entry.get("checkpoints", {}),
                crash=entry.get("crash", ""),
            )
            for entry in examples["wrong"]
        )
        right = tuple(RightExample(**entry) for entry in examples["right"])
        lists = {key: _texts(data, key) for key in ("silences", "references")}
        return Rule(**{**data, **lists, "examples": Examples(wrong, right)})
    except (KeyError, TypeError, AttributeError) as error:
        raise CatalogError(f"{code}: {error}") from error


def _texts(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(str(entry) for entry in data.get(key) or ())


def find(name: str) -> str | None:
    """The code for a code or slug in any case; None when there is none."""
    wanted = name.strip().lower()
    return next((code for code, text in names().items() if wanted in (code.lower(), text)), None)


def unknown(name: str) -> str:
    """What to say about a name that no rule has, with the nearest name."""
    return f"unknown rule {name!r}{_nearest(name)}"


def resolve(name: str) -> str:
    """The code for a code or slug. Raises UsageError, with the nearest name, when there is none."""
    code = find(name)
    if code is None:
        raise UsageError(unknown(name))
    return code


def check_selector(selector: str) -> None:
    """Raise UsageError unless a selector (code, prefix of codes or slug) names at least one rule."""
    if find(selector) is None and not _is_prefix(selector):
        raise UsageError(unknown(selector))


def _is_prefix(selector: str) -> bool:
    wanted = selector.strip().upper()
    return wanted.startswith("EGL") and any(code.startswith(wanted) for code in names())


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    wanted = name.strip().lower()
    if re.fullmatch(r"egl\d+", wanted) and names():
        code = min(names(), key=lambda code: _digits_apart(wanted, code.lower()))
    else:
        codes = {text: code for code, text in names().items()}
        near = get_close_matches(wanted, codes, n=1, cutoff=0.5)
        if not near:
            return "; `eaglelint rules` lists them"
        code = codes[near[0]]
    return f"; did you mean {code} ({slug(code)})?"


def _digits_apart(one: str, other: str) -> tuple[int, int]:
    """How far two codes are apart: in digits, then as numbers."""
    digits = sum(a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))
    return digits, abs(int(one[3:]) - int(other[3:]))


def strength(selectors: Iterable[str], code: str) -> int:
    """How closely the closest of some selectors names a rule: the length of the prefix, -1 when none does."""
    best = -1
    for selector in selectors:
        wanted = selector.strip()
        if find(wanted) == code:
            return len(code)
        if wanted.upper().startswith("EGL") and code.startswith(wanted.upper()):
            best = max(best, len(wanted))
    return best
