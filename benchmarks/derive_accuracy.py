"""How often `eaglelint derive` agrees with the tables of rules/conventions, over the published releases of an engine.

    make derive-accuracy                           the releases of the table, fetched from the package index
    python benchmarks/derive_accuracy.py --cache DIR --engine sglang --release 0.5.9

Each (release, target file) of the tables is one entry. It agrees when the derived rule, default, order, reach and kind
of tensor are those of the table for every class of the file that the entry names; "unknown" is counted on its own.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from audit import derivation_code, kept_file
from engine_sources import archives, release

from eaglelint.cli.derive import record
from eaglelint.conventions.load import Entry
from eaglelint.conventions.table import Engine, engine
from eaglelint.conventions.versions import within
from eaglelint.derivation.engines import EngineSource, read
from eaglelint.derive import Derived, derive_engine

MARKS = ("<!-- derive-accuracy: begin -->", "<!-- derive-accuracy: end -->")
#: Kinds of tensors that a table tells apart and a derivation does not: how parallel streams are contracted.
_STREAMS = frozenset({"stream", "stream_alias", "mean", "mhc_mean", "mhc_contraction", "mhc_stream", "prefix_sum"})
FIRST = {"sglang": "0.4.9", "vllm": "0.8.5"}


def compare(entry: Entry, shown: str, found: list[Derived]) -> tuple[str, str]:
    """("agrees" | "unknown" | "contradicts", why) for one target file of an entry."""
    named = [d for d in found if d.name in entry.architectures_at(shown)]
    table = entry.reading
    if not named:
        if table.status == "unsupported":
            return "agrees", "no class with a setter"
        if not found:
            return "unknown", "no class with a setter was found in the file"
        named = found
    if table.rule == "unknown":
        told = [d for d in named if d.reading is not None]
        return ("contradicts", "told what the table does not know") if told else ("agrees", "neither can tell")
    reasons = [d.reason for d in named if d.reading is None]
    for item in named:
        wrong = _differences(entry, item)
        if wrong:
            return "contradicts", f"{item.name}: {wrong}"
    return ("unknown", reasons[0]) if reasons else ("agrees", "")


def _differences(entry: Entry, item: Derived) -> str:
    table, mine = entry.reading, item.reading
    if mine is None:
        return ""
    if mine.rule != table.rule:
        return f"rule {mine.rule}, table {table.rule}"
    if mine.rule == "nothing_captured":
        return ""
    pairs = {"default": (mine.default, table.default), "order": (mine.order, table.order)}
    for edge in ("zero", "end", "outside"):
        pairs[edge] = (getattr(mine, edge), getattr(table, edge))
    for what, (one, other) in pairs.items():
        if one != other and "unknown" not in (one, other) and one and other:
            return f"{what} {one}, table {other}"
    if table.tensor != mine.tensor and not {table.tensor, mine.tensor} <= _STREAMS and table.tensor != "unknown":
        return f"tensor {mine.tensor}, table {table.tensor}"
    return ""


def measure(table: Engine, version: str, archive: Path) -> list[tuple[str, str, str]]:
    """(file, outcome, why) for each target file that the table has of a release."""
    source = next(s for s in read(str(archive)) if s.engine == table.name)
    kept = kept_file(archive.resolve(), "derived", derivation_code())
    found = derive_engine(source)
    kept.write_text(json.dumps([record(item) for item in found]), encoding="utf-8")  # the audit wants the same
    rows = []
    for entry in table.entries:
        if not within(version, entry.reading.first, entry.reading.last):
            continue
        for file in entry.reading.model_files:
            if not _holds_targets(source, entry, file, version):
                continue
            mine = [d for d in found if d.file.endswith(f"/{file}")] or _beside(found, file, entry, version)
            rows.append((file, *compare(entry, version, mine)))
    return rows


def _beside(found: list[Derived], file: str, entry: Entry, version: str) -> list[Derived]:
    """The classes of an entry that stand beside a file of their package, in which only their decoder is."""
    folder = f"/{file.rpartition('/')[0]}/"
    inside = [d for d in found if "/" in file and f"/{d.file.rpartition('/')[0]}/".endswith(folder)]
    return [d for d in inside if d.name in entry.architectures_at(version)]


def _holds_targets(source: EngineSource, entry: Entry, file: str, version: str) -> bool:
    """Whether a release has the file, and the file has classes of the entry (not only a loop that another one uses)."""
    data = {f: s.data for s in source.sources for f in entry.reading.model_files if s.path.endswith(f"/{f}")}
    classes = {f: any(f"class {a}".encode() in d for a in entry.architectures_at(version)) for f, d in data.items()}
    return file in data and (classes[file] or not any(classes.values()))


def main() -> int:
    """Measure and print; 1 when anything contradicts the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", default=os.environ.get("EAGLELINT_ENGINES", ""), help="where archives are kept")
    parser.add_argument("--engine", choices=("sglang", "vllm"), action="append")
    parser.add_argument("--release", action="append", help="only these releases")
    parser.add_argument("--write", metavar="FILE", help="put the table between the marks of this file")
    parser.add_argument("--resume", action="store_true", help="keep what the cache has of earlier runs")
    parser.add_argument("--measured", action="store_true", help="only show what the cache has of earlier runs")
    parser.add_argument("--verbose", action="store_true", help="name what is unknown")
    args = parser.parse_args()
    cache = Path(args.cache or tempfile.mkdtemp(prefix="eaglelint-engines-"))
    cache.mkdir(parents=True, exist_ok=True)
    sys.setrecursionlimit(20_000)
    lines, bad = [], 0
    for name in args.engine or ("sglang", "vllm"):
        table = engine(name)
        assert table is not None
        files = None
        total: Counter[str] = Counter()
        unknown: Counter[str] = Counter()
        took = 0.0
        releases = [r for r in table.read if within(r, FIRST[name], table.latest)]
        chosen = [r for r in releases if not args.release or r in args.release]
        if args.measured:
            chosen = [r for r in chosen if (cache / f"{name}-{r}.json").exists()]
        if not chosen:
            continue
        for version in chosen:
            kept = cache / f"{name}-{version}.json"
            if args.measured or (args.resume and kept.exists()):
                stored = json.loads(kept.read_text())
            else:
                if files is None and not (cache / f"{name}-{version}.zip").exists():
                    files = archives(name)
                archive = release(name, version, cache, files)
                if archive is None:
                    print(f"{name} {version}: no archive is published")
                    continue
                began = time.process_time()
                stored = {"rows": measure(table, version, archive), "seconds": time.process_time() - began}
                kept.write_text(json.dumps(stored, indent=1))
            rows, took = stored["rows"], took + stored["seconds"]
            counts = Counter(outcome for _, outcome, _ in rows)
            total += counts
            print(f"{name} {version}: " + ", ".join(f"{n} {o}" for o, n in sorted(counts.items())), flush=True)
            for file, outcome, why in rows:
                if outcome == "contradicts" or (outcome == "unknown" and args.verbose):
                    print(f"    {outcome} {file}: {why}", flush=True)
                if outcome == "unknown":
                    unknown[file] += 1
        every = sum(total.values()) or 1
        share = 100 * total["agrees"] / every
        bad += total["contradicts"]
        rest = ", ".join(f"{f} ({n})" for f, n in unknown.most_common(12)) or "none"
        lines.append(
            f"| {table.name} {chosen[0]} to {chosen[-1]} | {len(chosen)} | {every} | {total['agrees']} ({share:.1f} %) "
            f"| {total['unknown']} | {total['contradicts']} | {took / len(chosen):.0f} s | {rest} |"
        )
    head = "| releases | number | entries | agree | unknown | contradict | CPU a release | unknown files (entries) |\n"
    report = head + "|---|---|---|---|---|---|---|---|\n" + "\n".join(lines)
    print(report)
    if args.write:
        write(Path(args.write), report)
    return 1 if bad else 0


def write(path: Path, report: str) -> None:
    """Put the report between the marks of a file; a file without them gets them at its end."""
    text = path.read_text(encoding="utf-8") if path.exists() else "# Accuracy\n"
    if MARKS[0] not in text:
        text = text.rstrip("\n") + f"\n\n## `eaglelint derive` against the tables\n\n{MARKS[0]}\n{MARKS[1]}\n"
    before, rest = text.split(MARKS[0], 1)
    after = rest.split(MARKS[1], 1)[1]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{before}{MARKS[0]}\n{report}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
