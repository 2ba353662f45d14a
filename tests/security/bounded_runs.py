"""Command lines that run in bounds: each in a process of its own, forked from one in which everything is imported.

As a program it is that one process: it reads requests (a line of JSON each) and answers what became of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
#: Seconds of the processor, and seconds of waiting, that a run may take.
SECONDS = 20
WAITING = 120
#: The most memory that a run may have, in MiB, of which about 90 are Python, eaglelint and its libraries.
MEMORY = 700


@dataclass
class Run:
    """What became of a command line: `status` is negative for a signal, `seconds` are the processor's, `memory` MiB."""

    status: int
    out: str
    err: str
    seconds: float
    memory: int
    findings: list[dict[str, Any]] = field(default_factory=list)

    def said(self) -> str:
        """Everything that the findings say, a line each."""
        return "\n".join(f"{f['rule']} {f['path']}:{f['line']} {f['message']}" for f in self.findings)


class Runner:
    """The process that forks others."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P" if sys.version_info >= (3, 11) else "-s", __file__],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip

    def run(self, folder: Path, *arguments: str) -> Run:
        """`eaglelint ARGUMENTS` in a folder."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"folder": str(folder), "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        run = Run(**answer)
        if "json" in arguments and run.out.startswith("{"):
            with contextlib.suppress(ValueError):
                run.findings = json.loads(run.out).get("findings", [])
        return run

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def bounded(run: Run) -> None:
    """The run ended by itself, within its bounds, and nothing of eaglelint failed."""
    what = f"status {run.status}, {run.seconds:.1f} s, {run.memory} MiB\n{run.out[-1000:]}\n{run.err[-2000:]}"
    assert run.status in (0, 1), what
    assert run.seconds < SECONDS, what
    assert run.memory < MEMORY, what
    assert "internal error" not in run.out + run.err, what
    assert "Traceback" not in run.err, what


def _serve() -> None:
    sys.path.insert(0, str(ROOT))
    from eaglelint.cli.group import run

    example = ROOT / "examples" / "kimi-k25-wiring"
    first = _forked(str(example), ["check", "--format", "json"], run, inside=False)
    assert first["status"] in (0, 1), first
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(_forked(request["folder"], request["arguments"], run, inside=True)), flush=True)


def _forked(folder: str, arguments: list[str], run: Any, inside: bool) -> dict[str, Any]:
    """Run a command line: in a child with limits, or (`inside`) here, so that all that it needs is imported."""
    import resource
    import signal
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        files = [os.path.join(place, name) for name in ("out", "err")]
        child = os.fork() if inside else 0
        if child == 0:
            kept = [os.dup(1), os.dup(2)]
            here = os.getcwd()
            for number, file in enumerate(files, 1):
                os.dup2(os.open(file, os.O_CREAT | os.O_WRONLY), number)
            if inside:
                resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 5, SECONDS + 5))
                resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                signal.alarm(WAITING)
            status = 70
            try:
                os.chdir(folder)
                sys.argv = ["eaglelint", *arguments]
                run()
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(end.code is not None)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                if inside:
                    os._exit(status)
            os.chdir(here)
            for number, copy in enumerate(kept, 1):
                os.dup2(copy, number)
                os.close(copy)
            return {"status": status, "out": "", "err": Path(files[1]).read_text()}
        _, how, used = os.wait4(child, 0)
        return {
            "status": os.waitstatus_to_exitcode(how),
            "out": Path(files[0]).read_text(encoding="utf-8", errors="replace")[-4_000_000:],
            "err": Path(files[1]).read_text(encoding="utf-8", errors="replace")[-10_000:],
            "seconds": used.ru_utime + used.ru_stime,
            "memory": used.ru_maxrss // 1024,
        }


if __name__ == "__main__":
    _serve()
