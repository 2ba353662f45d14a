"""What a name says about the hidden state that it holds.

A name is judged only where it really claims a layer: `embed`, `layer31`, `h_mid`, `final_normed`. Slot numbers
(`aux_0`, `aux_layer_1`, `layer_input_0`, `hs_2`) count entries and claim nothing. Where people use a name in several
senses the claim holds every usual one: `layer3` is the output of layer 3 (boundary 4) or its input (boundary 3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from eaglelint.boundary import State

_EMBEDDING = {"embed", "embeds", "embedding", "embeddings", "emb", "embs", "embd", "wte"}
#: Before these words an embedding is one of something else than the tokens of the prompt, such as a sentence vector.
_OTHER_EMBEDDINGS = {
    *("sentence", "doc", "document", "passage", "query", "pooled", "pool", "mean", "image", "img", "vision", "visual"),
    *("audio", "clip", "text", "position", "pos", "positional", "rotary", "rope", "time", "user", "item", "speaker"),
}
_LAYER = {"layer", "layers", "lyr", "block", "blk"}
_HIDDEN = {"hidden", "h", "l", "hid"}
_SLOT = {"aux", "auxiliary", "slot", "feat", "feats", "feature", "features", "tap", "part", "col", "column"}
_DRAFT = {"draft", "drafter", "student", "assistant", "draft_model"}
_OUT = {"out", "output", "outputs", "after", "post", "exit"}
_IN = {"in", "input", "inputs", "before", "pre", "enter", "entering", "entry"}
_ORDER = {
    **dict.fromkeys(("low", "lower", "early", "shallow"), 0),
    **dict.fromkeys(("mid", "middle"), 1),
    **dict.fromkeys(("high", "upper", "late", "deep"), 2),
}
#: Words after `low` and `high` that make them speak of something else than depth.
_NOT_DEPTH = {"rank", "precision", "bit", "bits", "freq", "frequency", "res", "mem", "memory", "prob", "conf", "cpu"}
_FINAL = {"final", "last"}
_NOT_FINAL_BEFORE = {"second", "third", "penultimate", "except", "but", "before", "non", "not", "next", "to"}
_NOT_FINAL_AFTER = {
    *("token", "tokens", "tok", "pos", "position", "step", "idx", "index", "row", "rows", "chunk", "item", "aux"),
    *("dim", "axis", "n", "k", "name", "batch", "prompt", "turn", "id", "ids", "few", "token_id", "target", "answer"),
}
_NORMED = {"normed", "normalized", "normalised", "postnorm", "normout"}
_UNNORMED = {"prenorm", "unnormed", "unnormalized", "unnormalised"}
#: A number after these words is a width, a version or a rank.
_WIDTHS = {"fp", "bf", "float", "bfloat", "int", "uint", "rank", "gpu", "cuda", "device", "v", "tp", "pp", "batch"}
_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


class Claim(NamedTuple):
    """What a name says.

    `words` is the claim for a message. `boundaries` are those that any usual reading allows; empty when the claim is
    not about a number. `final` claims boundary N, `normed` that the final norm was (or was not) applied, `rank` a place
    among `low`, `mid`, `high`. `number` is the layer number in the name and `stem` the name without it. `weak` marks
    words that people use in another sense as well, where the neighbours decide.
    """

    words: str
    boundaries: frozenset[int] = frozenset()
    final: bool = False
    normed: bool | None = None
    rank: int | None = None
    number: int | None = None
    stem: str = ""
    weak: bool = False

    def fits(self, state: State, depth: int) -> bool:
        """Whether a state of a target with `depth` layers is one that the name may hold (`rank` is not looked at)."""
        if self.normed is not None and state.normed != self.normed:
            return False
        if self.final and state.boundary != depth:
            return False
        return not self.boundaries or state.boundary in self.boundaries


def tokens(name: str) -> list[str]:
    """The words and numbers of a name, in lower case: `finalNorm_layer3` gives final, norm, layer, 3."""
    return [token.lower() for token in _TOKEN.findall(name)]


def bare_name(name: str) -> str:
    """The part of a name that speaks: the file's name without folder and endings, the text of a quoted key."""
    quoted = re.findall(r"""["']([^"']+)["']""", name)
    text = quoted[-1] if quoted else name
    text = re.split(r"[/\\]", text)[-1]
    return re.sub(r"\.(pt|pth|bin|npy|npz|safetensors|ckpt|gz|pkl)\b.*$", "", text)


def claim(name: str) -> Claim | None:
    """What a name says about the state it holds; None when it says nothing, or several things at once."""
    words = tokens(bare_name(name))
    if not words or _DRAFT & set(words):
        return None
    normed = _norm_claim(words)
    found = [part for part in (_embedding(words), _layer(words), _final(words), _order(words)) if part is not None]
    if len(found) > 1:
        return None
    if found:
        part = found[0]
        if normed is None:
            return part
        flag = "after the final norm" if normed else "before the final norm"
        return part._replace(normed=normed, words=f"{part.words} {flag}" if part.final else f"{part.words}, {flag}")
    if normed is None:
        return None
    return Claim(f"a state {'after' if normed else 'before'} the final norm", normed=normed)


def slot_numbers(names: Iterable[str]) -> frozenset[str]:
    """The names among siblings whose numbers only count them: `h0, h1, h2` or `layer1, layer2, layer3`."""
    runs: dict[str, dict[str, int]] = {}
    for name in names:
        said = claim(name)
        if said is not None and said.number is not None:
            runs.setdefault(said.stem, {})[name] = said.number
    counted: set[str] = set()
    for run in runs.values():
        numbers = sorted(set(run.values()))
        if len(numbers) > 1 and numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            counted.update(run)
    return frozenset(counted)


def _norm_claim(words: list[str]) -> bool | None:
    """True for names of normed states, False for names of states before the norm, None when nothing is said."""
    pairs = set(pairwise(words))
    if set(words) & _UNNORMED or pairs & {("pre", "norm"), ("before", "norm"), ("un", "normed"), ("not", "normed")}:
        return False
    if set(words) & _NORMED:
        return True
    after = {("post", "norm"), ("after", "norm"), ("final", "norm"), ("norm", "out"), ("norm", "output")}
    return True if pairs & after else None


def _embedding(words: list[str]) -> Claim | None:
    if not _EMBEDDING & set(words) or _OTHER_EMBEDDINGS & set(words):
        return None
    return Claim("the embedding output (boundary 0)", frozenset({0}), weak=words[-1] in ("embeddings", "embedding"))


def _layer(words: list[str]) -> Claim | None:
    """The claim of a layer number; None for slot numbers and for names with several numbers."""
    if _SLOT & set(words):
        return None
    places = [place for place, word in enumerate(words) if word.isdigit() and words[place - 1 : place] != []]
    places = [place for place in places if words[place - 1] not in _WIDTHS]
    if len(places) != 1:
        return None
    place = places[0]
    number = int(words[place])
    before = words[place - 1]
    if before in ("state", "states") and place > 1 and words[place - 2] == "hidden":
        before = "hidden"
    if before not in _LAYER and before not in _HIDDEN:
        return None
    if before == "l" and number in (1, 2) and {"norm", "normalized", "loss", "reg"} & set(words):
        return None
    stem = "_".join([*words[:place], "#", *words[place + 1 :]])
    near = set(words[place + 1 : place + 2]) | set(words[max(0, place - 2) : place - 1])
    weak = before in _HIDDEN
    if near & _IN:
        return Claim(f"the input of layer {number} (boundary {number})", frozenset({number}), number=number, stem=stem)
    both = frozenset({number, number + 1})
    if near & _OUT:
        said = f"the output of layer {number} (boundary {number + 1}, or {number} counted from 1)"
        return Claim(said, both, number=number, stem=stem, weak=weak)
    said = f"the input or output of layer {number} (boundary {number} or {number + 1})"
    return Claim(said, both, number=number, stem=stem, weak=weak)


def _final(words: list[str]) -> Claim | None:
    if "penultimate" in words or ("layer" in words and _IN & set(words)):
        return None
    for place, word in enumerate(words):
        if word not in _FINAL:
            continue
        after = words[place + 1] if place + 1 < len(words) else ""
        before = words[place - 1] if place else ""
        if before in _NOT_FINAL_BEFORE or after in _NOT_FINAL_AFTER or after.isdigit():
            return None
        telling = {"layer", "hidden", "state", "states", "norm", "normed", "block", "stream"} & set(words)
        return Claim("the state after the last layer (boundary N)", final=True, weak=word == "last" and not telling)
    return None


def _order(words: list[str]) -> Claim | None:
    found = [(place, word) for place, word in enumerate(words) if word in _ORDER]
    if len(found) != 1:
        return None
    place, word = found[0]
    if set(words[place + 1 : place + 2]) & _NOT_DEPTH:
        return None
    stem = "_".join([*words[:place], "#", *words[place + 1 :]])
    return Claim(f"the {word} one of several states", rank=_ORDER[word], stem=stem)
