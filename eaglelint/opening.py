"""Files are opened only when they are regular: a pipe would keep the reader waiting, a device may have no end."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

#: Opening a pipe must not wait for its other end. Windows has no such flag and no such files in folders.
_FLAGS = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))


def open_regular(path: str | os.PathLike[str], *, links: bool = True) -> BinaryIO:
    """A regular file to read from; raises OSError for what is none, and for a symbolic link unless `links`."""
    handle = os.open(path, _FLAGS | (0 if links else getattr(os, "O_NOFOLLOW", 0)))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: str | os.PathLike[str], limit: int, *, links: bool = True) -> bytes:
    """The bytes of a regular file of at most `limit` bytes; raises OSError for another, and for a larger one."""
    with open_regular(path, links=links) as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"larger than the {limit >> 20} MiB that are read")
    return data
