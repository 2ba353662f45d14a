"""Facts: what a project's files say, each with its place. Small immutable records that readers make and checks read.

Three-valued judgement runs through all of them: a value is known, or *assumed* (it is only the default of a variable or
an option that something outside the project may override), or unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from eaglelint.boundary import State
from eaglelint.fingerprints.records import Sample, SampleTarget
from eaglelint.location import Location, MappedText
from eaglelint.stored import CheckpointHeader, CheckpointIndex, VocabularyMap
from eaglelint.vendored import EngineModel

Confidence = Literal["proven", "likely", "possible"]


class Step(NamedTuple):
    """One hop of data flow: what happened to a value and where. Traces list steps from the capture onwards."""

    where: Location
    what: str


class Value(NamedTuple):
    """A value that a file gives to something.

    `value` is the JSON-like value (None when it is not `known`), `where` the place where it is used, `defined` the
    place of the variable's definition when it came through one, `assumed` says whose default it is ("default of
    $DRAFT") when something outside may override it, else "".
    """

    value: Any
    where: Location
    known: bool = True
    assumed: str = ""
    defined: Location | None = None


@dataclass(frozen=True)
class Document:
    """A JSON, YAML or TOML document with the place of each of its nodes.

    Pointers are JSON pointers (`/eagle_config/use_aux_hidden_state`, "" for the root). `spans` holds the place of each
    value, `keys` the place of the key of each mapping entry. `texts` holds the content of each string, decoded, with
    the place of each character, so that a command or JSON inside it points into the file. `duplicates` are the places
    of keys that a later one of the same name overrides.
    """

    path: str
    value: Any
    spans: Mapping[str, Location]
    keys: Mapping[str, Location]
    texts: Mapping[str, MappedText] = field(default_factory=dict, repr=False, compare=False)
    duplicates: tuple[Location, ...] = ()

    def get(self, pointer: str, default: Any = None) -> Any:
        """The value at a pointer, or `default` when there is none."""
        node = self.value
        for part in pointer.split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and part in node:
                node = node[part]
            elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
                node = node[int(part)]
            else:
                return default
        return node

    def has(self, pointer: str) -> bool:
        """Whether there is a node at a pointer (also when its value is null)."""
        return pointer in self.spans

    def where(self, pointer: str) -> Location:
        """The place to point at for a node: its key when it is a mapping entry, else the value, else the file."""
        for places in (self.keys, self.spans):
            if pointer in places:
                return places[pointer]
        return Location(self.path)


class LayerIds(NamedTuple):
    """A list of layer ids as written, and the key that holds it.

    `key` is the JSON pointer in the config, `ids` the list as it stands (not validated: entries may be any JSON value).
    """

    key: str
    ids: tuple[Any, ...]
    where: Location


@dataclass(frozen=True)
class DrafterConfig:
    """The config.json of a drafter.

    `dialect`: "flat" (nested `eagle_config` or top-level ids), "speculators", "dflash", "dspark", "unknown".
    `method`: what kind of head it is: "eagle3", "eagle" (EAGLE-1/2), "dflash", "dspark", "medusa", "mtp", "unknown".
    `id_lists`: every list of target layer ids in it, under known keys and near misses, in file order.
    `folder` is the path of the folder relative to the root, "" for the root itself.
    """

    path: str
    folder: str
    dialect: str
    method: str
    architectures: tuple[str, ...]
    model_type: str
    id_lists: tuple[LayerIds, ...]
    document: Document

    @property
    def where(self) -> Location:
        """The start of the file's outermost object."""
        return self.document.spans.get("", Location(self.path))


@dataclass(frozen=True)
class TargetConfig:
    """The config.json of a target: `depth` is N in decoder layers, `hidden_size` its width; 0 when not given.

    `text_prefix` is "/text_config" (or the like) when the language model's values stand in a nested config.
    """

    path: str
    folder: str
    architectures: tuple[str, ...]
    model_type: str
    depth: int
    hidden_size: int
    vocab_size: int
    text_prefix: str
    document: Document


class Argument(NamedTuple):
    """One argument of a launch.

    `name` is normalised: no leading dashes, dashes as underscores; a key inside a JSON-valued argument is dotted
    (`speculative_config.method`). `spelling` is as written. A flag without a value has the value True. `where` is the
    place of the name as used in the command, `value.where` that of its value.
    """

    name: str
    spelling: str
    value: Value
    where: Location


@dataclass(frozen=True)
class Launch:
    """A server or an offline engine that something starts.

    `engine`: "sglang", "vllm", "tensorrt-llm", "tokenspeed", "llama.cpp", ... `form`: "shell", "python", "compose",
    "dockerfile", "kubernetes", "workflow", "yaml". `where` is the start of the command. `target` and `draft` are
    the values of the model arguments (path or Hub id), None when absent. `unit` names the service, stage or job whose
    pins apply, "" for the whole project. `complete` is False when words of the command are not known, so that an
    argument that is absent here may still be given. `mounts` are the folders that its container sees: the path outside
    (of the project or the host), the path inside.
    `patched_in` are the names of arguments that a patch of the project adds to the engine.
    """

    engine: str
    form: str
    where: Location
    arguments: tuple[Argument, ...]
    target: Value | None = None
    draft: Value | None = None
    unit: str = ""
    complete: bool = True
    environment: tuple[tuple[str, Value], ...] = ()
    mounts: tuple[tuple[str, str], ...] = ()
    patched_in: frozenset[str] = frozenset()

    def get(self, *names: str) -> Argument | None:
        """The last argument with one of these normalised names, as the command line would take it."""
        found = None
        for argument in self.arguments:
            if argument.name in names:
                found = argument
        return found


@dataclass(frozen=True)
class EnginePin:
    """Which releases of an engine or trainer something installs.

    `package` is the name that `readers/packages.py` gives it. `specifier` is a PEP 440 specifier set ("==0.5.9",
    ">=0.5.8,<0.6", "" for any). `exact` is the release when it can be only one, else "". `unknown` says why no release
    can be told (git URL, commit, `latest` image), else "". `source` is what says so: "requirements", "constraints",
    "project", "lock", "conda", "setup", "image", "install" or "checkout". `unit` as in Launch.
    """

    package: str
    specifier: str
    exact: str
    where: Location
    source: str
    unit: str = ""
    unknown: str = ""
    assumed: str = ""


@dataclass(frozen=True)
class ScriptRun:
    """A command that runs a Python script or module of the project: `words` are its arguments (None: not known)."""

    script: str
    words: tuple[Value, ...]
    where: Location
    environment: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True)
class EnvironmentSetting:
    """An environment variable that a shell script, Dockerfile or service sets."""

    name: str
    value: Value


#: For each depth N under which the code was run: the states, in order. One entry when N is known.
ByDepth = tuple[tuple[int, tuple[State, ...]], ...]


@dataclass(frozen=True)
class Capture:
    """The states that one place in the code takes off a target, in the order in which they are stored.

    `where` is the store, append or hook registration; `chosen` the id list or test that selects them; `trace` how the
    list got there, `columns` the same for each state alone. `missed` are the listed ids that can never match in that
    loop.
    """

    where: Location
    states: ByDepth
    chosen: Location | None
    confidence: Confidence
    framework: str
    trace: tuple[Step, ...] = ()
    assumed: str = ""
    target: Value | None = None
    columns: tuple[tuple[Step, ...], ...] = ()


@dataclass(frozen=True)
class Assembly:
    """Auxiliary states put side by side in one tensor: the columns of fc, in this order.

    `purpose`: "training", "runtime" (a home-made engine or benchmark) or "unknown". `trace` runs from the capture over
    files and names to the concatenation; `columns` holds the same for each column alone, as far as it is known.
    `ordered` is False when the order can not be told.
    """

    where: Location
    states: ByDepth
    confidence: Confidence
    purpose: str
    trace: tuple[Step, ...]
    assumed: str = ""
    ordered: bool = True
    target: Value | None = None
    drafter: str = ""
    preset: Location | None = None
    columns: tuple[tuple[Step, ...], ...] = ()


@dataclass(frozen=True)
class Label:
    """A name that holds a hidden state by data flow.

    `kind`: "variable", "key", "file", "argument". `source` is the Python source of the name as written.
    """

    name: str
    kind: str
    where: Location
    states: ByDepth
    trace: tuple[Step, ...]
    confidence: Confidence = "proven"
    owner: str = ""


@dataclass(frozen=True)
class Defect:
    """Something wrong with how states are taken, as the analyser saw it; `kind` is the slug of the rule it proves.

    `details` are values for the message, `related` the places that the verdict rests on, in data-flow order.
    """

    kind: str
    where: Location
    details: Mapping[str, Any] = field(default_factory=dict)
    related: tuple[Step, ...] = ()
    confidence: Confidence = "proven"


@dataclass(frozen=True)
class Unresolved:
    """A capture whose layer set is not known: `missing` says what value is, `where` the place of the capture."""

    where: Location
    missing: str
    at: Location | None = None


@dataclass(frozen=True)
class Unreadable:
    """A file that could not be read as what it is; `evidence` is False when nothing in it speaks of EAGLE-3."""

    where: Location
    reason: str
    evidence: bool = True


@dataclass(frozen=True)
class Recipe:
    """What a trainer or data generator was told: by a run configuration, a command, a variable or a model card.

    `trainer`, `path` and `form` (its index in `conventions.recipes.forms()`, -1: none) say who reads it; `trainer` is
    "" when that is not known. `step`: "data" (stores states), "train", "export", "convert" (rewrites a head) or "card".
    `where` is the start of the command, or the place that makes a document a recipe. `ids` is the list as written;
    `preset` is what stands in its place ("eagle"), "" for nothing. `stored` is where it says that the states come from
    elsewhere, `configured` the run configuration that it names. `given` holds every further argument or key, by name.
    """

    trainer: str
    path: str
    step: str
    where: Location
    form: int = -1
    ids: LayerIds | None = None
    preset: str = ""
    target: Value | None = None
    draft: Value | None = None
    output: Value | None = None
    source: Value | None = None
    stored: Location | None = None
    configured: Value | None = None
    dtype: Value | None = None
    given: Mapping[str, Value] = field(default_factory=dict)
    complete: bool = True


class Comment(NamedTuple):
    """Words that speak of layers beside code that takes hidden states.

    `kind` is "comment" or "docstring". `beside` is the place of the capture, concatenation or name that it stands next
    to: on its line, above it, above the list that drives it, or in the docstring of the function around it.
    """

    text: str
    where: Location
    kind: str
    beside: Location


class CacheSalt(NamedTuple):
    """A place at which requests to a server are given a cache namespace of their own: `name` is the field's."""

    name: str
    where: Location


@dataclass(frozen=True)
class Facts:
    """Everything that the readers found in a project."""

    drafters: tuple[DrafterConfig, ...] = ()
    targets: tuple[TargetConfig, ...] = ()
    launches: tuple[Launch, ...] = ()
    pins: tuple[EnginePin, ...] = ()
    runs: tuple[ScriptRun, ...] = ()
    environment: tuple[EnvironmentSetting, ...] = ()
    captures: tuple[Capture, ...] = ()
    assemblies: tuple[Assembly, ...] = ()
    labels: tuple[Label, ...] = ()
    defects: tuple[Defect, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    comments: tuple[Comment, ...] = ()
    salts: tuple[CacheSalt, ...] = ()
    checkpoints: tuple[CheckpointHeader, ...] = ()
    indexes: tuple[CheckpointIndex, ...] = ()
    maps: tuple[VocabularyMap, ...] = ()
    recipes: tuple[Recipe, ...] = ()
    models: tuple[EngineModel, ...] = ()
    samples: tuple[Sample, ...] = ()
    sample_targets: tuple[SampleTarget, ...] = ()
