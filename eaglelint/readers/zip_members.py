"""The directory of a zip archive, and where the bytes of its members stand in the file.

Only the directory is read, and only within bounds: `zipfile` would read all that the archive announces.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

from eaglelint.readers.parts import Broken, Parts

_LARGEST_DIRECTORY = 16 << 20
_MOST_MEMBERS = 100_000
_STORED, _DEFLATED = 0, 8
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_FULL = 0xFFFFFFFF


class Member(NamedTuple):
    """A member of an archive: `stored` when its bytes stand in the file as they are, `header` where its head begins."""

    name: str
    stored: bool
    packed: int
    size: int
    header: int


def members(parts: Parts) -> dict[str, Member]:
    """The members by name, in their order. Raises Broken for what is no whole archive."""
    start, length, count = _directory(parts)
    if length > _LARGEST_DIRECTORY or count > _MOST_MEMBERS:
        raise Broken("a zip archive with a directory that is too large to be true")
    data = parts.at(start, length)
    found: dict[str, Member] = {}
    at = 0
    for _ in range(count):
        if at + _ENTRY.size > len(data):
            raise Broken("the directory of the zip archive breaks off")
        sign, _, _, flags, method, _, _, _, packed, size, n, m, k, _, _, _, header = _ENTRY.unpack_from(data, at)
        if sign != b"PK\1\2":
            raise Broken("the directory of the zip archive is damaged")
        at += _ENTRY.size
        name = data[at : at + n].decode("utf-8", "replace")
        packed, size, header = _extended(data[at + n : at + n + m], packed, size, header)
        at += n + m + k
        if method in (_STORED, _DEFLATED) and not flags & 1:
            found[name] = Member(name, method == _STORED, packed, size, header)
    return found


def start_of(parts: Parts, member: Member) -> int:
    """The byte of the file at which the bytes of a member begin."""
    head = _LOCAL.unpack(parts.at(member.header, _LOCAL.size))
    if head[0] != b"PK\3\4":
        raise Broken(f"the member {member.name[:80]!r} of the zip archive is damaged")
    start: int = member.header + _LOCAL.size + head[-2] + head[-1]
    if start + member.packed > parts.size:
        raise Broken("it ends in the middle")
    return start


def content(parts: Parts, member: Member, most: int, *, whole: bool = True) -> bytes:
    """The bytes of a member, at most `most` of them; raises Broken when it has more and `whole` is asked for."""
    if whole and (member.size > most or (member.stored and member.packed > most)):
        raise Broken(f"its member {member.name[:80]!r} of {member.size} bytes is larger than the {most} that are read")
    start = start_of(parts, member)
    if member.stored:
        return parts.head(start, min(member.packed, most))
    unpacker = zlib.decompressobj(-15)
    data, at, step = b"", start, 1 << 16
    try:
        while len(data) < most and at < start + member.packed and not unpacker.eof:
            piece = unpacker.unconsumed_tail or parts.head(at, min(step, start + member.packed - at))
            at += 0 if unpacker.unconsumed_tail else len(piece)
            data += unpacker.decompress(piece, most - len(data))
    except zlib.error:
        raise Broken(f"its member {member.name[:80]!r} can not be decompressed") from None
    return data


def _directory(parts: Parts) -> tuple[int, int, int]:
    """Where the directory begins, how long it is, and how many members it lists."""
    tail_start = max(0, parts.size - _END.size - 0xFFFF)
    tail = parts.head(tail_start, parts.size)
    at = tail.rfind(b"PK\5\6")
    if at < 0 or at + _END.size > len(tail):
        raise Broken("the zip archive breaks off: it has no directory")
    _, _, _, _, count, length, start, _ = _END.unpack_from(tail, at)
    end = tail_start + at
    if start == _FULL or length == _FULL or count == 0xFFFF:
        sign, _, place, _ = _LOCATOR_64.unpack(parts.at(end - _LOCATOR_64.size, _LOCATOR_64.size))
        if sign == b"PK\6\7":
            values = _END_64.unpack(parts.at(place, _END_64.size))
            if values[0] != b"PK\6\6":
                raise Broken("the directory of the zip archive is damaged")
            count, length, start = values[-3], values[-2], values[-1]
    return start, length, count


def _extended(extra: bytes, packed: int, size: int, header: int) -> tuple[int, int, int]:
    """The sizes and the place of a member, from its extra field where they do not fit into 32 bits."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        field = extra[at + 4 : at + 4 + length]
        if kind == 1:
            numbers = list(struct.unpack_from(f"<{len(field) // 8}Q", field))
            size = numbers.pop(0) if size == _FULL and numbers else size
            packed = numbers.pop(0) if packed == _FULL and numbers else packed
            header = numbers.pop(0) if header == _FULL and numbers else header
        at += 4 + length
    return packed, size, header
