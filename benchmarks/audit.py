"""Holds the convention tables against the source of every release that they name, and of every newer one.

    python benchmarks/audit.py [--engine sglang] [--release 0.5.23] [--cache DIR] [--no-derive] [--report FILE]

For each release of SGLang and vLLM in `rules/conventions/`, the smallest archive with its source is fetched from the
index that pip is configured for, one at a time; nothing is installed, built or imported, and only model files are kept,
in the cache. Then the engine's own setters are run with stubs (`auditing/setters.py`, in a process of its own with a
time limit), and `eaglelint derive` runs the models abstractly. What they say is compared with the tables. Releases that
the tables do not name are compared with the nearest one that they do.

The report is Markdown. The exit status is 1 when something disagrees or a new release changes something.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from auditing.compare import DEPTHS, Compared, Difference, changes, compare, questions  # noqa: E402
from auditing.derived import Derivation, compare_derived  # noqa: E402
from auditing.id_readers import changed, id_readers  # noqa: E402
from auditing.report import Audit, New, render  # noqa: E402
from engine_sources import archives, release  # noqa: E402
from packaging.version import InvalidVersion, Version  # noqa: E402

from eaglelint.conventions.table import Engine, engine  # noqa: E402

ENGINES = ("sglang", "vllm")
#: Seconds that the setters, or the derivation, of one release may take.
LIMIT = 900


class Options(NamedTuple):
    """Where archives and answers are kept, and whether models are derived."""

    cache: Path
    derive: bool


def published(files: Mapping[str, object], package: str) -> list[str]:
    """The final releases that an index lists, ascending."""
    found = set()
    for name in files:
        stem = name.removeprefix(f"{package}-")
        text = stem.split("-")[0] if name.endswith(".whl") else stem.removesuffix(".tar.gz")
        try:
            version = Version(text)
        except InvalidVersion:
            continue
        if not version.is_prerelease:
            found.add(version)
    return [str(version) for version in sorted(found)]


def setters(name: str, archive: Path) -> dict[str, Any]:
    """What the setters of a release do, by architecture. Raises `subprocess.SubprocessError` when they do not end."""
    question = json.dumps([[depth, ids] for depth in DEPTHS for ids in questions(depth)])
    code = [HERE / "auditing" / f"{part}.py" for part in ("setters", "rebuilt", "sources", "stubs")]
    command = [sys.executable, "-I", str(HERE / "auditing" / "setters.py"), name, str(archive)]
    found: dict[str, Any] = json.loads(_kept(archive, "setters", code, command, question))
    return found


def derived(archive: Path) -> list[dict[str, Any]]:
    """What `eaglelint derive` makes of a release, by class. Raises as `setters` does."""
    command = [sys.executable, "-m", "eaglelint", "derive", str(archive), "--format", "json"]
    found: list[dict[str, Any]] = json.loads(_kept(archive, "derived", derivation_code(), command))
    return found


def derivation_code() -> list[Path]:
    """The files that decide what is derived from a release."""
    package = HERE.parent / "eaglelint"
    code = [*package.glob("derive.py"), *package.glob("derivation/*.py"), *package.glob("analyser/*.py")]
    return [*code, *HERE.parent.glob("rules/conventions/callees/*.yaml")]


def kept_file(archive: Path, kind: str, code: Iterable[Path], given: str = "") -> Path:
    """Where an answer is kept, beside the archive, for as long as neither the question nor the code changes."""
    text = b"".join(path.read_bytes() for path in sorted(code)) + given.encode()
    return archive.with_suffix(f".{kind}-{hashlib.sha256(text).hexdigest()[:16]}.json")


def _kept(archive: Path, kind: str, code: Iterable[Path], command: Sequence[str], given: str = "") -> str:
    """What a command prints, from an earlier run when nothing has changed."""
    kept = kept_file(archive, kind, code, given)
    if not kept.exists():
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, check=True, timeout=LIMIT, cwd=HERE.parent
        )
        kept.write_text(done.stdout, encoding="utf-8")
    return kept.read_text(encoding="utf-8")


class Release(NamedTuple):
    """What was found in one release."""

    version: str
    compared: Compared
    derivation: Derivation
    answer: Mapping[str, Any]
    readers: Mapping[str, str]


def audit(table: Engine, versions: Sequence[str], options: Options, files: dict[str, tuple[str, int]]) -> Audit:
    """Compare these releases of an engine with its table, and say what the ones that it does not name change."""
    seen: dict[str, Release] = {}
    failed: list[Difference] = []
    start = time.monotonic()
    for version in versions:
        try:
            archive = release(table.package, version, options.cache, files)
            if archive is None:
                failed.append(Difference(table.name, version, "", "the index has no archive of it"))
                continue
            seen[version] = _audited(table, version, archive.resolve(), options)
        except (OSError, subprocess.SubprocessError) as error:
            failed.append(Difference(table.name, version, "", f"could not be audited: {error}"))
            continue
        progress(table.name, seen[version])
    every = list(seen.values())
    return Audit(
        engine=table.name,
        verified=table.verified,
        releases=tuple(seen),
        comparisons=sum(r.compared.comparisons for r in every),
        differences=tuple(d for r in every for d in r.compared.differences),
        not_run=tuple(d for r in every for d in r.compared.not_run),
        derivations=sum(r.derivation.comparisons for r in every),
        derived_otherwise=tuple(d for r in every for d in r.derivation.differences),
        not_told=tuple(d for r in every for d in r.derivation.not_told),
        failed=tuple(failed),
        unlisted=_unlisted(every),
        new=tuple(_new(table, seen, version) for version in seen if version not in table.known),
        seconds=time.monotonic() - start,
    )


def _audited(table: Engine, version: str, archive: Path, options: Options) -> Release:
    answer = setters(table.name, archive)
    classes = derived(archive) if options.derive else []
    compared, derivation = compare(table, version, answer), compare_derived(table, version, classes)
    return Release(version, compared, derivation, answer, id_readers(archive))


def progress(name: str, found: Release) -> None:
    """One line on standard error."""
    compared, derivation = found.compared, found.derivation
    print(
        f"{name} {found.version}: setters {compared.comparisons} compared, {len(compared.differences)} differ, "
        f"{len(compared.not_run)} not run; derived {derivation.comparisons} compared, "
        f"{len(derivation.differences)} differ, {len(derivation.not_told)} not told",
        file=sys.stderr, flush=True,
    )  # fmt: skip


def _unlisted(releases: Sequence[Release]) -> tuple[tuple[str, str, str], ...]:
    """Architectures with a working setter that no entry names: the name, the first and the last release."""
    spans: dict[str, list[str]] = {}
    for found in releases:
        for architecture in found.compared.unlisted:
            spans.setdefault(architecture, []).append(found.version)
    return tuple((name, versions[0], versions[-1]) for name, versions in spans.items())


def _new(table: Engine, seen: Mapping[str, Release], version: str) -> New:
    """A release that the table does not name, beside the nearest older one that it does."""
    older = [v for v in seen if v in table.read and Version(v) < Version(version)]
    if not older:
        return New(version, "", ())
    before, found = seen[older[-1]], seen[version]
    return New(version, older[-1], (*changes(before.answer, found.answer), *changed(before.readers, found.readers)))


def main() -> int:
    parser = argparse.ArgumentParser(description="Hold the convention tables against the source of the engines.")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="only this engine; may be repeated")
    parser.add_argument("--release", action="append", help="only these releases")
    parser.add_argument("--cache", type=Path, default=Path(".audit"), help="where the model files are kept (.audit)")
    parser.add_argument("--no-derive", dest="derive", action="store_false", help="run the setters only")
    parser.add_argument("--report", type=Path, help="write the report to a file as well")
    given = parser.parse_args()
    options = Options(given.cache, given.derive)
    options.cache.mkdir(parents=True, exist_ok=True)
    audits = []
    for name in given.engine or ENGINES:
        table = engine(name)
        assert table is not None
        files = archives(table.package)
        known = [
            *table.read,
            *(v for v in published(files, table.package) if v not in table.known and _recent(table, v)),
        ]
        versions = sorted(given.release or known, key=Version)
        audits.append(audit(table, versions, options, files))
    text = render(audits)
    print(text, end="")
    if given.report:
        given.report.write_text(text, encoding="utf-8")
    return 1 if any(found.wrong for found in audits) else 0


def _recent(table: Engine, version: str) -> bool:
    """Whether a release lies within or beyond the releases of a table."""
    return Version(version) > Version(table.read[0])


if __name__ == "__main__":
    sys.exit(main())
