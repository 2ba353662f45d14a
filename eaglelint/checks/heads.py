"""A drafter's config as engines see it, and what the releases that a server may run make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from eaglelint.checks import wording
from eaglelint.conventions import versions
from eaglelint.conventions.heads import Form, Found, HeadRules, head_rules
from eaglelint.conventions.known import KnownDrafter
from eaglelint.conventions.table import engine as known_engine
from eaglelint.facts import Confidence, Step
from eaglelint.findings import SEVERITIES, Finding, Fix, Severity
from eaglelint.linking.methods import method
from eaglelint.linking.records import Server, Serving, releases_named, title
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline


class HeadConfig(NamedTuple):
    """The config of a drafter: its form, what names its class, its values and places by JSON pointer.

    `where` gives the key, or the innermost object around it that is there. `recorded` marks a head that is known only
    by its published record; nothing that rests on it alone is an error.
    """

    form: Form
    architectures: tuple[str, ...]
    value: Callable[[str], Any]
    where: Callable[[str], Location]
    recorded: bool = False

    def found(self, rules: HeadRules, release: str) -> Found:
        """The drafter class with which a release loads it."""
        return rules.head_class(release, self.form, self.architectures, self.value)

    def loads(self, rules: HeadRules, release: str) -> bool:
        """Whether a release has an EAGLE-3 class for it and reads its form, as far as that is known."""
        if rules.reads(release, self.form) is False:
            return False
        found = self.found(rules, release).found if rules.classes else None
        return found.kind == "eagle3" if found is not None else not rules.exhaustive


def config_of(pipeline: Pipeline) -> HeadConfig | None:
    """The config of a pipeline's drafter, or what its published record says of it; None for neither."""
    if pipeline.drafter is not None:
        document = pipeline.drafter.document

        def where(pointer: str) -> Location:
            while pointer and not document.has(pointer):
                pointer = pointer.rpartition("/")[0]
            return document.where(pointer) if pointer else pipeline.where

        names = pipeline.drafter.architectures
        inner = document.get("/model/architectures")
        if not names and isinstance(inner, list):
            names = tuple(name for name in inner if isinstance(name, str))
        speculators = pipeline.drafter.dialect == "speculators"
        said = document.get("/speculators_model_type") or document.get("/speculators_config/algorithm")
        form = Form("speculators", str(said or "")) if speculators else Form("flat")
        return HeadConfig(form, names, document.get, where)
    return _recorded(pipeline.published, pipeline.where) if pipeline.published is not None else None


def _recorded(known: KnownDrafter, where: Location) -> HeadConfig:
    values: dict[str, Any] = {**known.geometry, **known.flags} if known.established else {}
    speculators = known.trainer == "speculators" or any(name.endswith("Speculator") for name in known.architectures)
    form = Form("speculators", "eagle3") if speculators else Form("flat")

    def value(pointer: str) -> Any:
        return values.get(pointer.rsplit("/", 1)[-1])

    return HeadConfig(form, known.architectures, value, lambda pointer: where, True)


def drafting(pipeline: Pipeline) -> Iterator[tuple[Server, HeadRules]]:
    """The servers of an EAGLE-3 head whose method captures states for it, with what is known of the engine."""
    if pipeline.method != "eagle3":
        return
    for server in pipeline.servers:
        rules = head_rules(server.engine)
        if rules is not None and (server.launch is None or method(server.launch).captures):
            yield server, rules


def foreign(pipeline: Pipeline, serving: Serving) -> bool:
    """Whether the releases of a reading do not read the form of the config at all, so that its ids mean nothing."""
    rules = head_rules(serving.engine)
    config = config_of(pipeline)
    if rules is None or config is None or config.form.name == "flat":
        return False
    reading = serving.reading
    return all(rules.reads(release, config.form) is False for release in (reading.first, reading.last))


class Fault(NamedTuple):
    """What a release makes of a head that it should not: `what` names the release as `{name}`, `cure` what to do."""

    what: str
    where: Location
    cure: str = ""


class Outcome(NamedTuple):
    """The releases of a server that are at fault, with the fault of the last; `later` is the first that is not.

    `certain` is True when every release that the server may run is at fault.
    """

    server: Server
    releases: tuple[str, ...]
    fault: Fault
    certain: bool
    severity: Severity
    confidence: Confidence
    later: str = ""

    @property
    def name(self) -> str:
        """The engine and the releases at fault, as they stand in messages."""
        return _name(self.server, self.releases)


def _name(server: Server, releases: Sequence[str]) -> str:
    if server.release.exact:
        return f"{title(server.engine)} {server.release.exact}"
    return releases_named(server.engine, releases[0], releases[-1])


def releases_of(server: Server) -> tuple[str, ...]:
    """The releases that a server may run, ascending; ("",) for engines whose releases are not told apart."""
    engine = known_engine(server.engine)
    if engine is None:
        return ()
    if engine.versioning != "pep440":
        return ("",)
    try:
        return versions.admitted(server.release.specifier, engine.known)
    except ValueError:
        return engine.known


def loading(server: Server, config: HeadConfig, rules: HeadRules) -> list[str]:
    """The releases of a server that can load the head; of the others EGL205 and EGL209 speak."""
    return [release for release in releases_of(server) if config.loads(rules, release)]


def judge(
    server: Server,
    fault: Callable[[str], Fault | None],
    releases: Sequence[str] | None = None,
    *,
    recorded: bool = False,
) -> Outcome | None:
    """What a server's releases make of a head; None when they do no wrong, or nobody pinned them and only some do.

    An error when all do, unless the verdict rests on a default, a record or a release that nobody read; a warning when
    a bounded set of releases disagrees, or the newest of an open one does wrong.
    """
    admitted = tuple(releases_of(server) if releases is None else releases)
    faults = [(release, found) for release in admitted if (found := fault(release)) is not None]
    if not faults:
        return None
    bad = tuple(release for release, _ in faults)
    certain = len(faults) == len(admitted)
    if not certain and not server.release.bounded and bad[-1] != admitted[-1]:
        return None
    severity: Severity = "error"
    confidence: Confidence = "proven"
    if not certain:
        severity, confidence = "warning", "possible"
    elif server.doubt or recorded or _beyond(server, admitted):
        severity, confidence = "warning", "likely"
    return Outcome(server, bad, faults[-1][1], certain, severity, confidence, _later(server, admitted, fault))


def _beyond(server: Server, admitted: Sequence[str]) -> bool:
    """Whether every admitted release is newer than the newest that was read."""
    engine = known_engine(server.engine)
    if engine is None or not engine.latest or not admitted[0]:
        return False
    return versions.order(admitted[0]) > versions.order(engine.latest)


def _later(server: Server, admitted: Sequence[str], fault: Callable[[str], Fault | None]) -> str:
    """The first release that was read, newer than all admitted ones, without the fault."""
    engine = known_engine(server.engine)
    if engine is None or not admitted[-1]:
        return ""
    newest = versions.order(admitted[-1])
    return next((r for r in engine.read if versions.order(r) > newest and fault(r) is None), "")


def findings(
    code: str, pipeline: Pipeline, outcomes: Iterable[Outcome], defect: tuple[str, ...] = ()
) -> Iterator[Finding]:
    """One finding for each place, which names every server that is at fault there."""
    places: dict[Location, list[Outcome]] = {}
    for outcome in outcomes:
        places.setdefault(outcome.fault.where, []).append(outcome)
    for where, group in places.items():
        worst = max(group, key=lambda outcome: SEVERITIES.index(outcome.severity))
        said = dict.fromkeys(outcome.fault.what.replace("{name}", outcome.name) for outcome in group)
        message = "; ".join(said)
        doubts = dict.fromkeys(outcome.server.doubt for outcome in group if outcome.server.doubt)
        if doubts:
            message += f" (assumed: {wording.listed(doubts)})"
        yield Finding(
            rule=code,
            severity=worst.severity,
            message=message,
            where=where,
            confidence=worst.confidence,
            related=steps(group),
            fix=_cure(group),
            defect=defect,
        )


def _cure(group: Sequence[Outcome]) -> Fix | None:
    texts = [outcome.fault.cure for outcome in group if outcome.fault.cure]
    texts += [f"{title(o.server.engine)} {o.later} is the first release that is right" for o in group if o.later]
    return Fix("; ".join(dict.fromkeys(texts))) if texts else None


def steps(outcomes: Iterable[Outcome]) -> tuple[Step, ...]:
    """Where the releases come from and where the head is served."""
    found: list[Step] = []
    for outcome in outcomes:
        server = outcome.server
        if server.release.where is not None:
            found.append(Step(server.release.where, f"{outcome.name} comes from here"))
        if server.launch is not None:
            found.append(Step(server.launch.where, "the drafter is served here"))
    return wording.unique(found)
