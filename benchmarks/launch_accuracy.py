"""How right the readers of launch files are: the commands that name an engine, and their words, against shfmt.

    python benchmarks/launch_accuracy.py --tree DIR...

Every shell script, Dockerfile, compose file, workflow and other YAML file of the trees (checkouts that you have;
nothing is downloaded and nothing is run) is read by eaglelint and must not crash it. Commands that start SGLang, vLLM,
TensorRT-LLM or TokenSpeed are looked for by shfmt as well (`pip install shfmt-py`), in scripts, in instructions of
Dockerfiles and in the scalars of YAML under the keys that hold commands. A command counts as equal when eaglelint reads
a launch there whose words are, from the one that names the engine on, those that shfmt sees: text must be the same, an
expansion may stand for anything. The exit status is 1 when a reader crashes or fewer than 99.5 % are equal.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from launching import oracle  # noqa: E402
from launching.carriers import Text, texts  # noqa: E402
from launching.reading import Read, read  # noqa: E402

from eaglelint.errors import DocumentError, UnreadableError  # noqa: E402
from eaglelint.kinds import kind_of  # noqa: E402
from eaglelint.project import Source  # noqa: E402

ENOUGH = 0.995
KINDS = ("shell", "dockerfile", "yaml")


@dataclass
class Tally:
    """What was found in one tree."""

    files: Counter[str] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)
    equal: int = 0
    launches: int = 0
    differing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    seconds: float = 0.0


def main() -> int:
    """Count and print; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", nargs="+", required=True, type=Path, metavar="DIR", help="checkouts to read")
    parser.add_argument("--show", action="store_true", help="also the launches that only eaglelint sees")
    options = parser.parse_args()
    if oracle.shfmt() is None:
        parser.error("shfmt is not installed: pip install shfmt-py")
    tallies = {tree.resolve().name: count(tree) for tree in options.tree}
    print(table(tallies))
    for name, tally in tallies.items():
        for what in ("crashes", "differing", "refused", *(["extra"] if options.show else [])):
            for line in getattr(tally, what):
                print(f"{name}: {what}: {line}")
    launches = sum(tally.launches for tally in tallies.values())
    equal = sum(tally.equal for tally in tallies.values())
    crashed = any(tally.crashes for tally in tallies.values())
    return int(crashed or not launches or equal < ENOUGH * launches)


def table(tallies: dict[str, Tally]) -> str:
    """The figures as a table of Markdown."""
    rows = ["| tree | files | launches | equal | only eaglelint | refused by shfmt | crashes |", "|---" * 7 + "|"]
    for name, tally in tallies.items():
        files = ", ".join(f"{tally.files[kind]} {kind}" for kind in KINDS if tally.files[kind])
        forms = ", ".join(f"{number} {form}" for form, number in sorted(tally.forms.items()))
        rows.append(
            f"| {name} | {files} | {tally.launches}{f' ({forms})' if forms else ''} | {tally.equal} | "
            f"{len(tally.extra)} | {len(tally.refused)} | {len(tally.crashes)} |"
        )
    return "\n".join(rows)


def count(tree: Path) -> Tally:
    """Read one tree."""
    tally = Tally()
    for path in sorted(tree.rglob("*")):
        kind = kind_of(path.relative_to(tree).as_posix())
        if kind not in KINDS or not path.is_file() or path.is_symlink() or ".git" in path.parts:
            continue
        tally.files[kind] += 1
        source = Source(path.relative_to(tree).as_posix(), kind, path)
        began = time.process_time()
        try:
            found = read(source)
        except (UnreadableError, DocumentError):
            found = []
        except Exception as error:
            tally.crashes.append(f"{source.path}: {type(error).__name__}: {error}")
            continue
        tally.seconds += time.process_time() - began
        try:
            carried = list(texts(source.path, kind, source.data.decode("utf-8-sig")))
        except ValueError:
            continue
        compare(source.path, carried, found, tally)
    return tally


def compare(path: str, carried: Sequence[Text], found: Sequence[Read], tally: Tally) -> None:
    """Each launch that shfmt sees has one of eaglelint's with the same words; all at one place must have them.

    A script that a function or loop runs several times is read several times there.
    """
    used: set[int] = set()
    for text in carried:
        try:
            expected = text.launches()
        except oracle.Unparsable as error:
            if re.search(r"sglang|vllm|trtllm-serve|tokenspeed", text.text):
                tally.refused.append(f"{path}:{text.line}: {str(error)[:120]}")
            continue
        for launch in expected:
            tally.launches += 1
            tally.forms[launch.form] += 1
            start, end = text.place(launch)
            near = [(n, read) for n, read in enumerate(found) if start <= read.start < end or start <= read.first < end]
            pattern = re.compile(launch.pattern)
            matching = [n for n, read in near if read.engine == launch.engine and pattern.fullmatch(read.joined)]
            if launch.form in ("array", "quoted") and not near:  # the same words in two branches are told once
                matching = [n for n, read in enumerate(found) if pattern.fullmatch(read.joined)]
            same_place = [n for n, read in near if read.engine == launch.engine and text.exact]
            used.update(matching)
            used.update(n for n, _ in near)
            if matching and (not same_place or set(same_place) <= set(matching) or not text.exact):
                tally.equal += 1
            else:
                seen = " | ".join(read.joined.replace("\0", " ") for _, read in near) or "nothing"
                place = f"{path}:{text.line_of(launch)}"
                tally.differing.append(f"{place}: {launch.form}: {launch.shown!r} read as {seen!r}")
    tally.extra += [f"{path}:{read.line}: {read.joined!r}" for n, read in enumerate(found) if n not in used]


if __name__ == "__main__":
    sys.exit(main())
