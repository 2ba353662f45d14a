"""Stand-ins for torch, numpy, safetensors, transformers and engines, put into sys.modules to run generated code."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from standin_models import (
    CausalLM,
    Decoder,
    DecoderLayer,
    Embedding,
    Head,
    Module,
    ModuleList,
    Norm,
    Sublayer,
    Tokenizer,
    config,
)
from standin_tensors import Tensor, cat, name_saved, stack

#: What was "written", by path; on the disk there is an empty file.
FILES: dict[str, Any] = {}

# ---- files ---------------------------------------------------------------------------------------------------------


def _kept(value: Any) -> Any:
    """A copy as a file would hold it."""
    if isinstance(value, Tensor):
        return value.copied()
    if isinstance(value, dict):
        return {key: _kept(item) for key, item in value.items()}
    return type(value)(_kept(item) for item in value) if isinstance(value, list | tuple) else value


def save(path: Any, value: Any) -> None:
    """Keep a value under a path."""
    path = str(path.name if hasattr(path, "write") else path)
    name_saved(path.rsplit("/", 1)[-1].rsplit(".", 1)[0], value)
    if isinstance(value, dict):
        for key, item in value.items():
            name_saved(str(key), item)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).touch()
    FILES[path] = _kept(value)


def load(path: Any, *args: Any, **kwargs: Any) -> Any:
    """What was kept under a path."""
    return _kept(FILES[str(path.name if hasattr(path, "read") else path)])


def savez(path: Any, *args: Any, **kwargs: Any) -> None:
    """numpy.savez."""
    save(path, {**{f"arr_{n}": value for n, value in enumerate(args)}, **kwargs})


class Arrays(dict):  # type: ignore[type-arg]
    """What numpy.load gives for an .npz file."""

    @property
    def files(self) -> list[str]:
        """The names."""
        return list(self)


def load_array(path: Any, *args: Any, **kwargs: Any) -> Any:
    """numpy.load."""
    found = load(path)
    return Arrays(found) if isinstance(found, dict) else found


def save_tensors(tensors: dict[str, Any], path: Any, **kwargs: Any) -> None:
    """safetensors.torch.save_file: tensors of one type are laid out, and come back, in the order of their names."""
    save(path, dict(sorted(tensors.items())))


class SafeOpen:
    """safetensors.safe_open."""

    def __init__(self, path: Any, *args: Any, **kwargs: Any) -> None:
        self.tensors = load(path)

    def __enter__(self) -> SafeOpen:
        return self

    def __exit__(self, *args: Any) -> None:
        pass

    def keys(self) -> list[str]:
        """Names, sorted as the file format has them."""
        return sorted(self.tensors)

    def get_tensor(self, name: str) -> Tensor:
        """One tensor."""
        return self.tensors[name]


# ---- numbers -------------------------------------------------------------------------------------------------------


class Numbers(list):  # type: ignore[type-arg]
    """An array of numbers: numpy.linspace and torch.linspace."""

    def round(self) -> Numbers:
        """To whole numbers, halves to even."""
        return Numbers(float(round(value)) for value in self)

    def astype(self, kind: Any) -> Numbers:
        """To int: towards zero."""
        return Numbers(int(value) for value in self)

    def int(self) -> Numbers:
        """To int: towards zero."""
        return Numbers(int(value) for value in self)

    long = int

    def tolist(self) -> list[Any]:
        """A plain list."""
        return list(self)


def linspace(start: float, end: float, steps: int = 50, num: int | None = None, **kwargs: Any) -> Numbers:
    """`steps` numbers from start to end, both included."""
    count = steps if num is None else num
    values = Numbers(start + (end - start) / (count - 1) * n if n < count - 1 else float(end) for n in range(count))
    return values.astype(int) if "dtype" in kwargs else values


class Context:
    """torch.no_grad() and the like: a context manager and a decorator."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: Any) -> None:
        pass

    def __call__(self, function: Any) -> Any:
        return function


# ---- modules -------------------------------------------------------------------------------------------------------


def _module(name: str, **members: Any) -> ModuleType:
    made = ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    owner, _, last = name.rpartition(".")
    if owner:
        if owner not in sys.modules:
            _module(owner)
        setattr(sys.modules[owner], last, made)
    return made


def install() -> None:
    """Put the stand-ins where `import torch` and the others find them."""
    dtypes = {name: name for name in ("float16", "bfloat16", "float32", "int64", "long")}
    _module(
        "torch",
        Tensor=Tensor,
        cat=cat,
        concat=cat,
        concatenate=cat,
        stack=stack,
        save=lambda value, f: save(f, value),
        load=load,
        linspace=linspace,
        no_grad=Context,
        inference_mode=Context,
        is_tensor=lambda v: isinstance(v, Tensor),
        hstack=lambda v: cat(v, dim=-1),
        from_numpy=lambda v: v,
        tensor=Numbers,
        **dtypes,
    )
    _module(
        "torch.nn", Module=Module, ModuleList=ModuleList, Embedding=Embedding, RMSNorm=Norm, LayerNorm=Norm, Linear=Head
    )
    _module(
        "numpy",
        concatenate=cat,
        stack=stack,
        savez=savez,
        savez_compressed=savez,
        save=save,
        load=load_array,
        linspace=linspace,
        array=Numbers,
        asarray=Numbers,
    )
    _module("safetensors", safe_open=SafeOpen)
    _module("safetensors.torch", save_file=save_tensors, load_file=load)
    for name in ("llama", "qwen3"):
        prefix = {"llama": "Llama", "qwen3": "Qwen3"}[name]
        members = {
            f"{prefix}Model": type(f"{prefix}Model", (Decoder,), {}),
            f"{prefix}ForCausalLM": type(f"{prefix}ForCausalLM", (CausalLM,), {}),
            f"{prefix}DecoderLayer": DecoderLayer,
            f"{prefix}Attention": Sublayer,
            f"{prefix}MLP": Sublayer,
            f"{prefix}RMSNorm": Norm,
        }
        _module(f"transformers.models.{name}.modeling_{name}", **members)
        _module(f"sglang.srt.models.{name}", **members)
        _module(f"vllm.model_executor.models.{name}", **members)
    loader = {"from_pretrained": staticmethod(lambda *args, **kwargs: config())}
    sys.modules["transformers"].__dict__.update(
        AutoModelForCausalLM=CausalLM,
        AutoModel=CausalLM,
        AutoTokenizer=Tokenizer,
        AutoConfig=type("AutoConfig", (), loader),
    )
