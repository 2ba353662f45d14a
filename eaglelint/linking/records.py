"""The records that pipelines are made of: targets, releases, trainings, and what an engine makes of a drafter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from eaglelint.boundary import SAMPLED_DEPTHS, Layers
from eaglelint.conventions.records import Reading
from eaglelint.conventions.versions import parse
from eaglelint.facts import Confidence, EnginePin, Launch, LayerIds, Step, TargetConfig
from eaglelint.location import Location

#: How the engines write their own names.
_TITLES = {
    "sglang": "SGLang",
    "vllm": "vLLM",
    "tensorrt-llm": "TensorRT-LLM",
    "lmdeploy": "LMDeploy",
    "atom": "ATOM",
    "openvino-genai": "OpenVINO GenAI",
    "rtp-llm": "RTP-LLM",
}


def title(engine: str) -> str:
    """The engine's name as it stands in messages."""
    return _TITLES.get(engine, engine)


@dataclass(frozen=True)
class Target:
    """The target of a drafter. `depth` is N in decoder layers and `hidden_size` its width; 0 when not known.

    `name` is how the project names it (Hub id or path), `where` the place that does so, `config` its config.json when
    that is in the project, `assumed` whose default the name is when something outside may override it.
    """

    name: str
    architectures: tuple[str, ...] = ()
    model_type: str = ""
    depth: int = 0
    hidden_size: int = 0
    where: Location | None = None
    config: TargetConfig | None = None
    assumed: str = ""

    @property
    def words(self) -> str:
        """The target in a message: `Qwen/Qwen3-8B (36 layers)`."""
        return f"{self.name} ({self.depth} layers)" if self.depth else self.name


def releases_named(engine: str, first: str, last: str) -> str:
    """An engine with a range of its releases; the engine alone where the tables know it by commits."""
    if parse(first) is None or parse(last) is None:
        return title(engine)
    return f"{title(engine)} {first}" + (f" to {last}" if last != first else "")


class Release(NamedTuple):
    """Which releases of an engine a launch may run with.

    `specifier` is a PEP 440 specifier set, "" for any; `exact` the release when there is only one; `where` the place
    that says so, `unknown` why nothing can be told, `assumed` whose default it is.
    """

    engine: str
    specifier: str = ""
    exact: str = ""
    where: Location | None = None
    unknown: str = ""
    assumed: str = ""

    @classmethod
    def of(cls, engine: str, pin: EnginePin) -> Release:
        """The releases that a pin admits."""
        return cls(engine, pin.specifier, pin.exact, pin.where, pin.unknown, pin.assumed)

    @property
    def bounded(self) -> bool:
        """Whether the releases are limited on the side of new ones, so that the set can not grow by itself."""
        return bool(self.exact) or any(sign in self.specifier for sign in ("<", "==", "~="))


@dataclass(frozen=True)
class Training:
    """What a drafter was trained on, as one place in the project (or a published record) says it.

    `boundaries` are the auxiliary states in the order in which they are concatenated. `also` are other lists that the
    same evidence allows (a last state that may be the verifier's). `source` is "assembly", "capture", "recipe" or
    "published"; `what` says in words what stands at `where`. `ordered` is False when the order can not be told.
    `readings` say for `boundaries` and each of `also` how a list of an unknown writer is taken so.
    """

    boundaries: Layers
    where: Location | None
    source: str
    what: str
    confidence: Confidence = "proven"
    assumed: str = ""
    trace: tuple[Step, ...] = ()
    ordered: bool = True
    also: tuple[Layers, ...] = ()
    capture: Location | None = None
    readings: tuple[str, ...] = ()

    def at(self, depth: int) -> tuple[int, ...] | None:
        """The boundaries for a target of `depth` layers; None when they are not known for that depth."""
        return self.boundaries.at(depth)

    def allows(self, boundaries: Sequence[int], depth: int) -> bool:
        """Whether these boundaries, in any order, are among those that the evidence allows."""
        wanted = sorted(boundaries)
        lists = (layers.at(depth) for layers in (self.boundaries, *self.also))
        return any(given is not None and sorted(given) == wanted for given in lists)


@dataclass(frozen=True)
class Serving:
    """What one engine, in one way in which its admitted releases read ids, makes of a drafter.

    `launch` is None when only a pin says that the engine is in use. `ids` is the list that this reading takes, None
    when it finds none and captures its default; `unread` are lists that stand where it does not look. `off` is True
    when a key of the config switches the capture off. `assumed` says on whose default the link rests, "" when none.
    """

    reading: Reading
    release: Release
    launch: Launch | None = None
    target: Target | None = None
    ids: LayerIds | None = None
    unread: tuple[LayerIds, ...] = ()
    off: bool = False
    assumed: str = ""

    @property
    def engine(self) -> str:
        """The engine's name, as in the tables."""
        return self.reading.engine

    @property
    def depth(self) -> int:
        """N of the target of this launch, 0 when not known."""
        return self.target.depth if self.target is not None else 0

    @property
    def name(self) -> str:
        """Engine and release in a message: "SGLang 0.5.9", "vLLM 0.12.0 to 0.14.1"."""
        if self.release.exact:
            return f"{title(self.engine)} {self.release.exact}"
        return releases_named(self.engine, self.reading.first, self.reading.last)

    @property
    def key(self) -> str:
        """The JSON pointer under which the ids stand; "" for the default and for ids of a launch argument."""
        return self.ids.key if self.ids is not None and self.ids.key.startswith("/") else ""

    @property
    def declared(self) -> tuple[int, ...] | None:
        """The ids that this reading takes; None when it takes none or they are not a list of integers."""
        return integers(self.ids.ids) if self.ids is not None else None

    def meant(self, depth: int) -> tuple[int, ...] | None:
        """The boundaries that the ids (or the default) mean, reachable or not; None when not known."""
        return self._mapped(depth, self.reading.boundaries)

    def captured(self, depth: int) -> tuple[int, ...] | None:
        """The boundaries that really arrive, in the order in which they are concatenated; None when not known."""
        return self._mapped(depth, self.reading.captured)

    def _mapped(self, depth: int, how: Any) -> tuple[int, ...] | None:
        if self.off or self.reading.status != "ok":
            return None
        if self.ids is not None and self.declared is None:
            return None
        mapped: tuple[int, ...] | None = how(self.declared, depth or None, self.key)
        return mapped

    @property
    def depths(self) -> tuple[int, ...]:
        """N where it is known, else the depths for which everything that depends on N is compared."""
        return (self.depth,) if self.depth else SAMPLED_DEPTHS


class Server(NamedTuple):
    """A launch of a drafter, by whatever method, with one statement of the releases that it may run with.

    `launch` is None when only a pin says that the engine is in use. `target` is that of the launch; `assumed` says on
    whose default the link rests, "" when none.
    """

    launch: Launch | None
    release: Release
    target: Target | None = None
    assumed: str = ""

    @property
    def engine(self) -> str:
        """The engine's name, as in the tables."""
        return self.release.engine

    @property
    def doubt(self) -> str:
        """On whose default the server rests: that of its link, release, draft argument or target; "" when on none."""
        draft = self.launch.draft.assumed if self.launch is not None and self.launch.draft is not None else ""
        target = self.target.assumed if self.target is not None else ""
        return self.assumed or self.release.assumed or draft or target


class Extraction(NamedTuple):
    """A server or offline engine that is started to extract hidden states.

    `evidence` are the places that say so. `own_means` is True when the engine itself hands out the states (a method, a
    connector, a flag) and False when code beside or inside it takes them.
    """

    launch: Launch
    releases: tuple[Release, ...]
    evidence: tuple[Step, ...]
    own_means: bool = True
    target: Target | None = None


class Ambiguity(NamedTuple):
    """What can not be linked: where to say so, what it is, the drafters it could belong to, and the places of it."""

    where: Location
    what: str
    candidates: tuple[str, ...]
    places: tuple[Location, ...]


@dataclass(frozen=True)
class Evidence:
    """What is known of the training of a drafter: `best` are the statements of the highest rank, `all` every one."""

    best: tuple[Training, ...] = ()
    all: tuple[Training, ...] = field(default=())

    @property
    def clear(self) -> Training | None:
        """The one thing that the best evidence says; None when there is none or it contradicts itself."""
        if not self.best:
            return None
        first = self.best[0]
        return first if all(other.boundaries == first.boundaries for other in self.best) else None


def integers(ids: Sequence[Any]) -> tuple[int, ...] | None:
    """The ids as integers; None when an entry is anything else (a boolean, a string, a fraction)."""
    if any(isinstance(i, bool) or not isinstance(i, int) for i in ids):
        return None
    return tuple(ids)
