"""Writes what is computed from the tables into the pages of this folder, between its marks.

    python docs/generate.py            write (make docs-data)
    python docs/generate.py --check    say which pages are not current, and end with status 1

A block stands between `<!-- begin: NAME -->` and `<!-- end: NAME -->`; NAME is one of `BLOCKS`.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from eaglelint.boundary import show_ids
from eaglelint.reference.asking import subject
from eaglelint.reference.markdown import markdown
from eaglelint.reference.matrix import USUAL, columns, matrix
from eaglelint.reference.words import key_words, listed

HERE = Path(__file__).resolve().parent
REPORTS = HERE.parent / "tests" / "reports"
#: Reports of the collection that files decide, and how many of them were to be reproduced.
DECIDABLE, WANTED = 133, 100
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BLOCK = re.compile(r"(<!-- begin: ([\w.-]+) -->\n).*?(<!-- end: \2 -->)", re.DOTALL)


def _matrix(name: str | None) -> Callable[[], Iterator[str]]:
    return lambda: markdown(matrix(subject(name, None) if name else USUAL))


def _default_ids() -> Iterator[str]:
    """What every engine would have to be given for the boundaries that all trainers take by default."""
    wanted = (2, 16, 29)
    yield "| engine | default boundaries | ids for 2, 16, 29 | read from |"
    yield "|---|---|---|---|"
    for column in columns(USUAL):
        reading = column.reading
        default = reading.defaults(32) if reading.status == "ok" else None
        places = [*reading.arguments, *(f"`{key_words(key)}`" for key in reading.keys)]
        ids = reading.ids_for(wanted, 32, reading.keys[0] if reading.keys else "") if places else None
        cells = (
            column.name + (f" ({reading.certainty})" if reading.certainty in ("reported", "suspected") else ""),
            ", ".join(map(str, default)) if default is not None else "–",
            show_ids(ids) if ids is not None else "–",
            listed(places, "else") or "nowhere",
        )
        yield f"| {' | '.join(cells)} |"


def _link(reference: str) -> str:
    """A link to `owner/repository#number`, `owner/repository@commit` or an address."""
    if reference.startswith("https://"):
        return f"[{reference.removeprefix('https://')}]({reference})"
    if "#" in reference:
        repository, number = reference.split("#")
        return f"[{reference}](https://github.com/{repository}/issues/{number})"
    repository, commit = reference.split("@")
    return f"[{reference}](https://github.com/{repository}/commit/{commit})"


def _reported() -> list[tuple[str, Any]]:
    files = sorted((REPORTS / "data").glob("*.yaml"))
    return [(file.name, yaml.load(file.read_text(encoding="utf-8"), _LOADER)) for file in files]


def _not_reproduced() -> list[Any]:
    return yaml.load((REPORTS / "not-reproduced.yaml").read_text(encoding="utf-8"), _LOADER) or []


def _coverage_count() -> Iterator[str]:
    """How many reports are reproduced."""
    grades = Counter(content.get("grade", "S") for _, content in _reported())
    rules = {each["rule"] for _, content in _reported() for each in content["expect"]}
    yield (
        f"**{grades['S']} of {DECIDABLE}** reports that files decide are reproduced (wanted: {WANTED}), "
        f"by {len(rules)} rules; {grades['P']} more of those that files decide in part."
    )


def _coverage() -> Iterator[str]:
    """The reports that are reproduced."""
    yield "| report | date | what went wrong | rule | test |"
    yield "|---|---|---|---|---|"
    for name, content in _reported():
        references = ", ".join(map(_link, (content["report"], *content.get("also", ()))))
        rules = ", ".join(dict.fromkeys(each["rule"] for each in content["expect"]))
        part = " (in part)" if content.get("grade") == "P" else ""
        link = f"[{name.removesuffix('.yaml')}](../tests/reports/data/{name})"
        yield f"| {references} | {content['date']} | {content['summary'].strip()}{part} | {rules} | {link} |"


def _coverage_left() -> Iterator[str]:
    """The reports that files decide and that are not reproduced."""
    yield "| report | date | what went wrong | why not |"
    yield "|---|---|---|---|"
    for entry in sorted(_not_reproduced(), key=lambda entry: str(entry["date"]), reverse=True):
        references = ", ".join(map(_link, (entry["report"], *entry.get("also", ()))))
        yield f"| {references} | {entry['date']} | {entry['summary'].strip()} | {entry['reason'].strip()} |"


BLOCKS: dict[str, Callable[[], Iterator[str]]] = {
    "matrix": _matrix(None),
    "matrix-kimi-k2.5": _matrix("moonshotai/Kimi-K2.5"),
    "matrix-gpt-oss-120b": _matrix("openai/gpt-oss-120b"),
    "default-ids": _default_ids,
    "coverage-count": _coverage_count,
    "coverage": _coverage,
    "coverage-left": _coverage_left,
}


def filled(text: str) -> str:
    """A page with its blocks as they have to be."""
    return _BLOCK.sub(lambda m: f"{m[1]}\n" + "\n".join(BLOCKS[m[2]]()) + f"\n\n{m[3]}", text)


def main() -> int:
    stale = []
    for page in sorted(HERE.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        new = filled(text)
        if new != text:
            stale.append(page.name)
            if "--check" not in sys.argv:
                page.write_text(new, encoding="utf-8")
    for name in stale:
        print(f"docs/{name}: {'not current, run make docs-data' if '--check' in sys.argv else 'written'}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
