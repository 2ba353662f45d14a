"""Files are replaced whole: at every moment there is the old one or the new one, whatever happens in between."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path


def write(path: str | Path, data: bytes) -> None:
    """Put `data` in the place of a file, with its permissions; a symbolic link stays one. Raises OSError."""
    real = os.path.realpath(path)
    folder, name = os.path.split(real)
    try:
        mode: int | None = stat.S_IMODE(os.stat(real).st_mode)
    except FileNotFoundError:
        mode = None
    if mode is not None and not os.access(real, os.W_OK):
        raise PermissionError(13, "the file is write-protected", str(path))
    handle, temporary = tempfile.mkstemp(prefix=f".{name[:40]}.", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode if mode is not None else 0o666 & ~_umask())
        os.replace(temporary, real)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    """The process's mask of permissions; it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
