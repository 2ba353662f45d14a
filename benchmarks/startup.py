"""How long `eaglelint --version` takes beside `python -c pass`, and what it imports.

    python benchmarks/startup.py [--runs 40] [--limit 7]

Runs take turns, so that whatever else the machine does slows all of them alike; medians are compared, and only their
ratio says something about eaglelint. The exit status is 1 when the ratio is above the limit or a heavy package is
imported.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path

#: Packages that starting must not import: each costs more than all of `python -c pass`.
HEAVY = ("pydantic", "jsonschema", "libcst", "yaml", "tree_sitter")

BASELINE = (sys.executable, "-c", "pass")
VERSION = (sys.executable, str(Path(sysconfig.get_path("scripts"), "eaglelint")), "--version")
COMMANDS = {
    "python -c pass": BASELINE,
    "eaglelint --version": VERSION,
    "eaglelint --help": (*VERSION[:-1], "--help"),
}


def seconds(command: Sequence[str]) -> float:
    """How long one run of a command takes, from its start to its end."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure(runs: int) -> dict[str, list[float]]:
    """The seconds of `runs` runs of each command, taken in turns after one run each that is not counted."""
    for command in COMMANDS.values():
        seconds(command)
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(runs):
        for name, command in COMMANDS.items():
            times[name].append(seconds(command))
    return times


def imports(command: Sequence[str]) -> set[str]:
    """The modules that a Python command imports, as the interpreter itself reports them."""
    python, *rest = command
    done = subprocess.run([python, "-X", "importtime", *rest], check=True, capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines[1:]}


def heavy(modules: set[str]) -> list[str]:
    """The heavy packages among modules."""
    return [package for package in HEAVY if package in {module.partition(".")[0] for module in modules}]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=40, help="runs of each command (40)")
    parser.add_argument("--limit", type=float, default=7.0, help="highest ratio of --version to python -c pass (7)")
    arguments = parser.parse_args()

    times = measure(arguments.runs)
    medians = {name: statistics.median(values) for name, values in times.items()}
    base = medians["python -c pass"]
    print(f"Python {sys.version.split()[0]}, {arguments.runs} runs of each in turns\n")
    print(f"{'command':20} {'median ms':>10} {'fastest ms':>11} {'ratio':>6}")
    for name, values in times.items():
        print(f"{name:20} {medians[name] * 1000:10.1f} {min(values) * 1000:11.1f} {medians[name] / base:6.2f}")

    new = imports(VERSION) - imports(BASELINE)
    found = heavy(new)
    print(f"\nimported for --version: {', '.join(sorted(new)) or 'nothing'}")
    print(f"of {', '.join(HEAVY)}: {', '.join(found) or 'none'}")
    ratio = medians["eaglelint --version"] / base
    print(f"ratio {ratio:.2f}, at most {arguments.limit:g} wanted")
    return 1 if found or ratio > arguments.limit else 0


if __name__ == "__main__":
    sys.exit(main())
