"""Facts made by hand, so that linking and checks are tested without a reader or the analyser."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from eaglelint.boundary import State
from eaglelint.checks.registry import load_all
from eaglelint.facts import (
    Argument,
    Assembly,
    Capture,
    Defect,
    DrafterConfig,
    EnginePin,
    Facts,
    Label,
    Launch,
    LayerIds,
    ScriptRun,
    Step,
    TargetConfig,
    Value,
)
from eaglelint.findings import Finding
from eaglelint.location import Location, MappedText
from eaglelint.pipeline import Pipeline, link
from eaglelint.project import Source
from eaglelint.readers.documents import documents
from eaglelint.readers.drafter import read_config
from eaglelint.readers.json_document import read_json
from eaglelint.settings import Settings

NESTED = "/eagle_config/eagle_aux_hidden_state_layer_ids"
TOP = "/eagle_aux_hidden_state_layer_ids"


def at(path: str, line: int = 1) -> Location:
    """A place for which only the line matters."""
    return Location(path, line, 1, line, 1, line * 100, line * 100)


def states(
    boundaries: Sequence[int], depth: int, normed: int | None = None
) -> tuple[tuple[int, tuple[State, ...]], ...]:
    """The states of one target depth; the boundary `normed` is the final norm's output."""
    return ((depth, tuple(State(b, normed=b == normed) for b in boundaries)),)


@dataclass
class World:
    """A project in facts. Each method adds what one file would say."""

    lists: dict[str, list[Any]] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)

    def _add(self, kind: str, fact: Any) -> Any:
        self.lists.setdefault(kind, []).append(fact)
        return fact

    def drafter(
        self,
        ids: Sequence[Any] | None = None,
        *,
        path: str = "head/config.json",
        key: str = NESTED,
        method: str = "eagle3",
        more: Mapping[str, Any] | None = None,
        more_lists: Mapping[str, Sequence[int]] | None = None,
    ) -> DrafterConfig:
        """A drafter's config.json with its ids under `key`."""
        value: dict[str, Any] = {"architectures": ["LlamaForCausalLMEagle3"], **(more or {})}
        lists = {**({key: list(ids)} if ids is not None else {}), **(more_lists or {})}
        for pointer, entries in lists.items():
            *above, name = pointer.strip("/").split("/")
            node = value
            for part in above:
                node = node.setdefault(part, {})
            node[name] = list(entries)
        document = read_json(MappedText.whole(path, json.dumps(value, indent=2)))
        found = tuple(LayerIds(p, tuple(entries), document.where(p)) for p, entries in lists.items())
        folder = posixpath.dirname(path)
        names = tuple(value["architectures"])
        return self._add("drafters", DrafterConfig(path, folder, "flat", method, names, "", found, document))

    def config(self, value: Mapping[str, Any], *, path: str = "head/config.json") -> DrafterConfig:
        """A drafter's config.json as the reader sees it; line n of it is that of `json.dumps(value, indent=2)`."""
        source = Source(path, "json", Path(path), json.dumps(value, indent=2).encode())
        found = read_config(source, documents(source)[0])
        assert isinstance(found, DrafterConfig)
        return self._add("drafters", found)

    def target(
        self, depth: int, *, path: str = "target/config.json", architecture: str = "Qwen3ForCausalLM", width: int = 4096
    ) -> TargetConfig:
        """A target's config.json."""
        value = {"architectures": [architecture], "num_hidden_layers": depth, "hidden_size": width}
        document = read_json(MappedText.whole(path, json.dumps(value, indent=2)))
        folder = posixpath.dirname(path)
        return self._add("targets", TargetConfig(path, folder, (architecture,), "", depth, width, 0, "", document))

    def sglang(self, draft: str | None = "head", target: str | None = "target", **more: Any) -> Launch:
        """An SGLang server; `options` are further arguments."""
        return self._launch("sglang", draft, target, {"speculative_algorithm": more.pop("algorithm", "EAGLE3")}, **more)

    def vllm(self, draft: str | None = "head", target: str | None = "target", **more: Any) -> Launch:
        """A vLLM server."""
        return self._launch(
            "vllm", draft, target, {"speculative_config.method": more.pop("algorithm", "eagle3")}, **more
        )

    def _launch(
        self,
        engine: str,
        draft: str | None,
        target: str | None,
        method: Mapping[str, Any],
        *,
        path: str = "serve.sh",
        line: int = 3,
        unit: str = "",
        options: Mapping[str, Any] | None = None,
        assumed: str = "",
        complete: bool = True,
        known: bool = True,
        mounts: tuple[tuple[str, str], ...] = (),
    ) -> Launch:
        given = {name: value for name, value in {**method, **(options or {})}.items() if value is not None}
        arguments = tuple(
            Argument(name, f"--{name.replace('_', '-')}", Value(value, at(path, line + n)), at(path, line + n))
            for n, (name, value) in enumerate(given.items(), 1)
        )
        return self._add(
            "launches",
            Launch(
                engine=engine,
                form="shell",
                where=at(path, line),
                arguments=arguments,
                target=Value(target, at(path, line)) if target is not None else None,
                draft=Value(draft, at(path, line), known, assumed) if draft is not None else None,
                unit=unit,
                complete=complete,
                mounts=mounts,
            ),
        )

    def pin(
        self, package: str, specifier: str, *, path: str = "requirements.txt", unit: str = "", unknown: str = ""
    ) -> EnginePin:
        """A pinned release."""
        exact = specifier[2:] if specifier.startswith("==") else ""
        return self._add("pins", EnginePin(package, specifier, exact, at(path), "requirements", unit, unknown))

    def trained(
        self, boundaries: Sequence[int], depth: int, *, path: str = "train.py", dump: str = "dump.py", **more: Any
    ) -> Assembly:
        """Training code that concatenates what a dump script took."""
        trace = (Step(at(dump, 7), "captured"), Step(at(dump, 9), "stored"))
        more.setdefault("confidence", "proven")
        more.setdefault("purpose", "training")
        return self._add("assemblies", Assembly(at(path, 11), states(boundaries, depth), trace=trace, **more))

    def captured(
        self, boundaries: Sequence[int], depth: int, *, path: str = "dump.py", line: int = 7, **more: Any
    ) -> Capture:
        """Code that takes states off the target."""
        normed = more.pop("normed", None)
        more.setdefault("confidence", "proven")
        more.setdefault("framework", "transformers")
        taken = states(boundaries, depth, normed)
        return self._add("captures", Capture(at(path, line), taken, None, **more))

    def label(self, name: str, boundary: int, depth: int, **more: Any) -> Label:
        """A name that holds a state."""
        line, path = more.pop("line", 20), more.pop("path", "collect.py")
        normed = boundary if more.pop("normed", False) else None
        more.setdefault("kind", "variable")
        more.setdefault("trace", (Step(at("dump.py", 7), "captured before the layer"),))
        return self._add("labels", Label(name, where=at(path, line), states=states([boundary], depth, normed), **more))

    def defect(self, kind: str, **more: Any) -> Defect:
        """Something that the analyser proved."""
        return self._add("defects", Defect(kind, more.pop("where", at("train.py", 11)), **more))

    def run(self, script: str, *words: str, path: str = "run.sh") -> ScriptRun:
        """A command that runs a script."""
        values = tuple(Value(word, at(path)) for word in words)
        return self._add("runs", ScriptRun(script, values, at(path)))

    @property
    def facts(self) -> Facts:
        """Everything that was added."""
        return Facts(**{kind: tuple(facts) for kind, facts in self.lists.items()})

    def pipelines(self) -> tuple[Pipeline, ...]:
        """The project, linked."""
        return link(self.facts, self.settings)

    def pipeline(self) -> Pipeline:
        """The only drafter's pipeline."""
        (found,) = [pipeline for pipeline in self.pipelines() if pipeline.name]
        return found

    def findings(self, *codes: str) -> list[Finding]:
        """What the checks of these rules find, in every pipeline."""
        return [
            finding
            for registered in load_all().pipeline
            for pipeline in self.pipelines()
            for finding in registered.function(pipeline)
            if finding.rule in codes or not codes
        ]

    def finding(self, code: str) -> Finding:
        """The one finding of a rule."""
        found = self.findings(code)
        assert len(found) == 1, [finding.message for finding in found]
        return found[0]


@pytest.fixture
def world() -> World:
    """An empty project."""
    return World()
