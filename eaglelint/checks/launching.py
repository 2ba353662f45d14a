"""What a launch says, over the releases that it may run with: shared by the rules on arguments (EGL302 - EGL311)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from eaglelint.checks import wording
from eaglelint.checks.heads import releases_of
from eaglelint.conventions import versions
from eaglelint.conventions.arguments import EngineArguments, engine_arguments
from eaglelint.conventions.table import engine as known_engine
from eaglelint.facts import Argument, Confidence, Launch, Step
from eaglelint.findings import Edit, Finding, Fix, Severity
from eaglelint.linking.methods import method
from eaglelint.linking.records import Server, releases_named, title
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

T = TypeVar("T")


class Served(NamedTuple):
    """A launch with one statement of its releases. `arguments` is what is known of its engine's arguments."""

    server: Server
    launch: Launch
    arguments: EngineArguments

    @property
    def engine(self) -> str:
        """The engine's name in messages."""
        return title(self.server.engine)


def served(pipeline: Pipeline, *engines: str) -> Iterator[Served]:
    """The launches of a drafter, and in the pipeline without one those that serve none, on these engines (or any)."""
    for server in (*pipeline.servers, *pipeline.unlinked):
        if server.launch is None or (engines and server.engine not in engines):
            continue
        arguments = engine_arguments(server.engine)
        if arguments is not None:
            yield Served(server, server.launch, arguments)


def speculative(launch: Launch) -> bool:
    """Whether a launch says anything of speculative decoding."""
    return launch.draft is not None or any(
        argument.name.startswith(("speculative_", "spec_decode_algo", "num_speculative"))
        for argument in launch.arguments
    )


def only_captures(launch: Launch) -> bool:
    """Whether the method only names a convention of ids: the server extracts states and drafts nothing."""
    return launch.get("enable_return_aux_hidden_states") is not None or method(launch).kind == "extraction"


def keywords(launch: Launch) -> bool:
    """Whether the arguments are keywords of a Python call or keys of a file, not options of a command."""
    return not any(argument.spelling.startswith("-") for argument in launch.arguments)


def spelled(launch: Launch, name: str) -> str:
    """How one would write an argument in this launch."""
    return name if keywords(launch) else f"--{name.replace('_', '-')}"


def integer(argument: Argument | None) -> int | None:
    """The number that an argument is given; None when it is absent, not known or no whole number."""
    if argument is None or not argument.value.known or isinstance(argument.value.value, bool):
        return None
    try:
        return int(str(argument.value.value).strip())
    except ValueError:
        return None


def text(argument: Argument | None) -> str | None:
    """What an argument is given as text; None when it is absent or not known."""
    if argument is None or not argument.value.known or argument.value.value is True:
        return None
    return str(argument.value.value)


def absent(launch: Launch, *names: str) -> bool:
    """Whether none of these arguments is given, for sure."""
    return launch.complete and launch.get(*names) is None


class Judged(NamedTuple, Generic[T]):
    """The releases with a fault, and the fault of the last of them. `certain`: every admitted release has one."""

    served: Served
    releases: tuple[str, ...]
    fault: T
    certain: bool
    beyond: bool

    @property
    def name(self) -> str:
        """The engine and the releases at fault, as they stand in messages."""
        server = self.served.server
        if server.release.exact:
            return f"{title(server.engine)} {server.release.exact}"
        engine = known_engine(server.engine)
        if (not server.release.specifier and self.certain) or not self.releases[0]:
            return f"{title(server.engine)}, in every release," if engine and self.releases[0] else title(server.engine)
        return releases_named(server.engine, self.releases[0], self.releases[-1])


def judge(launch: Served, fault: Callable[[str], T | None]) -> Judged[T] | None:
    """What the releases of a launch make of it; None when they do no wrong, or an open range is cured by its newest."""
    admitted = releases_of(launch.server)
    faults = [(release, found) for release in admitted if (found := fault(release)) is not None]
    if not faults:
        return None
    bad = tuple(release for release, _ in faults)
    certain = len(bad) == len(admitted)
    if not certain and not launch.server.release.bounded and bad[-1] != admitted[-1]:
        return None
    engine = known_engine(launch.server.engine)
    latest = engine.latest if engine is not None else ""
    beyond = bool(latest and admitted[0]) and versions.order(admitted[0]) > versions.order(latest)
    return Judged(launch, bad, faults[-1][1], certain, beyond)


def finding(
    code: str,
    judged: Judged[T],
    message: str,
    where: Location,
    *,
    given: Sequence[Argument | None] = (),
    doubts: Iterable[str] = (),
    severity: Severity = "error",
    related: Iterable[Step] = (),
    cure: str = "",
    edits: tuple[Edit, ...] = (),
    safe: bool = False,
    defect: str = "",
) -> Finding:
    """The finding; `given` are the arguments that it rests on, `doubts` on whose defaults it rests besides.

    `{name}` in the message is the engine with its releases. What is assumed, or holds in some of the admitted releases
    only, is a warning.
    """
    used = [argument for argument in given if argument is not None]
    launch, server = judged.served.launch, judged.served.server
    reasons = [reason for reason in (*(argument.value.assumed for argument in used), *doubts) if reason]
    reasons += [server.release.assumed] if server.release.assumed else []
    confidence: Confidence = "proven"
    if not judged.certain:
        severity, confidence = _lower(severity), "possible"
    elif reasons or judged.beyond:
        severity, confidence = _lower(severity), "likely"
    message = message.replace("{name}", judged.name)
    if reasons:
        message += f" (assumed: {wording.listed(reasons)})"
    steps = [Step(a.value.defined, "defined here") for a in used if a.value.defined is not None]
    steps += [Step(argument.where, f"{argument.spelling} is given here") for argument in used]
    steps += [*related, Step(launch.where, "the server is started here")]
    if server.release.where is not None:
        steps.append(Step(server.release.where, f"{judged.name.rstrip(',')} comes from here"))
    return Finding(
        rule=code,
        severity=severity,
        message=message,
        where=where,
        confidence=confidence,
        related=wording.unique(step for step in steps if step.where != where),
        fix=Fix(cure, "safe" if safe and confidence == "proven" else "unsafe", edits) if cure else None,
        defect=(defect or code, str(launch.where)),
    )


def _lower(severity: Severity) -> Severity:
    return "warning" if severity == "error" else severity
