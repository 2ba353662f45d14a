"""Damaged and hostile files of tensors: none may crash a reader, run anything, fill the memory or take a second.

    python benchmarks/hostile_files.py --files 100000

Whole files of each format are damaged at random (bytes, numbers, opcodes, pieces moved or cut off) and read. An audit
hook sees whether anything is imported, opened, run or unpickled meanwhile. Then come files that are made to fill the
memory or to take for ever, each in a process of its own. The exit status is 1 when a limit is passed.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import pickle
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import tensor_files as files  # noqa: E402
from tensor_files import Call, Name  # noqa: E402

from eaglelint.errors import UnreadableError  # noqa: E402
from eaglelint.project import Source  # noqa: E402
from eaglelint.readers.checkpoint import read_checkpoint, read_index  # noqa: E402

#: What must not happen while a file is read, by the names of audit events.
FORBIDDEN = ("import", "exec", "compile", "open", "os.", "subprocess.", "socket.", "pickle.find_class", "ctypes.")
LONGEST_SECONDS = 1.0
MOST_MEMORY = 64 << 20

HEAD = {
    "fc.weight": ("BF16", [8, 24]), "midlayer.self_attn.q_proj.weight": ("BF16", [8, 16]), "norm.weight": ("F32", [8]),
    "lm_head.weight": ("F16", [4, 8]), "d2t": ("I64", [4], [0, 0, 1, 9]), "t2d": ("BOOL", [16]),
}  # fmt: skip
EVIL = {"x": Call(Name("os", "system"), ("touch eaglelint-was-here",)), "fc": files.rebuilt("0", ("F32", [2]))}
OPCODES = bytes((*b"(.012FIJKLMNPQRSTUVX]abcdeghijlopqrstu}", *range(0x80, 0x99)))
SPLICES = (b"[" * 300, b'{"a":' * 100, b"(" * 300, b'"', b"\\u0000", b"]" * 500, b"\x86" * 99)
NUMBERS = (0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1)


def seeds() -> list[tuple[str, bytes]]:
    """Whole files of each format, and pickles that would do harm."""
    return [
        ("m.safetensors", files.safetensors(HEAD, {"format": "pt"})),
        ("m.bin", files.torch_file(HEAD)),
        ("m.bin", files.torch_file(HEAD, compressed=True)),
        ("m.pt", files.torch_stream(HEAD)),
        ("m.pt", files.torch_zip(EVIL, {"0": bytes(8)})),
        ("m.pkl", pickle.dumps({"a": [1, "b", (2.5, None)], "c": {"d": b"e" * 40}}, protocol=4)),
        ("m.pkl", files.pickled(EVIL)),
        ("d2t.npy", files.npy(HEAD["d2t"])),
        ("m.npz", files.npz({"d2t": HEAD["d2t"], "t2d": HEAD["t2d"]}, compressed=True)),
        ("m.gguf", files.gguf({"general.architecture": "eagle3", "tokens": ["a", "b"] * 9, "n": 3}, {"fc": [4, 12]})),
        ("m.safetensors.index.json", b'{"metadata": {"total_size": 7}, "weight_map": {"fc.weight": "a.safetensors"}}'),
    ]


def damage(content: bytes, chance: random.Random) -> bytes:
    """A file with up to six kinds of damage."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(9)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << chance.randrange(8)
        elif kind == 1 and data:
            data[at % len(data)] = chance.choice(OPCODES)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at : at + chance.randint(1, 16)]
        elif kind == 4:
            data[at:at] = bytes(chance.choice(OPCODES) for _ in range(chance.randint(1, 12)))
        elif kind == 5:
            start = chance.randrange(len(data) + 1)
            data[at:at] = data[start : start + chance.randint(1, 200)] * chance.randint(1, 20)
        elif kind == 6:
            data[at : at + 8] = struct.pack("<Q", chance.choice(NUMBERS))
        elif kind == 7:
            data[at:at] = str(chance.choice((-1, 1 << 31, 1 << 62, 10**30, 0.5))).encode()
        else:
            data[at:at] = chance.choice(SPLICES)
    return bytes(data)


def bombs() -> list[tuple[str, bytes]]:
    """Files that are made to fill the memory or to take for ever."""
    doubled = b"\x80\x02]q\x00" + b"h\x00h\x00\x86q\x00" * 5000
    entry = b'"%06d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}'
    many = b"{" + b",".join(entry % number for number in range(200_000)) + b"}"
    nested = b'{"a":' + b"[" * 8_000_000
    notes = b'{"__metadata__":{' + b"," * 250_000 + b"},"
    arrays = struct.pack("<QB", 1, 97) + struct.pack("<IIQ", 9, 9, 1 << 62) + struct.pack("<IQ", 9, 0) * 500_000
    return [
        ("m.pkl", b"\x80\x02" + b"]" * 8_000_000 + b"."),
        ("m.pkl", b"\x80\x02" + b"](e" * 2_000_000 + b"."),
        ("m.pkl", b"\x80\x02K\x01r\xff\xff\xff\x07."),
        ("m.pkl", b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b"."),
        ("m.pkl", b"\x80\x04\x8d" + struct.pack("<Q", 1 << 62) + b"x."),
        ("m.pkl", b"\x80\x02\x8b" + struct.pack("<I", 8_000_000) + b"\x7f" * 8_000_000 + b"."),
        ("m.pkl", b"\x80\x02" + b"X\x02\x00\x00\x00ab\x94" * 1_000_000 + b"."),
        ("m.pkl", b"\x80\x02]q\x00(" + b"h\x00" * 500_000 + b"e."),
        ("m.pkl", doubled + b"."),
        ("m.pkl", b"\x80\x02}" + doubled[2:] + b"K\x01s."),
        ("m.bin", files.torch_zip(b"\x80\x02" + b" " * (200 << 20), {}, compressed=True)),
        ("m.npz", files.npz({"d2t": ("I64", [1 << 20])}, compressed=True)),
        ("m.safetensors", struct.pack("<Q", len(many)) + many),
        ("m.safetensors", struct.pack("<Q", len(nested)) + nested),
        ("m.safetensors", struct.pack("<Q", 16 * len(notes)) + notes * 16),
        ("m.safetensors", struct.pack("<Q", 15 << 20) + b'{"' + b"\\n" * (15 << 19)),
        ("m.safetensors.index.json", b'{"weight_map":{' + b'"a":"b",' * 1_000_000),
        ("m.safetensors.index.json", b'{"a":' + b"," * 10_000_000),
        ("m.gguf", b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + arrays),
    ]


class Watch:
    """What happened while files were read: the worst time (of the processor), and all that must not happen."""

    def __init__(self) -> None:
        self.reading = False
        self.events: Counter[str] = Counter()
        self.slowest = 0.0
        self.what = ""
        self.crashes: list[str] = []
        self.outcomes: Counter[str] = Counter()
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], int):
            return  # a descriptor that is open gets its buffer; opening it was an event of its own
        if self.reading and event.startswith(FORBIDDEN):
            self.events[f"{event} {arguments}"[:120]] += 1

    def read(self, source: Source, label: str) -> None:
        """Read one file and note how that went."""
        begin = time.process_time()
        self.reading = True
        try:
            _ = read_index(source) if source.kind == "json" else list(read_checkpoint(source))
            self.outcomes["read"] += 1
        except UnreadableError:
            self.outcomes["refused"] += 1
        except Exception as error:
            self.crashes.append(f"{label}: {type(error).__name__}: {error}")
        finally:
            self.reading = False
        taken = time.process_time() - begin
        if taken > self.slowest:
            self.slowest, self.what = taken, label


def source(name: str, file: Path, content: bytes | None = None) -> Source:
    """A file on disk, or its content."""
    return Source(name, "json" if name.endswith(".json") else "binary", file, content)


def memory() -> int:
    """The most memory that this process has had, in bytes; on Linux since it was last asked."""
    status = Path("/proc/self/status")
    if status.exists():
        most = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        Path("/proc/self/clear_refs").write_text("5")
        return most * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def warm(watch: Watch) -> None:
    """Import all that the readers need; the codecs are those that pickles may ask for."""
    for name in ("raw-unicode-escape", "latin-1", "utf-8", "ascii"):
        codecs.lookup(name)
    for name, content in seeds():
        with contextlib.suppress(UnreadableError):
            watch.read(source(name, Path(name), content), name)
    watch.events.clear()
    watch.outcomes.clear()
    watch.slowest = 0.0


def read_damaged(count: int, first: int) -> bool:
    """Damaged files, one after the other in this process. True when a limit was passed."""
    watch = Watch()
    warm(watch)
    whole = seeds()
    before = memory()
    for number in range(first, first + count):
        chance = random.Random(number)
        name, content = chance.choice(whole)
        watch.read(source(name, Path(name), damage(content, chance)), f"file {number}, {name}")
    grown = memory() - before
    print(f"{count} damaged files: {watch.outcomes['read']} read, {watch.outcomes['refused']} refused")
    print(f"crashes: {len(watch.crashes)}; imports, calls and files opened: {sum(watch.events.values())}")
    print(f"slowest: {watch.slowest:.3f} s ({watch.what}); memory above the start: {grown / (1 << 20):.1f} MiB")
    for line in (*watch.crashes[:10], *watch.events):
        print(line)
    return bool(watch.crashes or watch.events) or watch.slowest > LONGEST_SECONDS or grown > MOST_MEMORY


def read_bombs() -> bool:
    """Each hostile file in a process of its own. True when a limit was passed."""
    worst, most, failures = 0.0, 0, 0
    every = bombs()
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, content) in enumerate(every):
            file = Path(folder, name)
            file.write_bytes(content)
            command = [sys.executable, __file__, "--one", str(file)]
            done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")
            try:
                seconds, grown = done.stdout.split()
            except ValueError:
                seconds, grown = "inf", "0"
            if done.returncode or float(seconds) > LONGEST_SECONDS or int(grown) > MOST_MEMORY:
                failures += 1
                print(f"bomb {number}, {name}: {seconds} s, {int(grown) / (1 << 20):.1f} MiB {done.stderr[-300:]}")
            worst, most = max(worst, float(seconds)), max(most, int(grown))
    print(f"{len(every)} bombs: slowest {worst:.3f} s; most memory above the start {most / (1 << 20):.1f} MiB")
    return failures > 0


def read_one(file: Path) -> bool:
    """Read one file; print how long it took and how much memory above the start."""
    watch = Watch()
    warm(watch)
    before = memory()
    watch.read(source(file.name, file), file.name)
    print(watch.slowest, memory() - before)
    watch.events = Counter({event: n for event, n in watch.events.items() if not event.startswith(f"open ('{file}'")})
    for line in (*watch.crashes, *watch.events):
        print(line, file=sys.stderr)
    return bool(watch.crashes or watch.events)


def main() -> int:
    """Read damaged and hostile files and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=2000, help="how many damaged files (2000)")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first (0)")
    parser.add_argument("--no-bombs", action="store_true", help="leave out the files that are made to fill the memory")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        return int(read_one(options.one))
    failed = read_damaged(options.files, options.seed)
    return int((not options.no_bombs and read_bombs()) or failed)


if __name__ == "__main__":
    sys.exit(main())
