"""Which kind of source a file is, by its name and, for names without an ending, by its `#!` line."""

from __future__ import annotations

import re
from posixpath import basename, dirname

_ENDINGS = {
    **dict.fromkeys((".py", ".pyw"), "python"),
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh"), "shell"),
    # Batch scripts are shell scripts whose first comments speak to a scheduler.
    **dict.fromkeys((".slurm", ".sbatch", ".pbs", ".qsub", ".lsf"), "shell"),
    ".json": "json",
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    ".toml": "toml",
    **dict.fromkeys((".patch", ".diff"), "patch"),
    ".ipynb": "notebook",
    **dict.fromkeys((".md", ".markdown"), "markdown"),
    ".mk": "makefile",
    ".service": "systemd",
    ".env": "text",
    **dict.fromkeys((".dockerfile", ".containerfile"), "dockerfile"),
    **dict.fromkeys((".safetensors", ".pt", ".pth", ".bin", ".npy", ".npz", ".gguf", ".ckpt", ".pkl"), "binary"),
}
_NAMES = {
    **dict.fromkeys(("makefile", "gnumakefile"), "makefile"),
    **dict.fromkeys(("uv.lock", "poetry.lock", "pdm.lock", "pipfile"), "toml"),
    "pipfile.lock": "json",
    **dict.fromkeys(("setup.cfg", ".env"), "text"),
    # Large, in nearly every checkpoint, and nothing in them says how a drafter is fed.
    **dict.fromkeys(("tokenizer.json", "vocab.json", "tokenizer_config.json", "package-lock.json"), ""),
}
#: JSON with comments, of editors and compilers: no reader that matters here accepts it, and none of it is ours.
_COMMENTED = re.compile(r"(?:.*/)?(?:\.vscode/[^/]+|(?:devcontainer|[tj]sconfig(?:\.[^/]*)?)\.json)")
_DOCKERFILE = re.compile(r"(?:docker|container)file(?:[._-](?!(?:.*\.)?(?:md|py|txt|json|ya?ml|sh|dockerignore)$).+)?")
_REQUIREMENTS = re.compile(r"(?:.*[-_.])?(?:requirements?|constraints?)(?:[-_.].*)?\.(?:txt|in|pip|lock)")
_REQUIREMENT_FOLDERS = {"requirements", "requirement", "reqs", "constraints"}
_INTERPRETER = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+)*(?:\w+=\S*\s+)*)?([\w.+-]+)([^\n]*)")


def kind_of(path: str) -> str | None:
    """The kind of a file from its path (forward slashes); None for a kind that nothing is read from.

    "" stands for a name without an ending whose first line must tell (see `kind_of_script`).
    """
    name = basename(path).lower()
    if _COMMENTED.fullmatch(path):
        return None
    if name in _NAMES:
        return _NAMES[name] or None
    if _DOCKERFILE.fullmatch(name):
        return "dockerfile"
    if name.startswith(".env."):
        return "text"
    if _REQUIREMENTS.fullmatch(name):
        return "requirements"
    if name.endswith((".txt", ".in")):
        return "requirements" if basename(dirname(path)).lower() in _REQUIREMENT_FOLDERS else None
    dot = name.rfind(".")
    if dot > 0:
        return _ENDINGS.get(name[dot:])
    return None if dot == 0 else ""


def kind_of_script(head: bytes) -> str | None:
    """The kind of a script from the first bytes of its file; None without a `#!` line that names a known language."""
    found = _INTERPRETER.match(head)
    if found is None:
        return None
    program = found[1].decode("ascii", "replace")
    if re.fullmatch(r"(?:python|pypy)[\d.]*", program) or (program == "uv" and b" run" in found[2]):
        return "python"
    return "shell" if program in {"sh", "bash", "dash", "zsh", "ksh", "ash"} else None
