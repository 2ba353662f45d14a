"""The files that a project needs to be checked from now on, filled with what can be told from the project itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from eaglelint import __version__
from eaglelint.errors import UnreadableError
from eaglelint.linking.records import title
from eaglelint.location import MappedText
from eaglelint.opening import read_regular
from eaglelint.pipeline import Pipeline
from eaglelint.readers.documents import read_yaml
from eaglelint.report.excerpt import visible

#: The largest file of a project that is added to or looked into, in bytes.
_LARGEST = 8 << 20

WORKFLOW = f"""\
name: eaglelint
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  eaglelint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
        with:
          persist-credentials: false
      - uses: actions/setup-python@v6
        with:
          python-version: "3.12"
      - run: pip install eaglelint=={__version__}
      - run: eaglelint check --format github
"""
HOOK = f"""\
- repo: local
  hooks:
    - id: eaglelint
      name: eaglelint
      entry: eaglelint check
      language: python
      additional_dependencies: ["eaglelint=={__version__}"]
      pass_filenames: false  # the contract is between files: the whole project is read
"""


class Proposal(NamedTuple):
    """A file to write: `text` is all of it, `added` the part that is new when the file is there already.

    `reason` says why nothing is proposed; `text` is "" then.
    """

    path: str
    text: str
    added: str = ""
    reason: str = ""


def proposals(folder: Path, pipelines: Sequence[Pipeline]) -> Iterator[Proposal]:
    """What would be written into a folder, the configuration first."""
    yield _configuration(folder, pipelines)
    yield _hook(folder)
    path = ".github/workflows/eaglelint.yml"
    yield Proposal(path, "", reason="it is there already") if (folder / path).exists() else Proposal(path, WORKFLOW)


def _configuration(folder: Path, pipelines: Sequence[Pipeline]) -> Proposal:
    """`eaglelint.toml`, with what no file of the project says as comments to fill in."""
    path = "eaglelint.toml"
    if (folder / path).exists():
        return Proposal(path, "", reason="it is there already")
    project = folder / "pyproject.toml"
    if project.is_file() and b"[tool.eaglelint" in read_regular(project, _LARGEST):
        return Proposal(path, "", reason="pyproject.toml has [tool.eaglelint]")
    lines = [
        "# What no file of the project says. `eaglelint config` shows what holds.",
    ]
    unpinned = sorted({s.engine for p in pipelines for s in p.servers if not s.release.specifier and s.engine})
    if unpinned:
        lines += ["", "# The release that is in use; no file pins one.", "[engines]"]
        lines += [f'# {engine} = "X.Y.Z"  # {title(engine)}' for engine in unpinned]
    heads = [p for p in pipelines if p.drafter is not None and not p.template]
    if any(p.training is None for p in heads):
        lines += [
            "",
            "# Where the states come from that a drafter was trained on, when the code is here but was not found.",
        ]
        for pipeline in (p for p in heads if p.training is None):
            lines += [
                "# [[pipeline]]",
                f'# drafter = "{visible(pipeline.name) or "."}"', '# capture = ["path/of/the/dump.py"]',
                '# training = ["path/of/the/trainer.py"]',
            ]  # fmt: skip
    lines += ["", "# Accepted findings, in a file without comments such as JSON.", "# [[exceptions]]"]
    lines += ['# path = "drafter/config.json"', '# rule = "EGL401"', '# reason = "..."']
    return Proposal(path, "\n".join(lines) + "\n")


def _hook(folder: Path) -> Proposal:
    """The hook, in a new `.pre-commit-config.yaml` or at the end of the one that is there."""
    path = ".pre-commit-config.yaml"
    file = folder / path
    if not file.exists():
        return Proposal(path, f"repos:\n{_indented(HOOK, 2)}")
    try:
        text = read_regular(file, _LARGEST).decode()
        before = _yaml(text)
    except (OSError, ValueError, UnreadableError):
        return Proposal(path, "", reason="it can not be read")
    if "eaglelint" in text:
        return Proposal(path, "", reason="it has the hook already")
    repos = before.get("repos") if isinstance(before, dict) else None
    first = next((line for line in text.splitlines() if line.lstrip().startswith("- repo:")), "")
    added = _indented(HOOK, len(first) - len(first.lstrip()))
    made = text + ("" if text.endswith("\n") else "\n") + added
    try:
        after = _yaml(made)
    except UnreadableError:
        after = None
    wanted = [*repos, *_yaml(HOOK)] if isinstance(repos, list) else None
    if not isinstance(after, dict) or wanted is None or after != {**before, "repos": wanted}:
        return Proposal(path, "", added, "its repos are not at its end: add the hook by hand")
    return Proposal(path, made, added)


def _yaml(text: str) -> Any:
    """The value of a YAML text, None for an empty one; raises UnreadableError, also for aliases that multiply."""
    found = read_yaml(MappedText.whole(".pre-commit-config.yaml", text))
    return found[0].value if len(found) == 1 else None


def _indented(text: str, spaces: int) -> str:
    return "".join(f"{' ' * spaces}{line}" for line in text.splitlines(keepends=True))
