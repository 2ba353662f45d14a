"""Published targets and drafters: what is known of them without reading a weight or a network.

Only values that are *established* may prove an error; everything else supports a warning or an info at most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

from eaglelint._resources import data_root
from eaglelint.conventions.load import read_yaml

Convention = Literal[
    "output", "boundary", "default", "output_in_boundary_slot", "final_state_only", "custom", "mixed", "unknown"
]

#: Endings of repository names that say how a copy was quantised; the geometry is that of the name without them.
_QUANTISED = re.compile(
    r"[-_.](?:quantized\.\w+|fp8(?:-dynamic|-static|-block|-kv)*|fp4|nvfp4(?:-kv)?|mxfp[48]|(?:awq|gptq|autoround)(?:-int[48]|-w4a16)?"
    r"|int[48](?:-awq|-gptq)?|w[48]a(?:8|16)(?:[-_]\w+)?|bnb-[48]bit|[48]bit|gguf|exl[23])$",
    re.IGNORECASE,
)
#: Endings that change neither the weights' space nor the geometry.
_PLAIN = re.compile(r"[-_.](?:bf16|bfloat16|fp16|float16|hf)$", re.IGNORECASE)

#: Doubts that leave the depth and the sizes given in an entry established.
_HARMLESS_DOUBTS = frozenset({"incomplete", "no_architecture"})


#: Where the configs of EAGLE-3 heads usually hold their ids.
_NESTED = "/eagle_config/eagle_aux_hidden_state_layer_ids"
_TOP_LEVEL = "/eagle_aux_hidden_state_layer_ids"


class Source(NamedTuple):
    """Where a fact about a target was read: `kind` is "config_copy", "table", "recipe", ...; `gives` the fields."""

    ref: str
    kind: str
    gives: tuple[str, ...]


class SpecialLayers(NamedTuple):
    """Layers that differ in kind from the others ("linear_attention", "deepstack"), by 0-based layer index."""

    kind: str
    layers: tuple[int, ...]


@dataclass(frozen=True)
class KnownTarget:
    """A published target. `depth` is N in decoder layers and the sizes are 0 when they are not known.

    `nested` is the key of config.json under which the values stand ("text_config"), "" for the top level, None when no
    copy of the file was read. `quantised` is True when it was asked for by the name of a quantised copy, False for a
    plain name whose dtype is known, else None. `established`: depth and sizes may serve as proof.
    """

    name: str
    ids: tuple[str, ...]
    architectures: tuple[str, ...]
    model_type: str
    text_model_type: str
    depth: int
    hidden_size: int
    vocab_size: int
    max_position_embeddings: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    dtype: str
    nested: str | None
    special: tuple[SpecialLayers, ...]
    doubts: tuple[str, ...]
    disputed: tuple[str, ...]
    note: str
    sources: tuple[Source, ...]
    established: bool
    quantised: bool | None = None


@dataclass(frozen=True)
class KnownDrafter:
    """A published drafter. `ids` is what its config declares (None: none, or not read; see `ids_place`).

    `key` is the JSON pointer of the ids. `convention` says what an id means. `trained` are the boundaries that it was
    trained on: declared ones, or the default ones of a head that is known to declare none; None when not known. They
    may serve as proof only when `established`. `depth` is the N of its target, 0 when not known.
    """

    repo: str
    target: str
    algorithm: str
    trainer: str
    architectures: tuple[str, ...]
    depth: int
    ids: tuple[int, ...] | None
    key: str
    ids_place: str
    convention: Convention
    trained: tuple[int, ...] | None
    basis: str
    evidence: str
    established: bool
    geometry: Mapping[str, int]
    flags: Mapping[str, bool]
    note: str
    sources: tuple[str, ...]

    @property
    def method(self) -> str:
        """The kind of head, as the tables of engines name it: "eagle3", "dflash", "dspark" or another algorithm."""
        return {"eagle3.1": "eagle3", "dflash2": "dflash"}.get(self.algorithm, self.algorithm)

    @property
    def pointers(self) -> tuple[str, ...]:
        """The JSON pointers under which its config holds the ids; () when it declares none or where is not known."""
        if self.ids is None:
            return ()
        if self.method != "eagle3":
            return (self.key,) if self.key else ()
        own = self.key if self.key.count("/") == 1 else _TOP_LEVEL
        return {"nested": (_NESTED,), "top_level": (own,), "both": (_NESTED, own)}.get(self.ids_place, ())


def known_target(name: str) -> KnownTarget | None:
    """The published target of that Hub id, or whose id ends like this path; None when unknown or ambiguous.

    Case does not matter, cache folders (`models--org--name/snapshots/...`) are understood, and the name of a quantised
    copy finds the model that it is a copy of.
    """
    by_id, by_tail = _target_index()
    plain = _hub_id(name)
    if not plain:
        return None
    for candidate, quantised in _spellings(plain):
        found = by_id.get(candidate) or by_tail.get(candidate.rsplit("/", 1)[-1])
        if found is not None:
            return _target(found, quantised or bool(_QUANTISED.search(plain)))
    return None


def known_drafter(name: str) -> KnownDrafter | None:
    """The published drafter of that Hub id, or whose id ends like this path when that is unambiguous; else None."""
    by_id, by_tail = _drafter_index()
    plain = _hub_id(name)
    found = by_id.get(plain) or by_tail.get(plain.rsplit("/", 1)[-1]) if plain else None
    return _drafter(found) if found is not None else None


def known_drafters() -> tuple[str, ...]:
    """The Hub ids of all known drafters, in the order of the file."""
    return tuple(row["repo"] for row in read_yaml(data_root("rules") / "drafters.yaml")["drafters"])


def known_targets() -> tuple[str, ...]:
    """The Hub ids of all known targets, in the order of the file."""
    return tuple(name for row in _target_rows() for name in row["ids"])


def architectures_of(model_type: str) -> tuple[str, ...]:
    """The architectures that known targets of this model type have; () when there are none."""
    rows = _target_rows()
    return tuple(
        dict.fromkeys(r["architecture"] for r in rows if r.get("model_type") == model_type and "architecture" in r)
    )


def _hub_id(name: str) -> str:
    """A Hub id or path in lower case; a cache folder becomes the id that it caches."""
    parts = [p for p in name.strip().replace("\\", "/").split("/") if p not in ("", ".")]
    cached = next((p for p in parts if p.lower().startswith("models--")), "")
    if cached:
        return "/".join(cached.split("--")[1:]).lower()
    return "/".join(parts[-2:]).lower() if parts else ""


def _spellings(plain: str) -> list[tuple[str, bool]]:
    """A name and what is left of it without the endings of quantised and re-saved copies, longest first."""
    spellings = [(plain, False)]
    quantised = False
    while True:
        shorter = _QUANTISED.sub("", plain)
        quantised = quantised or shorter != plain
        shorter = _PLAIN.sub("", shorter)
        if shorter == plain:
            return spellings
        spellings.append((shorter, quantised))
        plain = shorter


Row = dict[str, Any]
Index = tuple[dict[str, Row], dict[str, Row]]


def _index(pairs: list[tuple[str, Row]]) -> Index:
    """Rows by full id and by the last component of it; components that several rows share are left out."""
    by_id = {name.lower(): row for name, row in pairs}
    tails: dict[str, Row | None] = {}
    for name, row in by_id.items():
        tail = name.rsplit("/", 1)[-1]
        tails[tail] = row if tails.setdefault(tail, row) is row else None
    return by_id, {tail: row for tail, row in tails.items() if row is not None}


@cache
def _target_rows() -> tuple[Row, ...]:
    return tuple(read_yaml(data_root("rules") / "targets.yaml")["targets"])


@cache
def _target_index() -> Index:
    return _index([(i, row) for row in _target_rows() for i in (*row["ids"], row["name"])])


@cache
def _drafter_index() -> Index:
    rows = read_yaml(data_root("rules") / "drafters.yaml")["drafters"]
    return _index([(row["repo"], row) for row in rows])


def _special(row: Row) -> tuple[SpecialLayers, ...]:
    depth = row.get("num_hidden_layers", 0)
    found = []
    for item in row.get("special", ()):
        period = item.get("every_but", 0)
        layers = item.get("layers") or [i for i in range(depth) if (i + 1) % period]
        found.append(SpecialLayers(item["kind"], tuple(layers)))
    return tuple(found)


def _target(row: Row, quantised: bool) -> KnownTarget:
    doubts = tuple(row.get("doubts", ()))
    plain = False if row.get("dtype") in ("bfloat16", "float16", "float32") else None
    return KnownTarget(
        name=row["name"],
        ids=tuple(row["ids"]),
        architectures=(row["architecture"],) if "architecture" in row else (),
        model_type=row.get("model_type", ""),
        text_model_type=row.get("text_model_type") or row.get("model_type", ""),
        depth=row.get("num_hidden_layers", 0),
        hidden_size=row.get("hidden_size", 0),
        vocab_size=row.get("vocab_size", 0),
        max_position_embeddings=row.get("max_position_embeddings", 0),
        num_attention_heads=row.get("num_attention_heads", 0),
        num_key_value_heads=row.get("num_key_value_heads", 0),
        head_dim=row.get("head_dim", 0),
        dtype=row.get("dtype", ""),
        nested=row.get("nested_in"),
        special=_special(row),
        doubts=doubts,
        disputed=tuple(dict.fromkeys(c["field"] for c in row.get("conflicts", ()))),
        note=row.get("note", ""),
        sources=tuple(Source(s["ref"], s["kind"], tuple(s["gives"])) for s in row["sources"]),
        established=bool(row.get("num_hidden_layers")) and set(doubts) <= _HARMLESS_DOUBTS,
        quantised=True if quantised else plain,
    )


_SIZES = (
    "num_hidden_layers", "hidden_size", "vocab_size", "draft_vocab_size", "max_position_embeddings",
    "num_attention_heads", "num_key_value_heads", "head_dim", "block_size", "mask_token_id",
)  # fmt: skip


def _drafter(row: Row) -> KnownDrafter:
    ids = row.get("ids")
    trained = row.get("boundaries", row.get("default_boundaries"))
    return KnownDrafter(
        repo=row["repo"],
        target=row["target"],
        algorithm=row["algorithm"],
        trainer=row["trainer"],
        architectures=tuple(row.get("architectures", ())),
        depth=row.get("target_num_hidden_layers", 0),
        ids=tuple(ids) if ids is not None else None,
        key=row.get("ids_key", ""),
        ids_place=row["ids_place"],
        convention=row["convention"],
        trained=tuple(trained) if trained is not None else None,
        basis=row.get("basis", ""),
        evidence=row["evidence"],
        established=row["established"],
        geometry={name: row[name] for name in _SIZES if name in row},
        flags=row.get("flags", {}),
        note=row.get("note", ""),
        sources=tuple(row["sources"]),
    )
