"""What is left out of a project: `.gitignore` files as git reads them, and folders that are never a project's own."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from eaglelint.opening import open_regular

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

#: Folders that hold other people's code, caches or a version control's own files; read only when they are named.
NEVER_OWN = frozenset(
    {
        *(".git", ".hg", ".svn", ".jj"),
        *(".venv", "site-packages", "node_modules", "__pycache__", "__pypackages__", ".eggs", ".tox", ".nox", ".pixi"),
        *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".ipynb_checkpoints", ".eaglelint_cache"),
    }
)
#: A longer .gitignore is no list that a person keeps.
_LONGEST = 1 << 20


class Ignores(NamedTuple):
    """The `.gitignore` files that count in a folder: (absolute folder, its patterns), from the outermost inwards."""

    specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def inside(self, folder: str) -> Ignores:
        """These, with the `.gitignore` of `folder` itself if it has one."""
        spec = _read(os.path.join(folder, ".gitignore"))
        return self if spec is None else Ignores((*self.specs, (folder, spec)))

    def ignores(self, path: str, is_folder: bool) -> bool:
        """Whether an absolute path is ignored; the innermost file that says anything decides, as in git."""
        for folder, spec in reversed(self.specs):
            relative = path[len(folder) :].lstrip(os.sep).replace(os.sep, "/")
            said = spec.check_file(relative + "/" if is_folder else relative).include
            if said is not None:
                return said
        return False


def ignores_above(folder: str, root: str) -> Ignores:
    """The `.gitignore` files of the repository that `folder` lies in, down to (without) the folder itself.

    Outside a repository they are those from `root` on. None of them counts when they ignore the folder: who names an
    ignored folder wants to see inside.
    """
    chain = [folder]
    while os.path.dirname(chain[-1]) != chain[-1]:
        chain.append(os.path.dirname(chain[-1]))
    top = next((place for place in chain if os.path.exists(os.path.join(place, ".git"))), root)
    if top not in chain:
        return Ignores()
    above = chain[1 : chain.index(top) + 1]
    ignores = Ignores()
    for outer in reversed(above):
        if ignores.ignores(outer, True):
            return Ignores()
        ignores = ignores.inside(outer)
    return Ignores() if ignores.ignores(folder, True) else ignores


def _read(file: str) -> GitIgnoreSpec | None:
    try:
        with open_regular(file, links=False) as stream:  # as a link it means nothing to git either
            text = stream.read(_LONGEST).decode("utf-8", "replace")
        return patterns(re.split(r"\r\n|\r|\n", text))
    except OSError:
        return None


def patterns(lines: Sequence[str]) -> GitIgnoreSpec:
    """Patterns as in a `.gitignore`; lines that are none are left out, as git does."""
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
