"""`sitecustomize` of a watched interpreter: every event of Python's audit hooks that must not happen is written down.

$WATCH_LOG is the file that they are written to, $WATCH_TREE the folder that is looked at, $WATCH_WRITES the folders
(with `:` between them) that may be written to, $WATCH_GIT the only program that may be started.
"""

from __future__ import annotations

import os
import sys

LOG = os.open(os.environ["WATCH_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
TREE = os.path.realpath(os.environ["WATCH_TREE"])
WRITES = tuple(filter(None, os.environ.get("WATCH_WRITES", "").split(":")))
GIT = os.environ.get("WATCH_GIT", "")
#: What nothing that reads needs.
NEVER = (
    *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.startfile", "pty.spawn"),
    *("socket.", "urllib.", "http.client", "ftplib", "smtplib", "poplib", "imaplib", "nntplib", "webbrowser."),
    *("pickle.find_class", "code.__new__", "builtins.input", "os.kill", "os.putenv", "signal.pthread_kill"),
    *("sqlite3.", "ctypes.dlopen", "mmap.__new__", "winreg.", "os.setxattr", "os.chown", "os.lchown"),
)
#: What changes the file system; the arguments that are paths are looked at.
CHANGES = (
    *("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.utime"),
    "shutil.",
)


def _path(value: object) -> str:
    return os.path.realpath(os.fsdecode(value)) if isinstance(value, str | bytes | os.PathLike) else ""


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _may_write(path: str) -> bool:
    return path == "/dev/null" or any(_inside(path, os.path.realpath(folder)) for folder in WRITES)


def _planted(code: object) -> bool:
    """Whether a code object is of the tree, or a part of it."""
    file = getattr(code, "co_filename", "")
    if file[:1] not in ("<", ""):
        return _inside(os.path.realpath(file), TREE)
    return "planted" in repr(getattr(code, "co_consts", ""))


def _wrong(event: str, arguments: tuple[object, ...]) -> bool:
    if event.startswith(NEVER):
        return True
    if event == "exec":
        return _planted(arguments[0])
    if event == "import":
        return isinstance(arguments[1], str) and _inside(_path(arguments[1]), TREE)
    if event == "subprocess.Popen":
        return not GIT or arguments[0] != GIT
    if event == "open":
        path, _, flags = arguments
        if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND):
            return False
        return not isinstance(path, int) and not _may_write(_path(path))
    if event.startswith(CHANGES):
        return not all(_may_write(_path(a)) for a in arguments if isinstance(a, str | bytes))
    return False


_busy = False


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    global _busy
    if _busy:
        return
    _busy = True
    try:
        if _wrong(event, arguments):
            os.write(LOG, f"{event} {arguments!r}"[:500].replace("\n", " ").encode("utf-8", "replace") + b"\n")
            if event.startswith("socket."):
                raise RuntimeError("there is no network here")
    finally:
        _busy = False


sys.addaudithook(_hook)
