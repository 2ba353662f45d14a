"""No pattern takes exponential or cubic time, on any of the lines that make such patterns slow."""

# ruff: noqa: E501 - lines of files that are only read, as strings

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Iterator

import pytest

import eaglelint

#: What lines are made of that make a pattern try again and again.
PIECES = [
    *("a", "A", "1", " ", "\t", "\n", "\\", '"', "'", "`", "{", "(", "[", "}", ")", "]", "<", "$", "#", ",", ".", "-", "=", "/"),
    *("a.", "a-", "a_", "1.", "a ", " a", "a,", "a=", "--a ", "--a=a ", "${", "$(", "{{", "${a:-", "${a:-{", "\\\n", "\\\"", "a\n"),
    *(" \n", "a: ", "- a\n", "<<A\n", "'a'", '"a"', '"\\"', "[a]", "[a,", "(a", "a(", "{a}", "{a", "a=a;", "a b ", "# a\n", "```\n"),
    *("a/", "a@", "@", ">=", "==1.", "a[b],", "a:b", ":", "::", "*", "**", "+", "%s", "%", "layer1_", "aux_hidden_", "eagle3 "),
]  # fmt: skip
ENDS = ("", "\n\x00")
LENGTH = 800
#: Seconds of the processor: for one pattern on one line, of `LENGTH` characters.
LONGEST = 1.0


def patterns() -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes]]]:
    """Every pattern that stands in a module of the package."""
    for info in pkgutil.walk_packages(eaglelint.__path__, "eaglelint."):
        if info.name.endswith("__main__") or ".lsp" in info.name:
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            found = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else [value]
            for number, pattern in enumerate(found):
                if isinstance(pattern, re.Pattern):
                    yield f"{info.name}.{name}.{number}", pattern


def stop(*_: object) -> None:
    raise TimeoutError


def slowest(pattern: re.Pattern[str] | re.Pattern[bytes], length: int) -> tuple[float, str]:
    """The most seconds that a pattern takes to be searched for in one of the lines, and the line."""
    worst, on = 0.0, ""
    for piece in PIECES:
        for end in ENDS:
            line = piece * (length // len(piece)) + end
            subject = line if isinstance(pattern.pattern, str) else line.encode()
            begin = time.process_time()
            pattern.search(subject)  # type: ignore[arg-type]
            taken = time.process_time() - begin
            if taken > worst:
                worst, on = taken, repr(piece + end)
    return worst, on


@pytest.fixture
def limited() -> Iterator[None]:
    before = signal.signal(signal.SIGVTALRM, stop)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def test_no_pattern_of_the_package_is_slow(limited: None):
    slow, seen = [], set()
    for name, pattern in patterns():
        if pattern in seen:
            continue
        seen.add(pattern)
        signal.setitimer(signal.ITIMER_VIRTUAL, 5.0)
        try:
            seconds, line = slowest(pattern, LENGTH // 4)
            if seconds > 0.001:  # it may grow: cubic time is 64 times as much on four times the length
                seconds, line = slowest(pattern, LENGTH)
        except TimeoutError:
            seconds, line = 5.0, "one of the lines"
        if seconds > LONGEST:
            slow.append(f"{name}: {seconds:.2f} s on {line}: {pattern.pattern!r}")
    assert len(seen) > 150
    assert slow == []


def test_a_slow_pattern_is_seen(limited: None):
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.2)
    with pytest.raises(TimeoutError):
        slowest(re.compile(r"(a+)+$"), 60)
