"""Scripts that a script sources: which file of the project that is, and its text. Nothing is run."""

from __future__ import annotations

import posixpath
import stat
from pathlib import Path

from eaglelint.location import MappedText
from eaglelint.readers.parameters import Scope
from eaglelint.readers.words import Word

#: The largest file that is read, in bytes; a library of shell functions is far smaller.
_LARGEST = 1 << 20


def sourced(word: Word, scope: Scope) -> tuple[str, MappedText] | None:
    """The path (as `Source.path`) and the text of the file that `source WORD` reads; None when that is not known.

    A name without the script's folder is looked for beside the script, and then where the script has gone to.
    """
    if not scope.folder or not scope.script or not word.known or word.assumed or word.content.startswith(("/", "~")):
        return None
    beside = posixpath.dirname(scope.script)
    here = scope.get("PWD", word.where)
    gone = here.single.content if here is not None and here.single is not None and here.single.known else "."
    names = [posixpath.join(beside, word.content), posixpath.join(gone, word.content)]
    if beside and posixpath.normpath(word.content).startswith(posixpath.normpath(beside) + "/"):
        names = [word.content]
    for name in map(posixpath.normpath, names):
        if name.split("/").count("..") > scope.script.split("/").count(".."):
            continue  # outside of what the script is part of
        text = _read(Path(scope.folder) / name)
        if text is not None:
            return name, MappedText.whole(name, text)
    return None


def _read(file: Path) -> str | None:
    try:
        status = file.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return None
        return file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return None
