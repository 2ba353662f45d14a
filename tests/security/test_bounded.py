"""No file makes eaglelint hang or fills the memory; where something is given up, a finding says so."""

# ruff: noqa: E501 - lines of files that are only read, as strings

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from bounded_runs import Run, Runner, bounded

pytestmark = pytest.mark.skipif(os.name == "nt", reason="limits and processes of POSIX")
MIB = 1 << 20
IDS = '"architectures": ["LlamaForCausalLMEagle3"], "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 2, 3]}'
HEAD = """import torch
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
out = model(**batch, output_hidden_states=True)
"""
TAIL = '\ntorch.save({"aux_hidden_states": torch.cat([out.hidden_states[i] for i in [2, 18, 33]], -1)}, "x.pt")\n'
SERVE = "python -m sglang.launch_server --model-path a --speculative-algorithm EAGLE3 --speculative-draft-model-path b"
SHELL = "#!/bin/bash\n# sglang, EAGLE3\n"
LAUGHS = 'a0: &a0 ["x", "x", "x", "x", "x", "x", "x", "x", "x"]\n' + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20)
)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    made = Runner()
    yield made
    made.close()


def checked(runner: Runner, folder: Path, files: dict[str, str | bytes]) -> Run:
    """`eaglelint check` of a folder with these files, which stays in its bounds."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    run = runner.run(folder, "check", "--format", "json", "--isolated")
    bounded(run)
    return run


#: What is given up, with the words that say so.
REFUSED: dict[str, tuple[str, str | bytes, str]] = {
    "json-depth": ("config.json", "{" + IDS + ', "a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
    "json-values": ("config.json", "{" + IDS + ', "a": [' + "0," * (3 * MIB) + "0]}", "more than the 500,000 values"),
    "json-keys": (
        "config.json",
        "{" + IDS + "," + ",".join(f'"k{n}":[]' for n in range(300_000)) + "}",
        "500,000 values",
    ),
    "json-number": ("config.json", "{" + IDS + ', "hidden_size": ' + "9" * 100_000 + "}", "4300 digits"),
    "yaml-laughs": ("drafter.yaml", "aux_hidden_state_layer_ids: [1]\neagle3: true\n" + LAUGHS, "multiply too much"),
    "yaml-depth": ("drafter.yaml", "aux_hidden_state_layer_ids: [1]\neagle3: " + "[" * 100_000, "nesting depth"),
    "toml-depth": ("drafter.toml", "aux_hidden_state_layer_ids = [1]\neagle3 = " + "[" * 100_000, "nested too deeply"),
    "toml-key": (
        "drafter.toml",
        "aux_hidden_state_layer_ids = [1]\neagle3." + "a." * 100_000 + "b = 1\n",
        "too deeply",
    ),
    "python-brackets": ("dump.py", HEAD + "x = " + "(" * 10_000 + "1" + ")" * 10_000 + TAIL, "nests too deeply"),
    "python-operators": ("dump.py", HEAD + "x = " + "-" * 50_000 + "1" + TAIL, "nests too deeply"),
    "python-sum": ("dump.py", HEAD + "x = " + "+".join(["1"] * 100_000) + TAIL, "nests too deeply"),
    "python-elifs": ("dump.py", HEAD + "if a: pass\n" + "elif a: pass\n" * 5_000 + TAIL, "nests too deeply"),
    "shell-quotes": ("serve.sh", SHELL + '"$(' * 20_000 + "\n" + SERVE + "\n", "nested too deeply"),
    "shell-braces": (
        "serve.sh",
        SHELL + "echo " + "${a:-" * 5_000 + "b" + "}" * 5_000 + "\n" + SERVE,
        "nested too deeply",
    ),
    "notebook-depth": (
        "a.ipynb",
        '{"cells": [], "nbformat": 4, "hidden_states": "EAGLE3 with sglang.launch_server", "a": '
        + "[" * 100_000
        + "]" * 100_000
        + "}",
        "too deeply",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_given_up_is_said(runner: Runner, tmp_path: Path, case: str):
    name, content, words = REFUSED[case]
    run = checked(runner, tmp_path, {name: content})
    [finding] = [finding for finding in run.findings if finding["rule"] == "EGL001"]
    assert finding["path"] == name
    assert words in finding["message"]


def python(body: str) -> dict[str, str | bytes]:
    """A script that captures states, with something else on the way."""
    return {"dump.py": HEAD + body + TAIL}


def shell(body: str) -> dict[str, str | bytes]:
    """A script that starts a server with what became of a variable."""
    return {"serve.sh": f"{SHELL}{body}\n{SERVE} --x $A\n"}


BOMBS: dict[str, dict[str, str | bytes]] = {
    "ranges": python(
        "x = list(range(10**12))\nfor i in range(10**12): y = out.hidden_states[i]\nz = sum(range(10**12))\n"
        "a = [*range(10**12)]\nb, *c = range(10**12)\nd = {i for i in range(10**12)}\ne = sorted(range(10**12))\n"
        "f = list(zip(range(10**12), range(10**12)))\ng = dict.fromkeys(range(10**12))\nh = range(10**12)[::2]\n"
    ),
    "comprehensions": python(f"x = [1 {' '.join(f'for i{n} in range(99)' for n in range(12))}]\n"),
    "numbers": python("a = 9**9**9\nb = 1 << 10**10\nc = (2**100000)**100000\nd = int('9' * 10**6)\ne = pow(3, 10**9)\n"),
    "repeated": python("a = 'x' * 10**10\nb = [0] * 10**10\nc = (1,) * 10**10\nd = b'x' * 10**10\n"),
    "doubled": python(
        "a, b, c = [1], 'x', (1,)\nfor i in range(60):\n    a = a + a\n    b = b + b\n    c += c\n    b = f'{b}{b}'\n"
    ),
    "nested": python("x = [1]\nfor i in range(60):\n    x = [x, x]\nprint(f'{x}', str(x), '%s' % x, x == x)\n"),
    "itself": python("x = []\nx.append(x)\ny = {'x': x}\ny['y'] = y\nprint(f'{x} {y}')\nz = x == x\n"),
    "widths": python(
        "a = '%99999999999d' % 1\nb = f'{1:99999999999}'\nc = '{:>99999999999}'.format(1)\nd = '{:{}}'.format(1, 10**10)\n"
        "e = 'x'.ljust(10**10)\nf = '\\t'.expandtabs(10**10)\ng = '%*d' % (10**10, 1)\n"
    ),
    "replaced": python("x = 'a' * 9000\nfor i in range(9):\n    x = x.replace('a', x)\ny = x.join([x] * 900)\n"),
    "captured-for-ever": python("caps = []\nwhile True:\n    caps.append(out.hidden_states[2])\n"),
    "recursion": python("def f(x):\n    return f(x + 1) + f(x + 2)\nf(0)\ng = lambda h: h(h)\ng(g)\n"),
    "calls": python("def f0(x): return x\n" + "".join(f"def f{n}(x): return f{n - 1}(f{n - 1}(x))\n" for n in range(1, 40))
                    + "f39(out)\n"),
    "diamonds": python("class X0: pass\nclass Y0: pass\n" + "".join(
        f"class X{n}(X{n - 1}, Y{n - 1}): pass\nclass Y{n}(X{n - 1}, Y{n - 1}): pass\n" for n in range(1, 60)) + "X59().f()\n"),
    "itertools": python("import itertools\na = list(itertools.product(range(999), repeat=9))\nb = list(itertools.count())\n"
                        "for c in itertools.cycle([1]): d = list(itertools.permutations(range(50)))\n"),
    "generators": python("def g():\n    while True:\n        yield 1\na = list(g())\nb = sum(g())\n"),
    "regexes": python("import re\na = re.match(r'(a+)+$', 'a' * 60 + 'b')\nb = re.sub(r'(a|aa)+$', '', 'a' * 90 + 'b')\n"),
    "branches": python("i = 0\n" + "".join(f"if c{n}: i += {1 << n}\n" for n in range(60)) + "y = out.hidden_states[i]\n"),
    "functions": python("".join(f"def f{n}(m): return m.hidden_states[{n % 30}]\n" for n in range(1500))),
    "assignments": python("".join(f"x{n} = out.hidden_states[{n % 30}]\n" for n in range(1500))),
    "exec": python("s = 'exec(s)'\nexec(s)\n"),
    "line": python("x = '" + "a" * (4 * MIB) + "'\n"),
    "nul": {"dump.py": b"hidden_states eagle3" + bytes(4 * MIB)},
    "codec": {"dump.py": b"# coding: zlib_codec\nhidden_states\n", "b.py": b"# coding: punycode\nhidden_states\n"},
    "ids": {"config.json": '{"architectures": ["LlamaForCausalLMEagle3"], "eagle_config": '
            f'{{"eagle_aux_hidden_state_layer_ids": {list(range(50_000))}}}}}'},
    "entries": {"config.json": json.dumps({**json.loads("{" + IDS + "}"), **{f"k{n}": n for n in range(50_000)}})},
    "overridden": {"config.json": "{" + IDS + "," + '"a": 0,' * 50_000 + '"b": 0}'},
    "escapes": {"config.json": "{" + IDS + ', "a": "' + "\\n" * (3 * MIB) + '"}'},
    "shell-doubling": shell("A=xxxxxxxxxx\n" + "A=$A$A\n" * 30),
    "shell-words": shell('A=(x y)\n' + 'A=("${A[@]}" "${A[@]}")\n' * 60),
    "shell-replacing": shell("A=aaaaaaaaaa\n" + "A=${A//a/$A}\n" * 60),
    "shell-loops": shell("".join(f"for i{n} in 1 2 3 4 5 6 7 8 9; do\n" for n in range(12)) + SERVE + "\n" + "done\n" * 12),
    "shell-numbers": shell("for i in {1..1000000000}; do\n" + SERVE + "\ndone\n"),
    "shell-recursion": shell('f() { f "$@" "$@"; f "$@"; }\nf a\nsource ./serve.sh\nbash serve.sh'),
    "shell-calls": shell("".join(f"f{n}() {{ f{n + 1}; f{n + 1}; }}\n" for n in range(40)) + "f40() { :; }\nf0"),
    "shell-line": shell("x=" + "a" * 900_000),
    "shell-arguments": {"serve.sh": SERVE + " a" * 450_000},
    "starred": python("".join(f"x{n + 1} = [*x{n}, *x{n}]\n" if n else "x1 = [1]\n" for n in range(60))),
    "dockerfile": {"Dockerfile": "FROM lmsysorg/sglang:v0.5.1\nENV A=xxxxxxxxxx\n" + "ENV A=$A$A\n" * 60 + f"CMD {SERVE} --x $A\n"},
    "makefile": {"Makefile": "A = $(B)$(B)\nB = $(A)\nC0 = xx\n" + "".join(f"C{n} = $(C{n - 1})$(C{n - 1})\n" for n in range(1, 60))
                 + f"serve:\n\t{SERVE} $(A) $(C59)\n"},
    "diff": {"a.patch": "--- a/eagle3.py\n+++ b/eagle3.py\n@@ -999999999999,9 +1,999999999999 @@\n hidden_states\n+" + "b" * (2 * MIB)},
    "requirements": {"requirements.txt": "-r requirements.txt\nsglang==" + "1." * 50_000 + "1\nvllm" + "[a," * 50_000 + "\n"},
    "comments": python("# eaglelint: ignore[" + "EGL401," * 20_000 + "]\n" + "# eaglelint: ignore[EGL401]\n" * 4_000),
    "deployments": {"all.yaml": ("spec:\n  containers:\n  - image: vllm/vllm-openai:v0.11.0\n    args: [--speculative-config, "
                                 "'{\"method\": \"eagle3\"}']\n---\n") * 300},
    "markdown": {"README.md": "# EAGLE3, sglang\n" + "`" * (2 * MIB) + "\n" + "```sh\n" * 50_000},
}  # fmt: skip


@pytest.mark.parametrize("case", BOMBS)
def test_nothing_hangs_or_fills_the_memory(runner: Runner, tmp_path: Path, case: str):
    checked(runner, tmp_path, BOMBS[case])


def test_the_rest_of_a_project_is_checked_all_the_same(runner: Runner, tmp_path: Path):
    run = checked(runner, tmp_path, {
        "head/config.json": "{" + IDS + "}", "serve.sh": SERVE.replace("EAGLE3", "EAGLE").replace(" b", " head"),
        "other/config.json": REFUSED["json-depth"][1],
    })  # fmt: skip
    assert {finding["rule"] for finding in run.findings} >= {"EGL001", "EGL301"}


def test_what_is_no_regular_file_is_not_opened(runner: Runner, tmp_path: Path):
    (tmp_path / "real").mkdir()
    for name in ("dump.py", "config.json", ".gitignore", "eaglelint.toml", "pyproject.toml", "model.safetensors"):
        os.mkfifo(tmp_path / name)
        (tmp_path / "real" / name).symlink_to(Path("/dev/zero"))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "real" / "up").symlink_to(tmp_path)
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    (tmp_path / "head").mkdir()
    (tmp_path / "head" / "config.json").write_text("{" + IDS + "}")
    for command in ("check", "trace", "init --dry-run", "inspect head", "config"):
        run = runner.run(tmp_path, *command.split())
        assert run.status in (0, 1, 2), (command, run)
        assert "internal error" not in run.out + run.err
        assert run.seconds < 5


def test_a_file_of_a_gigabyte_is_said_and_not_read(runner: Runner, tmp_path: Path):
    for name in ("dump.py", "config.json", "a.yaml"):
        with (tmp_path / name).open("wb") as stream:
            stream.write(b"# hidden_states of EAGLE3\n")
            stream.truncate(1 << 30)
    (tmp_path / "head").mkdir()
    (tmp_path / "head" / "config.json").write_text("{" + IDS + "}")
    with (tmp_path / "head" / "model.safetensors").open("wb") as stream:
        stream.write(b"\xff" * 8)
        stream.truncate(1 << 30)
    run = runner.run(tmp_path, "check", "--format", "json", "--isolated")
    bounded(run)
    assert run.memory < 200
    assert run.said().count("more than the") == 3


def test_links_do_not_multiply_a_project(runner: Runner, tmp_path: Path):
    """Sixteen folders, each with two links to the next: 65,536 ways to the last."""
    for number in range(16):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in "ab":
            (folder / name).symlink_to(tmp_path / str(number + 1))
    (tmp_path / "16").mkdir()
    (tmp_path / "16" / "config.json").write_text("{" + IDS + "}")
    bounded(runner.run(tmp_path, "check", "--format", "json"))


def test_a_run_that_is_not_in_bounds_is_seen(runner: Runner, tmp_path: Path):
    """The bounds themselves: `completion` of no shell is no success, and a signal is seen."""
    with pytest.raises(AssertionError):
        bounded(runner.run(tmp_path, "completion", "no-shell"))
    with pytest.raises(AssertionError):
        bounded(Run(-signal.SIGXCPU, "", "", 25.0, 100))
