"""Damaged project files through every reader, the analyser and the checks: none may fail or hang.

    python benchmarks/fuzz_readers.py --inputs 100000
    python benchmarks/fuzz_readers.py --atheris -- -max_total_time=600

The corpus is real: the examples of the rules, `examples/`, and the project files that tests keep. Every input is one
of its files with up to eight kinds of damage, and is read by all readers and the analyser; every tenth also takes the
place of the whole file in its project, which is then checked. The exit status is 1 when anything failed. With atheris
(which is not among the dependencies) the damage is guided by what it reaches.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]

from eaglelint import catalog  # noqa: E402
from eaglelint.guard import Guard  # noqa: E402
from eaglelint.kinds import kind_of  # noqa: E402
from eaglelint.project import Project, Source  # noqa: E402
from eaglelint.reading import read  # noqa: E402
from eaglelint.run import check  # noqa: E402
from eaglelint.settings import Settings  # noqa: E402

#: Seconds of the processor after which an input counts as one that hangs.
LONGEST_SECONDS = 20.0
#: One input in so many is checked as a part of its project.
CHECKED = 10
SETTINGS = Settings(markdown=True)

#: What is put into files: what ends, opens, escapes or multiplies something in one of the languages.
PIECES = (
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\t", b"\\", b"\\\n", b"'", b'"', b"'''", b'"""', b"`", b"$(",
    b"${", b")", b"}", b"{", b"[", b"]", b"{{", b"}}", b"<<EOF\n", b"<<-'A'\n", b"#", b"&a ", b"*a", b"<<: *a\n",
    b"!!python/none ", b"---\n", b"...\n", b"@@ -1,3 +1,4 @@\n", b"+", b"-", b" ", b"\x1b[2J", b"-1", b"10**12",
    b"1e999", b"NaN", b"null", b"true", b"[]", b"{}", b"range(10**12)", b"lambda: ", b"yield ", b"await ", b"*",
    b"**", b"%s", b"{0}", b"f'{x!r:>{y}}'", b"\\ud800", b"\xed\xa0\x80", b"\xe2\x80\xae", b"for x in x: ",
    b"while True: ", b"if x:\n", b"global x\n", b":=", b"==", b"hidden_states", b"eagle_aux_hidden_state_layer_ids",
    b"EAGLE3", b"--speculative-algorithm", b"None", b"self", b"0x", b"1_0", b".5", b"..", b"@", b";", b"\x0c",
    b"\x0b", b"\xc2\x85", b"\xe2\x80\xa8", b"9" * 40,
)  # fmt: skip


class Seed(NamedTuple):
    """A file of the corpus: the folder of its project, its path there, its kind, its bytes."""

    folder: str
    path: str
    kind: str
    content: bytes


def corpus(place: Path) -> list[Seed]:
    """The whole corpus; the projects of the rules' examples are written under `place` to be checked there."""
    found: list[Seed] = []
    for code in catalog.names():
        examples = catalog.load(code).examples
        for number, example in enumerate((*examples.wrong, *examples.right)):
            folder = place / f"{code}-{number}"
            for path, text in example.files.items():
                file = folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            found += _seeds(folder)
    for folder in (ROOT / "examples", ROOT / "tests"):
        for project in sorted(folder.iterdir()):
            if project.is_dir():
                found += _seeds(project)
    return [*found, *(other for seed in found for other in _wrapped(seed))]


def _wrapped(seed: Seed) -> Iterator[Seed]:
    """A file of Python or shell as it stands in files of other kinds: notebooks, diffs, Makefiles, units of systemd."""
    text = seed.content.decode("utf-8", "replace")
    lines = text.splitlines()
    base = seed.path.rpartition(".")[0]
    if seed.kind == "python":
        cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text.splitlines(keepends=True)}]
        book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        added = "".join(f"+{line}\n" for line in lines)
        diff = f"--- a/{seed.path}\n+++ b/{seed.path}\n@@ -0,0 +1,{len(lines)} @@\n{added}"
        yield Seed(seed.folder, f"{base}.ipynb", "notebook", book.encode())
        yield Seed(seed.folder, f"{base}.patch", "patch", diff.encode())
    elif seed.kind == "shell":
        recipe = "".join(f"\t{line}\n" for line in lines if line and not line.startswith("#!"))
        command = " ".join(line.rstrip("\\") for line in lines if not line.startswith("#"))
        yield Seed(seed.folder, f"{base}/Makefile", "makefile", f"serve:\n{recipe}".encode())
        yield Seed(seed.folder, f"{base}.service", "systemd", f"[Service]\nExecStart={command}\n".encode())


def _seeds(folder: Path) -> Iterator[Seed]:
    """The files of a project that are read as text; of tests only those that are no tests."""
    for file in sorted(folder.rglob("*")):
        kind = kind_of(str(file)) if file.is_file() and "__pycache__" not in file.parts else None
        test = file.name.startswith(("test_", "conftest")) and file.suffix == ".py"
        if kind and kind != "binary" and not test and file.stat().st_size < 20_000:
            yield Seed(str(folder), str(file.relative_to(folder)), kind, file.read_bytes())


def damage(content: bytes, other: bytes, chance: random.Random) -> bytes:
    """The content with up to eight kinds of damage; `other` is a file that pieces are taken from."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(data) + 1)
        length = chance.choice((1, 2, 5, 20, 100))
        kind = chance.randrange(11)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << chance.randrange(8)
        elif kind in (1, 2):
            data[at:at] = chance.choice(PIECES)
        elif kind == 3:
            data[at : at + length] = chance.choice(PIECES)
        elif kind == 4:
            del data[at : at + length]
        elif kind == 5:
            start = chance.randrange(len(data) + 1)
            data[at:at] = data[start : start + length] * chance.choice((1, 1, 2, 50))
        elif kind == 6:
            start = chance.randrange(len(other) + 1)
            data[at : at + chance.choice((0, length))] = other[start : start + length]
        elif kind == 7:
            del data[at if chance.random() < 0.3 else len(data) :]
        elif kind == 8:
            lines = data.split(b"\n")
            one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
            lines[one], lines[two] = lines[two], lines[one]
            data = bytearray(b"\n".join(lines))
        elif kind == 9:
            lines = data.split(b"\n")
            row = chance.randrange(len(lines))
            lines[row] = chance.choice((b"", b" ", b"    ", b"\t")) + lines[row].lstrip()
            data = bytearray(b"\n".join(lines))
        else:
            numbers = [index for index, byte in enumerate(data) if 48 <= byte <= 57]
            if numbers:
                spot = chance.choice(numbers)
                data[spot : spot + 1] = chance.choice((b"-1", b"0", b"99999999999999999999", b"1.5", b"'2'", b"None"))
    return bytes(data)


class _HangsError(BaseException):
    """An input took longer than any may."""


def _stop(*_: object) -> None:
    raise _HangsError


def failures(seed: Seed, content: bytes, *, whole: bool) -> list[str]:
    """The tracebacks that reading a content gives in the place of a file; `whole` checks its project as well."""
    guard = Guard()
    source = Source(seed.path, seed.kind, Path(seed.folder, seed.path), content)
    try:
        read(Project(Path(seed.folder), (source,)), SETTINGS, guard)
        found = list(guard.tracebacks)
        if whole:
            shown = os.path.relpath(os.path.join(seed.folder, seed.path)).replace(os.sep, "/")
            found += check([seed.folder], SETTINGS, contents={shown: content}).tracebacks
    except _HangsError:
        found = [f"longer than {LONGEST_SECONDS} s"]
    except Exception as error:
        import traceback

        found = [f"{type(error).__name__}: {error}\n{traceback.format_exc()}"]
    return found


class Tally:
    """What came of the inputs so far."""

    def __init__(self, keep: Path | None) -> None:
        self.kinds: Counter[str] = Counter()
        self.checked = 0
        self.failed: dict[str, str] = {}
        self.slowest = 0.0
        self.what = ""
        self._keep = keep
        signal.signal(signal.SIGVTALRM, _stop)

    def take(self, seed: Seed, content: bytes, label: str, *, whole: bool) -> None:
        """Read one input and note how that went."""
        begin = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_SECONDS)
        try:
            found = failures(seed, content, whole=whole)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        taken = time.process_time() - begin
        self.kinds[seed.kind] += 1
        self.checked += whole
        if taken > self.slowest:
            self.slowest, self.what = taken, f"{label}, {seed.path}"
        for traceback in found:
            last = [line.strip() for line in traceback.strip().splitlines() if line.strip()]
            where = next((line for line in reversed(last) if line.startswith("File ")), "")
            key = f"{where.partition(', in ')[0]} {last[-1][:100]}"
            if key not in self.failed:
                self.failed[key] = traceback
                print(f"\n{label}, {seed.folder}/{seed.path}:\n{traceback[-1500:]}", flush=True)
                if self._keep is not None:
                    name = f"{hashlib.sha1(content).hexdigest()[:12]}-{Path(seed.path).name}"
                    (self._keep / name).write_bytes(content)

    def report(self) -> str:
        """The figures, a line each."""
        count = sum(self.kinds.values())
        kinds = ", ".join(f"{number} {kind}" for kind, number in self.kinds.most_common())
        return (
            f"{count} inputs ({self.checked} of them checked in their projects): {len(self.failed)} ways to fail\n"
            f"kinds: {kinds}\nslowest: {self.slowest:.2f} s ({self.what})"
        )


def _has_project(seed: Seed) -> bool:
    """Whether the file lies in a project that is small enough to be checked for each input."""
    small = not seed.folder.startswith(str(ROOT / "tests"))
    return small and os.path.exists(os.path.join(seed.folder, seed.path))


def mutate(seeds: list[Seed], first: int, count: int, tally: Tally, minutes: float) -> None:
    """Inputs `first` to `first + count`: each is told by its number alone, as long as the corpus stays."""
    end = time.monotonic() + 60 * minutes
    kinds: dict[str, list[Seed]] = {}
    for seed in seeds:
        kinds.setdefault(seed.kind, []).append(seed)
    for number in range(first, first + count):
        chance = random.Random(number)
        # Half of the time any file, half of the time one of a kind that is rarer.
        seed = chance.choice(seeds if chance.random() < 0.5 else kinds[chance.choice(sorted(kinds))])
        content = damage(seed.content, chance.choice(seeds).content, chance)
        tally.take(seed, content, f"input {number}", whole=number % CHECKED == 0 and _has_project(seed))
        if number % 1000 == 999:
            print(f"... {number + 1 - first}", file=sys.stderr, flush=True)
        if time.monotonic() > end:
            break


def guided(seeds: list[Seed], arguments: list[str]) -> None:
    """Atheris chooses what comes next; ends by its own limits (`-max_total_time=600`)."""
    import atheris  # type: ignore[import-not-found,unused-ignore]

    atheris.instrument_all()

    def one(data: bytes) -> None:
        seed = seeds[data[0] % len(seeds)] if data else seeds[0]
        found = failures(seed, data[1:], whole=False)
        if found:
            raise RuntimeError(found[0])

    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


def main() -> int:
    """Read damaged files and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--inputs", type=int, default=1000, help="how many (1000)")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first (0)")
    parser.add_argument("--minutes", type=float, default=1e9, help="end after so many, whatever is left")
    parser.add_argument("--keep", type=Path, help="a folder for the inputs that failed")
    parser.add_argument("--atheris", action="store_true", help="guided by coverage; needs atheris")
    parser.add_argument("rest", nargs="*", help="what is told to atheris, after --")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, _in(place):
        seeds = corpus(Path(place))
        if options.atheris:
            guided(seeds, options.rest)
            return 0
        print(f"{len(seeds)} files in the corpus", flush=True)
        tally = Tally(options.keep and options.keep.resolve())
        mutate(seeds, options.seed, options.inputs, tally, options.minutes)
    print(tally.report())
    return int(bool(tally.failed))


@contextlib.contextmanager
def _in(folder: str) -> Iterator[None]:
    """The current folder for a while."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


if __name__ == "__main__":
    sys.exit(main())
