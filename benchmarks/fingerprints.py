"""How right, fast and small the readers of values and the verdicts on states are: the figures of docs/fingerprint.md.

    python benchmarks/fingerprints.py tensors --count 10000     every value of random tensors, bit for bit (needs torch)
    python benchmarks/fingerprints.py families --count 1000     verdicts on toy targets of eight families
    python benchmarks/fingerprints.py large                     files of 10 GB and a target of 1 TB (sparse)
    python benchmarks/fingerprints.py hostile --count 20000     damaged samples: no crash, no more time or memory

Without a name all of them run. The exit status is 1 when a figure is not reached.
"""

from __future__ import annotations

import argparse
import codecs
import io
import json
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "fingerprints")]

import toy_targets  # noqa: E402

from eaglelint.fingerprints import decoding, measures, slots, verdicts  # noqa: E402
from eaglelint.fingerprints.reading import Values, whole  # noqa: E402
from eaglelint.fingerprints.sampling import ids_of  # noqa: E402
from eaglelint.fingerprints.target import TargetWeights  # noqa: E402
from eaglelint.project import Source  # noqa: E402

LONGEST_SECONDS, MOST_MEMORY = 2.0, 100 << 20
MOST_UNKNOWN = 0.02


# ---- tensors against torch -----------------------------------------------------------------------------------------


def tensors(count: int, seed: int) -> bool:
    """Random tensors of all types, as views with any strides in any nesting, saved in every form and read back."""
    try:
        import torch
    except ImportError:
        print("tensors   torch is not installed: pip install torch")
        return True
    draw = random.Random(seed)
    torch.manual_seed(seed)
    done, wrong = Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        while sum(done.values()) < count:
            made = {f"t{number}": _tensor(torch, draw) for number in range(20)}
            for form in ("zip", "legacy", "safetensors", "npz"):
                path, wanted = _saved(torch, draw, made, Path(folder), form)
                with Values(Source(str(path), "binary", path)) as values:
                    for name, tensor in wanted.items():
                        done[form] += 1
                        wrong += not _equal(torch, values, name, tensor)
    each = ", ".join(f"{number} as {form}" for form, number in done.items())
    print(f"tensors   {sum(done.values())} tensors ({each}), torch {torch.__version__}: {wrong} read wrong")
    return wrong == 0


def _tensor(torch: Any, draw: random.Random) -> Any:
    dtypes = [
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2,
        torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
        torch.bool,
    ]  # fmt: skip
    dtype = draw.choice(dtypes)
    shape = [draw.choice((1, 2, 3, 5, 8)) for _ in range(draw.randrange(5))]
    size = torch.empty(0, dtype=dtype).element_size()
    length = size
    for one in shape:
        length *= one
    bits = torch.frombuffer(bytearray(draw.randbytes(length)), dtype=torch.uint8)
    tensor = (bits > 127).reshape(shape) if dtype == torch.bool else bits.view(dtype).reshape(shape)
    for _ in range(draw.randrange(4)):
        tensor = _view(tensor, draw)
    return tensor


def _view(tensor: Any, draw: random.Random) -> Any:
    if tensor.dim() == 0:
        return tensor
    axis = draw.randrange(tensor.dim())
    kind = draw.randrange(6)
    if kind == 0 and tensor.dim() > 1:
        return tensor.transpose(0, axis)
    if kind == 1:
        return tensor.narrow(axis, 0, max(1, tensor.shape[axis] // 2))
    if kind == 2:
        return tensor.select(axis, tensor.shape[axis] - 1)
    if kind == 3:
        return tensor[(slice(None),) * axis + (slice(draw.randrange(2) if tensor.shape[axis] > 1 else 0, None, 2),)]
    if kind == 4:
        return tensor.unsqueeze(axis).expand(*tensor.shape[:axis], 3, *tensor.shape[axis:])
    return tensor.unsqueeze(0)


def _saved(
    torch: Any, draw: random.Random, made: dict[str, Any], folder: Path, form: str
) -> tuple[Path, dict[str, Any]]:
    """The file of some tensors, and the tensors by the names under which they are in it."""
    if form in ("zip", "legacy"):
        value, names = _nested(draw, made)
        path = folder / f"{form}.pt"
        kept = {name: made[key] for name, key in names.items()}
        if form == "legacy":  # which can not hold two types in one storage, and no float8
            old = {key for key, tensor in made.items() if "float8" not in str(tensor.dtype)}
            value, names = _nested(draw, {key: made[key] for key in old})
            kept = {name: made[key] for name, key in names.items()}
        torch.save(value, path, _use_new_zipfile_serialization=form == "zip")
        return path, kept
    if form == "safetensors":
        from safetensors.torch import save_file

        path = folder / "f.safetensors"
        kept = {key: tensor.contiguous().clone() for key, tensor in made.items()}
        kept = {k: t for k, t in kept.items() if not str(t.dtype).endswith("fnuz")}  # which its header has no name for
        save_file(kept, path)
        return path, kept
    import numpy

    path = folder / "f.npz"
    kept = {k: t for k, t in made.items() if "bfloat16" not in str(t.dtype) and "float8" not in str(t.dtype)}
    writer = numpy.savez_compressed if draw.random() < 0.5 else numpy.savez
    writer(
        path,
        **{
            k: numpy.asfortranarray(t.numpy()) if t.dim() and draw.random() < 0.3 else t.numpy()
            for k, t in kept.items()
        },
    )
    return path, kept


def _nested(draw: random.Random, made: dict[str, Any]) -> tuple[Any, dict[str, str]]:
    """Tensors in dicts and lists in dicts and lists, and the name that each then has."""
    value: dict[str, Any] = {"a": {}, "b": [], "c": ({"d": []}, {})}
    names: dict[str, str] = {}
    for key, tensor in made.items():
        place = draw.randrange(5)
        if place == 0:
            value[key], names[key] = tensor, key
        elif place == 1:
            value["a"][key], names[f"a.{key}"] = tensor, key
        elif place == 2:
            names[f"b.{len(value['b'])}"] = key
            value["b"].append(tensor)
        elif place == 3:
            names[f"c.0.d.{len(value['c'][0]['d'])}"] = key
            value["c"][0]["d"].append(tensor)
        else:
            value["c"][1][key], names[f"c.1.{key}"] = tensor, key
    return value, names


def _equal(torch: Any, values: Values, name: str, tensor: Any) -> bool:
    header = values.header.tensors.get(name)
    if header is None or header.shape != tuple(tensor.shape) or f"torch.{header.dtype}" != str(tensor.dtype):
        return False
    raw = b"".join(values.raw(header, run) for run in whole(header))
    fresh = torch.empty(tensor.numel(), dtype=tensor.dtype)
    fresh.copy_(tensor.reshape(-1))
    if raw != fresh.view(torch.uint8).numpy().tobytes():
        return False
    if not decoding.is_float(header.dtype):
        return decoding.integers(raw, header.dtype) == [int(one) for one in tensor.reshape(-1).tolist()]
    numbers = decoding.floats(raw, header.dtype)
    expected = tensor.reshape(-1).double().tolist()
    return len(numbers) == len(expected) and all(
        struct.pack("<d", a) == struct.pack("<d", b) or (a != a and b != b)
        for a, b in zip(numbers, expected, strict=True)
    )


# ---- families --------------------------------------------------------------------------------------------------------


def families(count: int, seed: int) -> bool:
    """States of toy targets: what each is told to be, against what it is."""
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        for family in toy_targets.FAMILIES:
            draw = random.Random(f"{seed}{family.name}")
            found = Counter[str]()
            for number in range(count):
                if number % 25 == 0:
                    toy = toy_targets.Toy(family, draw)
                    toy.write(Path(folder) / "target")
                    with TargetWeights(str(Path(folder) / "target")) as target:
                        for _ in range(min(25, count - number)):
                            found += _sample(toy, target, draw, Path(folder) / "s.safetensors")
            total = sum(found.values())
            said = {kind: found[kind] for kind in ("right", "unknown", "wrong")}
            part = found["unknown"] / total
            print(
                f"families  {family.name:9} {count} samples, {total} verdicts: {said['wrong']} wrong, "
                f"{said['unknown']} can not tell ({part:.2%})"
            )
            fine = fine and not found["wrong"] and part <= MOST_UNKNOWN
    return fine


def _sample(toy: toy_targets.Toy, target: TargetWeights, draw: random.Random, path: Path) -> Counter[str]:
    dtype = draw.choice(("BF16", "BF16", "F16", "F32"))
    ids = [draw.randrange(toy.vocab) for _ in range(draw.randrange(4, 24))]
    raw = toy.stream(ids, toy.depth, dtype)
    made = {
        "embed": toy.embedding(ids, dtype),
        "low": toy.stream(ids, 2, dtype),
        "mid": toy.stream(ids, toy.depth // 2, dtype),
        "pre_norm": raw,
        "post_norm": toy.normed(raw, dtype),
    }
    cut = draw.choice((0, 0, 1))  # the last token is left out
    tensors: dict[str, Any] = {"input_ids": ("I64", [len(ids)], ids)}
    for name, rows in made.items():
        tensors[name] = toy_targets.states(rows[: len(rows) - cut], dtype)
    toy_targets.write_safetensors(path, tensors)
    found = Counter[str]()
    with Values(Source(str(path), "binary", path)) as values:
        contents = slots.contents(values.header, target.hidden)
        own = ids_of(values, contents.tokens[0])
        for slot in contents.slots:
            embedding = verdicts.embedding_verdict(values, slot, target, own)
            norm = verdicts.norm_verdict(measures.rows(values, slot)[1], slot.tensor.dtype, target)
            said = (embedding.is_, norm.is_)
            wanted = ("rows" if slot.name == "embed" else "other", "after" if slot.name == "post_norm" else "before")
            if slot.name == "embed" and target.family.scale is not None and embedding.is_ == "rows":
                found["right" if abs(embedding.scale / target.family.scale - 1) < 0.05 else "wrong"] += 1
            for one, true in zip(said, wanted, strict=True):
                if one == "unknown" and slot.name == "embed" and true == "before":
                    continue  # nobody asks an embedding for its norm
                found["unknown" if one == "unknown" else "right" if one == true else "wrong"] += 1
    return found


# ---- large files -----------------------------------------------------------------------------------------------------


def large(_: int, seed: int) -> bool:
    """Samples of 10 GB in each form against a sharded target of 1 TB: seconds (the best of three) and memory."""
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "target"
        size = _large_target(target)
        print(
            f"large     the target: {size / 1e12:.2f} TB in {len(list(target.glob('*.safetensors')))} shards (sparse)"
        )
        for path in _large_samples(Path(folder)):
            for words in ([str(path), "--target", str(target)], [str(path), "--against", str(path)]):
                runs = [_measured(["fingerprint", *words]) for _ in range(3)]
                seconds, memory = min(run[0] for run in runs), max(run[1] for run in runs)
                what = "with --target" if "--target" in words else "with --against"
                print(
                    f"large     {path.name:18} {path.stat().st_size / 1e9:5.1f} GB {what:14} {seconds:5.2f} s  "
                    f"{memory >> 20} MiB"
                )
                fine = fine and seconds < LONGEST_SECONDS and memory < MOST_MEMORY
    return fine


_HIDDEN, _VOCAB, _DEPTH = 7168, 163840, 61


def _large_target(folder: Path, shards: int = 100) -> int:
    """A target of the size of the largest that there are: holes, but for some rows of its embedding and its norm."""
    folder.mkdir()
    config = {"model_type": "kimi_k2", "hidden_size": _HIDDEN, "vocab_size": _VOCAB, "num_hidden_layers": _DEPTH}
    (folder / "config.json").write_text(json.dumps(config))
    weight_map, total = {}, 0
    for shard in range(shards):
        name = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        tensors = {f"model.layers.{shard}.mlp.experts.{n}.weight": ("BF16", [2048, 7168]) for n in range(340)}
        if shard == 0:
            tensors["model.embed_tokens.weight"] = ("BF16", [_VOCAB, _HIDDEN])
        if shard == shards - 1:
            tensors["model.norm.weight"] = ("BF16", [_HIDDEN])
        weight_map.update(dict.fromkeys(tensors, name))
        places = _sparse_safetensors(folder / name, tensors)
        with (folder / name).open("r+b") as stream:
            for key in ("model.embed_tokens.weight", "model.norm.weight"):
                if key in places:
                    stream.seek(places[key])
                    stream.write(
                        random.Random(shard).randbytes(200 * _HIDDEN * 2) if "embed" in key else b"\x80\x3f" * _HIDDEN
                    )
        total += (folder / name).stat().st_size
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return total


def _sparse_safetensors(path: Path, tensors: dict[str, tuple[str, list[int]]]) -> dict[str, int]:
    header, at = {}, 0
    for name, (dtype, shape) in tensors.items():
        length = (8 if dtype == "I64" else 2) * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + length]}
        at += length
    text = json.dumps(header, separators=(",", ":")).encode()
    with path.open("wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text)
        stream.truncate(8 + len(text) + at)
    return {name: 8 + len(text) + entry["data_offsets"][0] for name, entry in header.items()}


def _large_samples(folder: Path) -> list[Path]:
    tokens = 140_000
    shape = [tokens, _HIDDEN]
    made = []
    path = folder / "s.safetensors"
    names = ("embed", "low", "mid", "high", "last_hidden_state")
    places = _sparse_safetensors(path, {"input_ids": ("I64", [tokens]), **dict.fromkeys(names, ("BF16", shape))})
    with path.open("r+b") as stream:
        for name in names:
            stream.seek(places[name])
            stream.write(random.Random(name).randbytes(64 * _HIDDEN * 2))
    made.append(path)
    path = folder / "s.npy"
    text = f"{{'descr': '<f2', 'fortran_order': False, 'shape': ({5 * tokens}, {_HIDDEN}), }}".ljust(117) + "\n"
    with path.open("wb") as stream:
        stream.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode())
        stream.truncate(10 + len(text) + 5 * tokens * _HIDDEN * 2)
    made.append(path)
    path = folder / "s.pt"
    _sparse_torch(path, tokens)
    made.append(path)
    return made


def _sparse_torch(path: Path, tokens: int) -> None:
    """What torch.save writes of a list of five states in one storage of 10 GB, which is a hole."""
    sys.path.append(str(ROOT / "tests"))
    import tensor_files
    from tensor_files import Call, Name, Outside

    said = ("storage", Name("torch", "BFloat16Storage"), "0", "cpu", 5 * tokens * _HIDDEN)
    hooks = Call(Name("collections", "OrderedDict"), ())
    shape, strides = (tokens, _HIDDEN), (_HIDDEN, 1)
    rebuild = Name("torch._utils", "_rebuild_tensor_v2")
    states = [
        Call(rebuild, (Outside(said), n * tokens * _HIDDEN, shape, strides, False, hooks)) for n in range(5)
    ]  # fmt: skip
    head = io.BytesIO()
    with zipfile.ZipFile(head, "w") as archive:
        archive.writestr("archive/data.pkl", tensor_files.pickled({"hidden_states": states}))
        archive.writestr("archive/byteorder", b"little")
        small = archive.infolist()
    length = 2 * 5 * tokens * _HIDDEN
    name = b"archive/data/0"
    begin = small[-1].header_offset + 30 + len(small[-1].filename) + small[-1].file_size
    wide = struct.pack("<2H2Q", 1, 16, length, length)
    entries = b"".join(
        struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 0, zlib.crc32(b""), one.file_size, one.file_size,
                    len(one.filename), 0, 0, 0, 0, 0, one.header_offset) + one.filename.encode()
        for one in small
    )  # fmt: skip
    entries += struct.pack(
        "<4s6H3L5H2L", b"PK\1\2", 45, 45, 0, 0, 0, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF, len(name), len(wide), 0, 0, 0, 0, begin
    ) + name + wide  # fmt: skip
    local = (
        struct.pack("<4s5H3L2H", b"PK\3\4", 45, 0, 0, 0, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF, len(name), len(wide))
        + name
        + wide
    )
    with path.open("wb") as stream:
        stream.write(head.getvalue()[:begin] + local)
        stream.truncate(begin + len(local) + length)
        stream.seek(0, 2)
        start = stream.tell()
        end = start + len(entries)
        stream.write(entries)
        stream.write(struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 3, 3, len(entries), start))
        stream.write(struct.pack("<4sLQL", b"PK\6\7", 0, end, 1))
        stream.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 3, 3, len(entries), 0xFFFFFFFF, 0))


# ---- damaged files ---------------------------------------------------------------------------------------------------


def hostile(count: int, seed: int) -> bool:
    """Damaged samples in every form: each is read whole or refused, in bounded time and memory, and nothing is run."""
    sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests")]
    import hostile_files
    import tensor_files

    from eaglelint.fingerprints.looking import fingerprint

    toy = toy_targets.Toy(toy_targets.FAMILIES[0], random.Random(seed), hidden=8)
    ids = [3, 9, 12, 5]
    rows = [value for row in toy.stream(ids, 6, "F32") for value in row]
    held = {
        "input_ids": ("I64", [4], ids),
        "embed": ("F32", [4, 8], rows),
        "hidden_states": ("F32", [4, 2, 8], rows * 2),
    }
    whole_files = [
        ("s.safetensors", tensor_files.safetensors(held)), ("s.pt", tensor_files.torch_file(held)),
        ("s.pt", tensor_files.torch_file(held, compressed=True)), ("s.pt", tensor_files.torch_stream(held)),
        ("s.npz", tensor_files.npz(held)), ("s.npz", tensor_files.npz(held, compressed=True)),
        ("s.npy", tensor_files.npy(held["embed"])), *_wide(tensor_files),
    ]  # fmt: skip
    crashes: list[str] = []
    slowest, watching, events = 0.0, False, Counter[str]()

    def seen(event: str, given: object) -> None:
        if watching and event.startswith(
            ("exec", "compile", "subprocess.", "os.system", "pickle.find_class", "ctypes.")
        ):
            events[f"{event} {given}"[:120]] += 1

    with tempfile.TemporaryDirectory() as folder:
        toy.write(Path(folder) / "target")
        words = ([], str(Path(folder) / "target"))
        for name, content in whole_files:
            (Path(folder) / name).write_bytes(content)
            fingerprint([str(Path(folder) / name)], *words)
        for codec in ("raw-unicode-escape", "latin-1", "utf-8", "ascii"):  # those that pickles may ask for
            codecs.lookup(codec)
        sys.addaudithook(seen)
        hostile_files.memory()
        before = hostile_files.memory()
        for number in range(count):
            draw = random.Random(f"{seed} {number}")
            name, content = draw.choice(whole_files)
            path = Path(folder) / name
            path.write_bytes(hostile_files.damage(content, draw))
            begin, watching = time.process_time(), True
            try:
                fingerprint([str(path)], [str(path)] if draw.random() < 0.2 else [], words[1])
            except Exception as error:
                crashes.append(f"file {number}, {name}: {type(error).__name__}: {error}")
            watching = False
            slowest = max(slowest, time.process_time() - begin)
        grown = hostile_files.memory() - before
    print(
        f"hostile   {count} damaged samples: {len(crashes)} crashes, {sum(events.values())} calls, "
        f"slowest {slowest:.2f} s, {grown >> 20} MiB above the start"
    )
    for line in [*crashes[:10], *events]:
        print(line)
    return not crashes and not events and slowest < LONGEST_SECONDS and grown < MOST_MEMORY


def _wide(tensor_files: Any) -> list[tuple[str, bytes]]:
    """Views that are far larger than what is stored."""
    made = []
    hooks = tensor_files.Call(tensor_files.Name("collections", "OrderedDict"), ())
    storage = ("storage", tensor_files.Name("torch", "FloatStorage"), "0", "cpu", 8)
    for shape, strides in (((1 << 40, 8), (0, 1)), ((4, 1 << 40), (0, 0)), ((1 << 20, 64, 1 << 20), (0, 0, 0))):
        said = (tensor_files.Outside(storage), 0, shape, strides, False, hooks)
        call = tensor_files.Call(tensor_files.Name("torch._utils", "_rebuild_tensor_v2"), said)
        made.append(("s.pt", tensor_files.torch_zip({"input_ids": [1, 2], "hidden_states": call}, {"0": bytes(32)})))
    return made


def _measured(words: list[str]) -> tuple[float, int]:
    """Seconds and bytes that a run of eaglelint takes."""
    code = (
        "import resource, sys; sys.argv = ['eaglelint', *sys.argv[1:]]\n"
        "from eaglelint.cli import main\n"
        "try: main()\n"
        "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=ROOT)
    seconds = time.perf_counter() - begin
    if done.returncode:
        print(done.stdout[-500:], done.stderr[-1500:])
        raise SystemExit(1)
    return seconds, int(done.stderr.split()[-1]) * (1 if sys.platform == "darwin" else 1024)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "what", nargs="*", choices=("tensors", "families", "large", "hostile", []), help="without any, all"
    )
    parser.add_argument("--count", type=int, default=0, help="tensors (10,000), or samples of each family (1,000)")
    parser.add_argument("--seed", type=int, default=8)
    given = parser.parse_args()
    parts = {
        "tensors": (tensors, 10_000),
        "families": (families, 1_000),
        "large": (large, 0),
        "hostile": (hostile, 20_000),
    }
    fine = [parts[name][0](given.count or parts[name][1], given.seed) for name in given.what or parts]
    print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
