"""A project in which everything that could run is planted: each piece leaves a file behind when it does."""

from __future__ import annotations

import json
import pickle
import subprocess
import zipfile
from pathlib import Path

#: The modules that eaglelint or Python import while a command runs; a tree has one of each name, that does harm.
NAMES = (
    *("json", "yaml", "click", "pydantic", "jsonschema", "packaging", "pathspec", "tomllib", "tomli", "typing", "os"),
    *("dataclasses", "enum", "functools", "importlib", "inspect", "logging", "re", "random", "site", "subprocess"),
    *("tokenize", "traceback", "types", "warnings", "string", "textwrap", "token", "torch", "transformers", "sglang"),
    *("_yaml", "rpds", "referencing", "attr", "pygls", "sitecustomize", "usercustomize", "conftest", "setup", "runpy"),
)
FOLDERS = ("libcst", "tree_sitter", "tree_sitter_bash", "annotated_types", "pydantic_core", "typing_extensions", "vllm")
#: Python that leaves a file. It is what every planted module says first.
MARK = "open({path!r}, 'a').write({name!r} + chr(10))  # planted\n"

CONFIG = {
    "architectures": ["LlamaForCausalLMEagle3"], "hidden_size": 4096, "vocab_size": 151936, "draft_vocab_size": 32000,
    "eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 18, 33], "use_aux_hidden_state": True},
    "auto_map": {"AutoModel": "planted.Model"},
}  # fmt: skip
DUMP = """
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B", trust_remote_code=True)


def dump(batch, path):
    states = model(**batch, output_hidden_states=True).hidden_states
    embed, middle, late = states[3], states[18], states[33]
    torch.save({"aux_hidden_states": torch.cat([embed, middle, late], dim=-1)}, path)
"""
SERVE = """#!/usr/bin/env bash
export X=$(touch {marks}/substitution) Y=`touch {marks}/backticks` Z=${{Q:=$(touch {marks}/default)}}
eval "touch {marks}/eval"; source ./env.sh; trap 'touch {marks}/trap' EXIT
diff <(touch {marks}/process) /dev/null
python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --speculative-algorithm EAGLE \\
  --speculative-draft-model-path ./head --port $(touch {marks}/port; echo 1)
python3 - <<PY
{mark}{dump}
PY
"""


class Bomb:
    """What runs a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> object:
        import os

        return os.system, (self.command,)


def plant(tree: Path, marks: Path) -> None:
    """Write the project into `tree`; what runs leaves a file in `marks`, which lies outside."""
    marks.mkdir()

    def mark(name: str) -> str:
        return MARK.format(path=str(marks / name), name=name)

    def write(path: str, text: str | bytes) -> Path:
        file = tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    for name in NAMES:
        write(f"{name}.py", mark(f"module-{name}"))
    for name in FOLDERS:
        write(f"{name}/__init__.py", mark(f"package-{name}"))
    write("planted.py", mark("remote-code"))
    write("planted.pth", f"import os; os.system('touch {marks}/pth')\n")
    write("planted-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    points = "".join(f"[{group}]\nplanted = planted:Model\n" for group in ("pydantic", "eaglelint", "pytest11"))
    write("planted-1.0.dist-info/entry_points.txt", points)
    write("pyproject.toml", '[project]\nname = "x"\n[build-system]\nrequires = []\nbuild-backend = "planted"\n')
    write("head/config.json", json.dumps(CONFIG, indent=2))
    write("head/planted.py", mark("remote-code-of-the-head"))
    bomb = Bomb(f"touch {marks}/pickle")
    write("head/pytorch_model.bin", pickle.dumps({"fc.weight": bomb}))
    write("data/states.pt", pickle.dumps([bomb]))
    head = b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n"
    write("data/d2t.npy", head + pickle.dumps(bomb))
    with zipfile.ZipFile(tree / "data" / "zipped.pt", "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(bomb))

    def inside(name: str) -> str:
        return mark(name).partition("  #")[0]

    decorated = f"@(lambda f: [f, {inside('decorator')}][0])\ndef g(x={inside('default')}): ...\n"
    cls = f"class C(metaclass=lambda *a: {inside('class')}): ...\n"
    called = f'exec({mark("exec")!r})\neval(\'__import__("os").system("touch {marks}/eval-python")\')\n'
    write("dump.py", mark("dump") + decorated + cls + DUMP + called)
    write("serve.sh", SERVE.format(marks=marks, mark=mark("heredoc"), dump=DUMP)).chmod(0o755)
    write("env.sh", f"touch {marks}/sourced\n")
    vllm = """python3 -m vllm.entrypoints.api_server --speculative-config '{"method": "eagle3"}'"""
    write("Makefile", f"X := $(shell touch {marks}/make)\nserve:\n\t@touch {marks}/recipe; {vllm}\n")
    apply = f'!!python/object/apply:os.system ["touch {marks}/yaml"]'
    write("recipe.yaml", f"eagle3: {apply}\nrun: !!python/name:os.system x\neagle_aux_hidden_state_layer_ids: [1, 2]\n")
    write(".pre-commit-config.yaml", f"repos: {apply}\n")
    code = [mark("notebook"), f"!touch {marks}/shell\n", f"%run {marks}\n", DUMP]
    cells = [{"cell_type": "code", "metadata": {}, "source": code}]
    write("book.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    write("Dockerfile", f"FROM lmsysorg/sglang:v0.5.1\nRUN touch {marks}/docker\nCMD bash serve.sh\n")
    where = "http://127.0.0.1:9/"
    write("requirements.txt", f"sglang==0.5.1\n-e .\n--extra-index-url {where}\nvllm @ {where}vllm.whl\n")
    write("models/engine/python/sglang/srt/models/llama.py", mark("engine"))


def repository(tree: Path, marks: Path) -> str:
    """Make a repository of the tree, whose configuration names programs for everything; returns its first commit."""

    def git(*words: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null", *words]
        return subprocess.run(command, cwd=tree, check=True, capture_output=True, encoding="utf-8").stdout.strip()

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "first")
    first = git("rev-parse", "HEAD")
    dump = tree / "dump.py"
    dump.write_text(dump.read_text() + "x = 1\n")
    touch = f"touch {marks}/git"
    hook = tree / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    for name in ("post-index-change", "post-checkout", "pre-commit", "fsmonitor-watchman", "reference-transaction"):
        hook.with_name(name).write_text(f"#!/bin/sh\n{touch}-hook-{name}\n")
        hook.with_name(name).chmod(0o755)
    (tree / ".gitattributes").write_text("* filter=x diff=x merge=x text=auto\n")
    programs = (
        *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy"),
        *("filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.command", "diff.x.textconv"),
        *("diff.external", "gpg.program", "uploadpack.packObjectsHook"),
    )
    settings = {
        **{name: f"{touch}-{name}" for name in programs},
        "core.hooksPath": ".git/hooks", "credential.helper": f"!{touch}-credential",
        "alias.rev-parse": f"!{touch}-alias",
        "log.showSignature": "true", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{touch}-fetch", "protocol.ext.allow": "always",
    }  # fmt: skip
    for name, value in settings.items():
        git("config", name, value)
    return first
