"""Stand-ins of torch.nn, of target models and their layers: what runs between the tensors of standin_tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from standin_tensors import Held, Tensor, Update

#: Decoder layers of every target of this run, and how its layers return: "stream", "tuple" or "fused".
SETTINGS: dict[str, Any] = {"depth": 36, "style": "stream"}


# ---- torch.nn ------------------------------------------------------------------------------------------------------


class Module:
    """torch.nn.Module: calls `forward` between pre-hooks and hooks."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def _hooks(self, kind: str) -> list[tuple[Callable[..., Any], bool]]:
        return self.__dict__.setdefault(kind, [])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for hook, keywords in list(self._hooks("_pre")):
            changed = hook(self, args, kwargs) if keywords else hook(self, args)
            if isinstance(changed, tuple) and not keywords:
                args = changed
        output = self.forward(*args, **kwargs)
        for hook, keywords in list(self._hooks("_post")):
            changed = hook(self, args, kwargs, output) if keywords else hook(self, args, output)
            output = output if changed is None else changed
        return output

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """To be written by subclasses."""
        raise NotImplementedError

    def register_forward_hook(self, hook: Any, *, with_kwargs: bool = False, **_: Any) -> Any:
        """As torch has it."""
        self._hooks("_post").append((hook, with_kwargs))
        return SimpleNamespace(remove=lambda: self._hooks("_post").remove((hook, with_kwargs)))

    def register_forward_pre_hook(self, hook: Any, *, with_kwargs: bool = False, **_: Any) -> Any:
        """As torch has it."""
        self._hooks("_pre").append((hook, with_kwargs))
        return SimpleNamespace(remove=lambda: self._hooks("_pre").remove((hook, with_kwargs)))

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """This module and all inside it, by name."""
        yield prefix, self
        inside = enumerate(self) if isinstance(self, list) else list(self.__dict__.items())
        for name, value in inside:
            if isinstance(value, Module):
                yield from value.named_modules(f"{prefix}.{name}" if prefix else str(name))

    def get_submodule(self, name: str) -> Any:
        """The module of a name."""
        return dict(self.named_modules())[name]

    def eval(self) -> Any:
        """As torch has it."""
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """As torch has it."""
        return self

    cuda = requires_grad_ = to

    def parameters(self) -> Iterator[Any]:
        """One, so that its device can be asked for."""
        yield Tensor()


class ModuleList(list, Module):  # type: ignore[type-arg]
    """torch.nn.ModuleList: a list of modules."""


def _stream(values: Any) -> Tensor:
    """The hidden state among the arguments of a layer."""
    for value in values:
        if isinstance(value, Tensor) and len(value.held) == 1 and value.held[0].part != "residual":
            return value
    raise ValueError("a layer was called without a hidden state")


class Norm(Module):
    """A norm: normed states, and with a residual the completed stream as well."""

    def forward(self, hidden: Tensor, residual: Tensor | None = None) -> Any:
        if residual is not None:
            total = hidden + residual
            return total.like((total.held[0]._replace(normed=True),)), total
        return hidden.like((hidden.held[0]._replace(normed=True),))


class Sublayer(Module):
    """Attention or MLP: an update of what it was given, normed or not."""

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        given = _stream([*args, *kwargs.values()])
        return given.like(Update(given.held[0].boundary))


class DecoderLayer(Module):
    """A decoder layer that returns as SETTINGS say."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        values = [*args, *kwargs.values()]
        given = _stream(values)
        held = given.held[0]
        if held.normed:
            raise ValueError("a layer was called with a normed state")
        after = held.boundary + 1
        if SETTINGS["style"] != "fused":
            made = given.like((Held(after),))
            return (made,) if SETTINGS["style"] == "tuple" else made
        residuals = [v for v in values if isinstance(v, Tensor) and v.held and v.held[0].part == "residual"]
        if (held.part == "branch") != bool(residuals):
            raise ValueError("a fused layer was called without its residual")
        return given.like((Held(after, part="branch"),)), given.like((Held(after, part="residual"),))


class Embedding(Module):
    """The embedding of tokens: boundary 0."""

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        return Tensor((Held(0),), 2 if SETTINGS["style"] == "fused" else 3)


class Head(Module):
    """lm_head: something that is no hidden state."""

    weight = Tensor()

    def forward(self, hidden: Tensor) -> Tensor:
        return hidden.like(None)


# ---- models --------------------------------------------------------------------------------------------------------


class Config(SimpleNamespace):
    """A target's config."""

    def get_text_config(self) -> Config:
        """The same: no nested configs here."""
        return self


def config() -> Config:
    """The config of this run's target."""
    return Config(num_hidden_layers=SETTINGS["depth"], hidden_size=64, rms_norm_eps=1e-6, vocab_size=1000)


class Output(SimpleNamespace):
    """What a model returns: attributes, and items by name."""

    def __getitem__(self, key: Any) -> Any:
        return getattr(self, key) if isinstance(key, str) else [self.last_hidden_state, self.hidden_states][key]


class Decoder(Module):
    """The decoder of a target, with the names of transformers and of engines."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.config = config()
        self.embed_tokens = Embedding()
        self.layers = ModuleList(DecoderLayer() for _ in range(SETTINGS["depth"]))
        self.norm = Norm()
        self.start_layer, self.end_layer = 0, SETTINGS["depth"]

    def get_input_embeddings(self) -> Embedding:
        """As transformers has it."""
        return self.embed_tokens

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        hidden, residual = self.embed_tokens(), None
        states = []
        for layer in self.layers:
            states.append(hidden)
            if SETTINGS["style"] == "fused":
                hidden, residual = layer(Tensor(ndim=1), hidden, residual)
            else:
                given = layer(hidden, position_ids=Tensor(ndim=2))
                hidden = given[0] if isinstance(given, tuple) else given
        if SETTINGS["style"] == "fused":
            return self.norm(hidden, residual)[0]
        hidden = self.norm(hidden)
        return Output(last_hidden_state=hidden, hidden_states=(*states, hidden))


class CausalLM(Module):
    """A target with its head."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.config = config()
        self.model = Decoder()
        self.lm_head = Head()
        self.device = "cpu"

    @classmethod
    def from_pretrained(cls, *args: Any, **kwargs: Any) -> CausalLM:
        """The target of this run."""
        return cls()

    def get_input_embeddings(self) -> Embedding:
        """As transformers has it."""
        return self.model.embed_tokens

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        output = self.model(*args, **kwargs)
        if isinstance(output, Output):
            output.logits = Tensor()
        return output


class Tokenizer:
    """A tokenizer whose batches hold nothing."""

    @classmethod
    def from_pretrained(cls, *args: Any, **kwargs: Any) -> Tokenizer:
        """A tokenizer."""
        return cls()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return Batch(input_ids=Tensor(ndim=2), attention_mask=Tensor(ndim=2))


class Batch(dict):  # type: ignore[type-arg]
    """A batch of token ids: items by name and by attribute."""

    __getattr__ = dict.__getitem__

    def to(self, *args: Any) -> Batch:
        """As transformers has it."""
        return self
