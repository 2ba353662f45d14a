"""pathlib, os.path, glob and open files: names of files with the parts that are not known left as holes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eaglelint.analyser import patches
from eaglelint.analyser.file_values import FileHandle, Files, PathV
from eaglelint.analyser.strings import as_text
from eaglelint.analyser.values import HOLE, Unknown, V, note_of

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter


def joined(parts: list[V]) -> str:
    """Path parts put together as os.path.join does."""
    text = ""
    for part in parts:
        piece = as_text(part)
        if piece.startswith("/") or not text:
            text = piece
        else:
            text = f"{text.rstrip('/')}/{piece}"
    return text


def path(run: Interpreter, site: CallSite) -> V:
    """pathlib.Path(...)"""
    return PathV(joined(site.args) if site.args else ".", note_of(*site.args))


def join(run: Interpreter, site: CallSite) -> V:
    """os.path.join(...)"""
    return joined(site.args) if not site.splat else HOLE


def method(run: Interpreter, owner: PathV | Files, name: str, site: CallSite) -> V:
    """A method of a path."""
    if isinstance(owner, Files):
        return owner
    text = owner.text
    if name in ("joinpath", "__truediv__"):
        return PathV(joined([text, *site.args]), owner.note)
    if name in ("glob", "rglob"):
        return Files(joined([text, as_text(site.get(0, "pattern"))]))
    if name == "iterdir":
        return Files(f"{text}/{HOLE}")
    if name in ("read_text", "read_bytes"):
        return patches.read(run, owner, site)
    if name in ("write_text", "write_bytes"):
        patches.written(run, owner, site.get(0, "data"), site)
        return None
    if name == "open":
        mode = site.get(0, "mode", "r")
        return FileHandle(owner, mode if isinstance(mode, str) else "r")
    if name in ("resolve", "absolute", "expanduser", "as_posix", "__str__", "__fspath__", "relative_to"):
        return owner if name not in ("as_posix", "__str__", "__fspath__") else text
    if name in ("with_suffix", "with_name", "with_stem"):
        folder, _, last = text.rpartition("/")
        new = as_text(site.get(0, "name"))
        if name == "with_suffix":
            new = last.rsplit(".", 1)[0] + new
        elif name == "with_stem" and "." in last:
            new = f"{new}.{last.rsplit('.', 1)[1]}"
        return PathV(f"{folder}/{new}" if folder else new, owner.note)
    if name in ("mkdir", "unlink", "touch", "rename", "replace", "chmod"):
        return None
    return Unknown(name)


def handle_method(run: Interpreter, owner: FileHandle, name: str, site: CallSite) -> V:
    """A method of an open file."""
    if name == "read":
        return patches.read(run, owner.path, site)
    if name in ("write", "writelines"):
        patches.written(run, owner.path, site.get(0, "text"), site)
        return None
    if name in ("readlines", "readline"):
        return Unknown("lines")
    return owner if name == "__enter__" else None


def listing(run: Interpreter, site: CallSite) -> V:
    """os.listdir(folder), os.scandir(folder)"""
    return Files(f"{as_text(site.get(0, 'path', '.'))}/{HOLE}", bare=True)


def glob(run: Interpreter, site: CallSite) -> V:
    """glob.glob(pattern)"""
    return Files(as_text(site.get(0, "pathname")))


def part(which: str) -> Any:
    """os.path.basename, os.path.dirname, os.path.splitext"""

    def take(run: Interpreter, site: CallSite) -> V:
        text = as_text(site.get(0, "p"))
        if which == "basename":
            return text.rsplit("/", 1)[-1]
        if which == "dirname":
            return text.rsplit("/", 1)[0] if "/" in text else ""
        base, dot, ending = text.rpartition(".")
        return (base, dot + ending) if dot else (text, "")

    return take


def same(run: Interpreter, site: CallSite) -> V:
    """os.path.abspath and the like: the same path."""
    value = site.get(0, "path")
    return value if isinstance(value, str | PathV) else HOLE


FUNCTIONS: dict[str, Any] = {
    "pathlib.Path": path,
    "pathlib.PurePath": path,
    "pathlib.PosixPath": path,
    "os.path.join": join,
    "os.listdir": listing,
    "os.scandir": listing,
    "glob.glob": glob,
    "glob.iglob": glob,
    "os.path.basename": part("basename"),
    "os.path.dirname": part("dirname"),
    "os.path.splitext": part("splitext"),
    "os.path.abspath": same,
    "os.path.expanduser": same,
    "os.path.realpath": same,
    "os.path.normpath": same,
    "os.fspath": same,
    "os.makedirs": lambda run, site: None,
    "pathlib.Path.cwd": lambda run, site: PathV("."),
    "pathlib.Path.home": lambda run, site: PathV(HOLE),
}
