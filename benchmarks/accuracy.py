"""How right the analyser is: the figures of docs/accuracy.md.

    python benchmarks/accuracy.py --variants 200      generated capture code against running it
    python benchmarks/accuracy.py --literals 20000    string literals against Python, and the places of characters
    python benchmarks/accuracy.py --corpus DIR...     code inside strings of real patch scripts
    python benchmarks/accuracy.py --tree DIR          every Python file of a tree: crashes, time, memory

Nothing is downloaded: DIR is a folder that you have, such as a checkout or an unpacked release. The exit status is 1
when a figure is below what docs/accuracy.md promises.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: Parts of variants that may be "unknown", of code-like strings that must parse, and megabytes for a whole engine.
UNKNOWN, PARSED, MEGABYTES = 0.03, 0.94, 300


def memory() -> float:
    """The most memory that this process has held, in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage also counts what the process that started this one held
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


# ---- generated code ------------------------------------------------------------------------------------------------


def generated(number: int, seed: int, show: int) -> bool:
    """Run and analyse generated programs and count the verdicts."""
    sys.path.insert(0, str(ROOT / "tests" / "generated"))
    import grammar
    from generated import facts_of, judge, truths

    variants = grammar.variants(seed, number)
    counts: Counter[str] = Counter()
    start = time.perf_counter()
    for variant, truth in zip(variants, truths(variants), strict=True):
        with tempfile.TemporaryDirectory() as folder:
            verdict = judge(variant, truth, facts_of(Path(folder), variant.files))
        counts[verdict.kind] += 1
        if verdict.kind != "equal" and show > 0:
            show -= 1
            print(f"\n{variant.name}: {verdict.kind}\nran {verdict.ran}\ninferred {verdict.inferred}")
            print("\n".join(f"--- {path}\n{text}" for path, text in variant.files.items()))
    print(f"generated code: {number} variants of seed {seed} in {time.perf_counter() - start:.0f} s")
    for kind in ("equal", "unknown", "silent", "wrong"):
        print(f"  {kind:8} {counts[kind]:6}  {counts[kind] / number:7.2%}")
    return not counts["wrong"] and not counts["silent"] and counts["unknown"] <= UNKNOWN * number


# ---- literals ------------------------------------------------------------------------------------------------------

_PREFIXES = ["", "r", "R", "u", "U", "b", "B", "br", "bR", "Rb", "rb"]
_QUOTES = ["'", '"', "'''", '"""']
_PIECES = [
    *(
        "\\" + tail
        for tail in ["n", "t", "\\", "'", '"', "x41", "xe", "101", "0", "777", "8", "u00e9", "ud83d", "N{BULLET}"]
    ),
    *("\\" + tail for tail in ["U0001F600", "U00110000", "N{no such}", "N", "d", "{", "", "\n", "\r\n", "\r"]),
    *("'", '"', "{", "}", "\n", "\r\n", "\r", "    ", "\t", "hidden_states", "é", "\U0001f600", "#", "%s", "layers[i]"),
]


def literals(number: int, seed: int) -> bool:
    """Decode random string literals; those that Python takes must have its value and every character its place."""
    from eaglelint.analyser.literals import decode_literal
    from eaglelint.location import MappedText

    draw = Random(seed)
    counts: Counter[str] = Counter()
    for _ in range(number):
        quote = draw.choice(_QUOTES)
        token = draw.choice(_PREFIXES) + quote + "".join(draw.choices(_PIECES, k=draw.randrange(13))) + quote
        before = "x = f(1,\n    "
        source = MappedText.whole("patch.py", before + token + ")\n")
        expected = _value(token)
        try:
            ours = decode_literal(source[len(before) : len(before) + len(token)])
        except ValueError:
            counts["refused by both" if expected is None else "wrong"] += 1
            continue
        counts["equal" if expected == ours.text and _placed(source.text, ours) else "wrong"] += 1
    print(f"literals: {number} random tokens of seed {seed}")
    for kind in ("equal", "refused by both", "wrong"):
        print(f"  {kind:16} {counts[kind]:6}  {counts[kind] / number:7.2%}")
    return not counts["wrong"]


def _value(token: str) -> str | None:
    """What Python makes of a token; None when it takes it for no literal, or for a literal and more."""
    import libcst as cst

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = ast.literal_eval(token)
        except (SyntaxError, ValueError):
            return None
    node = cst.parse_expression(token)
    if not isinstance(node, cst.SimpleString) or node.value != token:
        return None
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _placed(source: str, ours: Any) -> bool:
    """Whether each character stands where it is said to stand: as itself, as an escape, or as a line break."""
    origin = list(ours.origin)
    if origin != sorted(origin):
        return False
    pairs = ((character, source[place]) for character, place in zip(ours.text, origin, strict=False))
    return all(w == c or w == "\\" or (c, w) == ("\n", "\r") for c, w in pairs)


#: How a line of Python begins, and one of a shell, a launch file or prose.
_STATEMENT = re.compile(
    r"(def \w+\(|class \w+|(if|elif|while|for|with|except)\b.*:$|(else|try|finally):|return\b|raise\b|import [\w.]+$|"
    r"from [\w.]+ import|[\w.\[\]\"', ]+ [+*/-]?= \S|[\w.]+\(.*\)?,?$|@\w|(pass|continue|break)$|assert\b|del\b)"
)
_SHELL = re.compile(r"(#!/|echo |export |fi$|then$|done$|set -|sudo |\$|FROM |RUN |- \w+:|<|\w+: \S+$)")


# ---- fragments -----------------------------------------------------------------------------------------------------


def fragments(folders: list[Path], show: int) -> bool:
    """Parse the strings of patch scripts that look like Python."""
    import libcst as cst

    from eaglelint.analyser.fragments import FragmentError, parse, parse_module
    from eaglelint.analyser.patterns import kids
    from eaglelint.location import MappedText

    counts: Counter[str] = Counter()
    for path in (file for folder in folders for file in sorted(folder.rglob("*.py"))):
        text = path.read_text(encoding="utf-8", errors="replace")
        if not any(word in text for word in (".replace(", "re.sub", "write_text")):
            continue
        try:
            module = parse_module(MappedText.whole(str(path), text))
        except FragmentError:
            counts["unreadable scripts"] += 1
            continue
        counts["scripts"] += 1
        stack: list[Any] = [module.module]
        while stack:
            node = stack.pop()
            if isinstance(node, cst.Expr) and isinstance(node.value, cst.SimpleString | cst.ConcatenatedString):
                continue  # a docstring
            if not isinstance(node, cst.SimpleString | cst.ConcatenatedString):
                stack.extend(kids(node))
                continue
            content = _content(module, node)
            if content is None or not _looks_like_code(content.text):
                continue
            fragment = parse(content)
            counts["code"] += 1
            counts["parsed" if fragment is not None else "not parsed"] += 1
            if fragment is None and show > 0:
                show -= 1
                print(f"--- {module.source(node).location(0, 1)}\n{content.text[:400]}")
    share = counts["parsed"] / max(counts["code"], 1)
    print(f"fragments: {counts['scripts']} scripts, {counts['code']} strings that look like Python, {share:.1%} parsed")
    return share >= PARSED


def _content(module: Any, node: Any) -> Any:
    """The content of a literal, or of literals that stand side by side; None when one of them is no plain literal."""
    import libcst as cst

    from eaglelint.analyser.literals import decode_literal
    from eaglelint.location import join

    if isinstance(node, cst.ConcatenatedString):
        left, right = _content(module, node.left), _content(module, node.right)
        return join([left, right]) if left is not None and right is not None else None
    try:
        return decode_literal(module.source(node))
    except ValueError:
        return None


def _looks_like_code(text: str) -> bool:
    """Whether a string is several lines of Python: most lines begin or end as statements do, and none as shell does."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or any(_SHELL.match(line) for line in lines):
        return False
    statements = sum(bool(_STATEMENT.match(line)) for line in lines)
    return (
        statements >= 1 and statements + sum(line.startswith(("#", ")", "]", "}")) for line in lines) >= len(lines) / 2
    )


# ---- whole trees ---------------------------------------------------------------------------------------------------


def tree(folder: Path, show: int) -> bool:
    """Analyse every Python file of a tree alone, whatever it is about, then the tree as `eaglelint check` does."""
    crashes = _alone(folder, show)
    command = [sys.executable, __file__, "--whole", str(folder)]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    print(done.stdout.rstrip() or done.stderr)
    return not crashes and done.returncode == 0


def _alone(folder: Path, show: int) -> int:
    from eaglelint.analyser import gate
    from eaglelint.analyser.memory import forget
    from eaglelint.analyser.program import run_project
    from eaglelint.analyser.sources import Code
    from eaglelint.facts import Facts
    from eaglelint.project import Source

    relevant, gate.relevant = gate.relevant, lambda data, path="": True
    times: list[tuple[float, str]] = []
    crashes = exhausted = 0
    start = time.perf_counter()
    files = list(_python(folder))
    for file in files:
        name = file.relative_to(folder).as_posix()
        begun = time.process_time()
        try:
            recorder, _ = run_project(Code([Source(f"engine/{name}", "python", file)]), Facts(), [], 36)
            exhausted += bool(recorder.exhausted)
        except Exception:
            crashes += 1
            if crashes <= show:
                print(f"{name}\n{traceback.format_exc(limit=-4)}")
        forget()
        times.append((time.process_time() - begun, name))
    gate.relevant = relevant
    print(
        f"alone: {len(files)} files, {crashes} crashes, {exhausted} out of steps, {time.perf_counter() - start:.0f} s, "
        f"{time.process_time():.0f} s of CPU, peak {memory():.0f} MB"
    )
    for seconds, name in sorted(times, reverse=True)[:show]:
        print(f"  {seconds:6.2f} s  {name}")
    return crashes


def whole(folder: Path) -> bool:
    """Read a whole tree as one project, through the gates, and print the time and the memory."""
    from eaglelint.guard import Guard
    from eaglelint.project import discover
    from eaglelint.reading import read
    from eaglelint.settings import Settings

    os.chdir(folder)
    guard = Guard()
    start = time.perf_counter()
    facts = read(discover(["."], settings=Settings()), Settings(), guard)
    seconds = time.perf_counter() - start
    for trace in guard.tracebacks:
        print(trace)
    print(f"whole: {len(guard.tracebacks)} crashes, {seconds:.0f} s, {time.process_time():.0f} s of CPU, ", end="")
    print(f"peak {memory():.0f} MB; ", end="")
    print(f"{len(facts.captures)} captures, {len(facts.assemblies)} assemblies, ", end="")
    print(f"{len(facts.unresolved)} unresolved, {len(facts.unreadable)} unreadable")
    return not guard.tracebacks and memory() < MEGABYTES


def _python(folder: Path) -> Iterator[Path]:
    yield from sorted(path for path in folder.rglob("*.py") if path.is_file())


def main() -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variants", type=int, default=0, help="number of generated programs")
    parser.add_argument("--literals", type=int, default=0, help="number of random string literals")
    parser.add_argument("--corpus", type=Path, nargs="+", default=[], help="folders with patch scripts")
    parser.add_argument(
        "--tree", type=Path, nargs="+", default=[], help="folders of which every Python file is analysed"
    )
    parser.add_argument("--whole", type=Path, help="a folder that is read as one project")
    parser.add_argument("--seed", type=int, default=1, help="of generated programs and literals (1)")
    parser.add_argument("--show", type=int, default=5, help="how many failures and slow files to print (5)")
    options = parser.parse_args()

    fine = True
    if options.variants:
        fine &= generated(options.variants, options.seed, options.show)
    if options.literals:
        fine &= literals(options.literals, options.seed)
    if options.corpus:
        fine &= fragments(options.corpus, options.show)
    for folder in options.tree:
        fine &= tree(folder.resolve(), options.show)
    if options.whole is not None:
        fine &= whole(options.whole.resolve())
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
