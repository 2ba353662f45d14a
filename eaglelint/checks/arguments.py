"""EGL305 (an argument that the release does not have) and EGL311 (a value that it does not accept)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import partial
from typing import NamedTuple

from eaglelint.checks import wording
from eaglelint.checks.launching import Served, finding, judge, keywords, served, speculative
from eaglelint.checks.registry import check
from eaglelint.conventions.arguments import ArgumentRange, Names
from eaglelint.facts import Argument, Launch
from eaglelint.findings import Edit, Finding
from eaglelint.pipeline import Pipeline

#: Names that only speculative decoding can mean.
_SPECULATIVE = re.compile(r"speculati|spec[-_]|eagle|draft|dflash|dspark")
#: JSON-valued arguments whose keys are listed.
_MAPPINGS = ("speculative_config",)
_ONE = {"option": "an option", "keyword": "a keyword", "key": "a key"}
_FORMS = {"flag": "a flag", "integer": "a whole number", "number": "a number"}


class _Unknown(NamedTuple):
    """Why a release does not have an argument, and what to write.

    `name` is the one argument to write in its place, `same` whether it is the same one under another name.
    """

    why: str
    cure: str = ""
    name: str = ""
    same: bool = False


@check("EGL305")
def unknown_argument(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each argument, keyword or key that the admitted releases do not have."""
    seen: set[tuple[object, str]] = set()
    for one in served(pipeline):
        if not speculative(one.launch):
            continue
        for argument in one.launch.arguments:
            if (argument.where, argument.spelling) in seen or argument.name in one.launch.patched_in:
                continue
            judged = judge(one, partial(_lacks, one, argument))
            unknown = _unknown(one, argument, judged.releases[-1]) if judged is not None else None
            if judged is None or unknown is None:
                continue
            seen.add((argument.where, argument.spelling))
            yield finding(
                "EGL305",
                judged,
                f"{{name}} does not have {argument.spelling}: {unknown.why}",
                argument.where,
                cure=unknown.cure,
                edits=_edits(one.launch, argument, unknown),
                safe=unknown.same,
                defect=f"argument {argument.spelling}",
            )


def _edits(launch: Launch, argument: Argument, unknown: _Unknown) -> tuple[Edit, ...]:
    """The argument under its other name; its value stays. () when the launch has that one as well."""
    prefix, dot, key = argument.spelling.rpartition(".")
    name = unknown.name.lstrip("-").replace("-", "_")
    if not name or launch.get(f"{prefix.lstrip('-').replace('-', '_')}{dot}{name}") is not None:
        return ()
    where = argument.where
    return (Edit(where.path, where.start, where.end, unknown.name, key),)


def _lacks(one: Served, argument: Argument, release: str) -> bool | None:
    """Whether a release surely has no such argument (True); the reasons, which take longer, are for `_unknown`."""
    known = one.arguments
    head, dot, _ = argument.name.partition(".")
    if dot:
        spans = known.spans(argument.name) if head in _MAPPINGS else ()
        return (not spans or known.has(spans, release) is False) or None
    if argument.spelling.startswith("--") and known.options:
        return len(known.matches(argument.spelling, release)) != 1 or None
    if known.keywords and not argument.spelling.startswith("-"):
        return known.has(known.keywords.get(argument.name, ()), release) is False or None
    return True


def _unknown(one: Served, argument: Argument, release: str) -> _Unknown | None:
    head, dot, key = argument.name.partition(".")
    if dot:
        known_key = head in _MAPPINGS and "." not in key and not argument.spelling.startswith("-")
        return _absent(one, key, one.arguments.keys(head), release, "key") if known_key else None
    if argument.spelling.startswith("--"):
        return _unknown_option(one, argument.spelling, release)
    if argument.spelling.startswith("-") and not one.arguments.options:
        return _gone(one, argument.spelling, release)
    if argument.spelling.startswith("-") or not keywords(one.launch) or one.launch.form != "python":
        return None
    if not one.arguments.keywords:
        return _gone(one, argument.name, release)
    return _absent(one, argument.name, one.arguments.keywords, release, "keyword")


def _unknown_option(one: Served, option: str, release: str) -> _Unknown | None:
    known = one.arguments
    if not known.options:
        return _gone(one, option, release)
    matches = known.matches(option, release)
    if len(matches) == 1:
        return None
    names = {known.argument_of(match, release) for match in matches}
    if not matches:
        return _absent(one, option, known.options, release, "option")
    if len(names) == 1:
        return None
    return _Unknown(
        f"it abbreviates {wording.listed(matches, 'or')}, which is ambiguous",
        f"write {_meant(matches)} in full",
        _meant(matches),
    )


def _meant(matches: list[str]) -> str:
    """The option that an ambiguous abbreviation most likely means: the path of the draft, else the shortest."""
    return next((match for match in matches if match.endswith("-path")), min(matches, key=len))


def _gone(one: Served, name: str, release: str) -> _Unknown | None:
    """For engines whose arguments are not all listed: an option or keyword that is listed, for other releases alone."""
    for known in one.arguments.arguments.values():
        spans = [entry.span for entry in known.ranges if name == known.name or name in entry.options]
        if spans and one.arguments.has(spans, release) is False:
            releases = one.arguments.releases_with(spans)
            instead = f"write {known.renamed_to}" if known.renamed_to else ""
            have = "have" if " " in releases else "has"
            return _Unknown(f"only {releases} {have} it", known.note or instead)
    return None


def _absent(one: Served, name: str, among: Names, release: str, what: str) -> _Unknown | None:
    """A name that a release does not have; None when it has it, may have it, or somebody else may have added it."""
    known = one.arguments
    if not among:
        return None
    spans = among.get(name, ())
    if spans and known.has(spans, release) is not False:
        return None
    if not spans and release and known.has((), release) is None:
        return None
    if spans:
        record = known.arguments.get(name.lstrip("-").replace("-", "_"))
        renamed = record.renamed_to if record is not None else ""
        nearest = renamed or known.nearest(name, {k: v for k, v in among.items() if k != name}, release)
        releases = known.releases_with(spans)
        why = f"it is {_ONE[what]} of {one.engine} {releases} only"
        if not nearest:
            return _Unknown(why)
        other = _as(name, nearest)
        return _Unknown(why, f"{'use' if renamed else 'the nearest is'} {other}", other, bool(renamed))
    nearest = known.nearest(name, among, release) or _contained(one, name, among, release)
    if not nearest and what == "option" and not _SPECULATIVE.search(name):
        return None
    if not nearest and what == "key" and not known.keys_complete:
        return None
    if what == "keyword" and not nearest:
        nearest = next((k for k in _completions(name, among) if known.has(among[k], release)), "")
    if not nearest:
        later = get_close_matches(name, list(among), n=1, cutoff=0.75)
        if later:
            words = f"{later[0]} is {_ONE[what]} of {one.engine} {known.releases_with(among[later[0]])} only"
            return _Unknown(f"no release has it, and {words}")
        return _Unknown("no release has it")
    since = among[nearest][0].since
    more = f" ({one.engine} has it since {since})" if since and since != known.read[0] else ""
    short = what == "keyword" and nearest.startswith(name)
    why = "keywords can not be abbreviated" if short else "no release has it"
    return _Unknown(f"{why}; the {what} is called {nearest}{more}", f"write {nearest}", nearest)


def _as(name: str, other: str) -> str:
    """Another argument, spelled as this one is."""
    return f"--{other.replace('_', '-')}" if name.startswith("--") and not other.startswith("--") else other


def _completions(name: str, among: Names) -> list[str]:
    return [other for other in among if other.startswith(name)]


def _contained(one: Served, name: str, among: Names, release: str) -> str:
    """A name of the release that is a part of this one: `attention_backend` of `draft_attention_backend`."""
    parts = [k for k, spans in among.items() if len(k) > 8 and k in name and one.arguments.has(spans, release)]
    return max(parts, key=len) if parts else ""


@check("EGL311")
def invalid_argument_value(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each value outside the choices or the type that the admitted releases accept."""
    seen: set[object] = set()
    for one in served(pipeline):
        if not speculative(one.launch):
            continue
        for argument in one.launch.arguments:
            if argument.where in seen or not argument.value.known or argument.value.value is None:
                continue
            judged = judge(one, partial(_invalid, one, argument))
            if judged is None:
                continue
            seen.add(argument.where)
            yield finding(
                "EGL311",
                judged,
                f"{{name}} does not accept {argument.spelling} {_shown(argument)}: {judged.fault.why}",
                argument.where,
                given=(argument,),
                cure=judged.fault.cure,
                defect=f"argument {argument.spelling}",
            )


def _shown(argument: Argument) -> str:
    return "without a value" if argument.value.value is True else str(argument.value.value)


def _invalid(one: Served, argument: Argument, release: str) -> _Unknown | None:
    name = argument.name
    known = one.arguments.arguments.get(name)
    entry = known.at(release) if known is not None else None
    if entry is None:
        return None
    value = argument.value.value
    if entry.kind in ("integer", "number"):
        if isinstance(value, (list, dict)) or (value is True and not one.launch.complete):
            return None  # words that are not known may stand between
        return _not_a_number(entry, value, argument.spelling.startswith("-"))
    if not entry.choices or not isinstance(value, str):
        return None
    return _not_a_choice(one, argument, entry, value)


def _not_a_number(entry: ArgumentRange, value: object, command_line: bool) -> _Unknown | None:
    wanted = _FORMS[entry.kind]
    if value is True:
        return _Unknown(f"it takes {wanted}")
    if isinstance(value, str) and not command_line:
        return None  # an engine may convert it; what came from a file of options is text anyway
    try:
        number = int(str(value)) if entry.kind == "integer" else float(str(value))
    except ValueError:
        return _Unknown(f"it takes {wanted}")
    if entry.least is not None and number < entry.least:
        return _Unknown(f"it must be at least {entry.least}")
    return None


def _same(value: str, choices: tuple[str, ...]) -> bool:
    return value.lower() in [choice.lower() for choice in choices]


def _not_a_choice(one: Served, argument: Argument, entry: ArgumentRange, value: str) -> _Unknown | None:
    accepted = [choice.lower() for choice in entry.choices] if entry.any_case else list(entry.choices)
    if (value.lower() if entry.any_case else value) in accepted:
        return None
    if not argument.spelling.startswith("-") and one.server.engine == "sglang" and _same(value, entry.choices):
        return None  # keywords pass by the parser, and names are compared in capitals later
    same = next((choice for choice in entry.choices if choice.lower() == value.lower()), "")
    near = get_close_matches(_plain(value), [_plain(choice) for choice in entry.choices], n=1, cutoff=0.7)
    nearest = same or (next(c for c in entry.choices if _plain(c) == near[0]) if near else "")
    spans = [e.span for e in one.arguments.arguments[argument.name].ranges if _takes(e, value)]
    if entry.plugins and not nearest and not spans:
        return None
    why = f"it takes {wording.listed(_few(entry.choices, nearest), 'or')}"
    if spans:
        why += f" ({one.engine} {one.arguments.releases_with(spans)} also {value})"
    return _Unknown(why, f"write {nearest}" if nearest else "")


def _few(choices: tuple[str, ...], nearest: str, most: int = 8) -> list[str]:
    """The choices, the nearest first where there are many."""
    if len(choices) <= most:
        return list(choices)
    first = [nearest] if nearest else []
    return [*first, *[choice for choice in choices if choice != nearest][: most - len(first)], "others"]


def _takes(entry: ArgumentRange, value: str) -> bool:
    if not entry.choices:
        return False
    return value in entry.choices or (entry.any_case and value.lower() in [c.lower() for c in entry.choices])


def _plain(value: str) -> str:
    """A value without what people write differently: case, dashes, underscores."""
    return re.sub(r"[^a-z0-9]", "", value.lower())
