"""Pipelines: the facts that belong to one drafter, from the capture over data, training and config to the server.

Linked by explicit configuration first, then by paths that name each other, then by being the only candidate in the
project. What can not be linked is not guessed: it becomes an `Ambiguity` (EGL004).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from eaglelint.conventions.known import KnownDrafter
from eaglelint.facts import (
    Assembly,
    CacheSalt,
    Capture,
    Comment,
    Defect,
    DrafterConfig,
    EnginePin,
    EnvironmentSetting,
    Facts,
    Label,
    Launch,
    LayerIds,
    ScriptRun,
    Unresolved,
    Value,
)
from eaglelint.linking import (
    checkpoints,
    direct,
    evidence,
    extraction,
    heads,
    options,
    releases,
    serving,
    targets,
    told,
    training,
)
from eaglelint.linking.checkpoints import Checkpoint
from eaglelint.linking.heads import Head
from eaglelint.linking.recipes import Told
from eaglelint.linking.records import Ambiguity, Evidence, Extraction, Release, Server, Serving, Target, Training
from eaglelint.location import Location
from eaglelint.settings import PipelineSettings, Settings

__all__ = [
    "Ambiguity", "Evidence", "Extraction", "Pipeline", "Release", "Server", "Serving", "Target", "Training", "link",
]  # fmt: skip


@dataclass(frozen=True)
class Pipeline:
    """Everything that belongs to one drafter.

    `name` is its folder (the path of a config that is not called config.json) or Hub id, "" for code that belongs to no
    drafter. `drafter` is its config, None for a head that is known only by its Hub id; `published` what is known of
    such a head. `method` is the kind of head. `id_lists` are the ids that it declares, in file order; `declared` is
    False when it is not known which. `template` marks a config that is no checkpoint's (the draft config of a training
    run beside an exported head), and `served_elsewhere` a drafter without a launch in a project that serves another.
    `servers` are its launches and the engines that are only pinned, whatever the kind of head; `servings` what those
    that capture make of the ids of an EAGLE-3 head, and `elsewhere` what other releases of the same engines that the
    project names would make of them. `told` are the recipes by which it may have been made, `beside` what a training
    was told and what the recipe of its data was, where both list ids; `strangers` are the targets of code and recipes
    that fit none, in a project with only one head.

    Of the whole project are `others`, the launches that serve no drafter, `runs`, `environment` and `comments`.
    `extractions`, with `salts`, `unlinked`, the launches of `others` with their releases, and `serving`, the launches
    that serve a drafter, stand in the pipeline without a drafter only.
    """

    name: str
    where: Location
    drafter: DrafterConfig | None = None
    published: KnownDrafter | None = None
    method: str = "unknown"
    id_lists: tuple[LayerIds, ...] = ()
    declared: bool = True
    template: bool = False
    target: Target | None = None
    launches: tuple[Launch, ...] = ()
    servers: tuple[Server, ...] = ()
    servings: tuple[Serving, ...] = ()
    elsewhere: tuple[Serving, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
    captures: tuple[Capture, ...] = ()
    assemblies: tuple[Assembly, ...] = ()
    labels: tuple[Label, ...] = ()
    defects: tuple[Defect, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    told: tuple[Told, ...] = ()
    strangers: tuple[Value, ...] = ()
    ambiguities: tuple[Ambiguity, ...] = ()
    served_elsewhere: bool = False
    others: tuple[Launch, ...] = ()
    environment: tuple[EnvironmentSetting, ...] = ()
    unlinked: tuple[Server, ...] = ()
    serving: tuple[Launch, ...] = ()
    extractions: tuple[Extraction, ...] = ()
    salts: tuple[CacheSalt, ...] = ()
    runs: tuple[ScriptRun, ...] = ()
    comments: tuple[Comment, ...] = ()
    checkpoint: Checkpoint | None = None
    beside: tuple[tuple[Training, Training], ...] = ()

    @property
    def depth(self) -> int:
        """N of the target in decoder layers, 0 when not known."""
        return self.target.depth if self.target is not None else 0

    @property
    def training(self) -> Training | None:
        """What the head was trained on, when the best evidence says one thing."""
        return self.evidence.clear


def link(facts: Facts, settings: Settings) -> tuple[Pipeline, ...]:
    """One pipeline for each drafter of the project, and one without a drafter for the code that belongs to none."""
    facts = replace(facts, launches=direct.applied(options.applied(facts.launches), facts))
    every = heads.find(facts, settings)
    extractions = extraction.find(facts, settings)
    facts = replace(facts, captures=(*facts.captures, *extraction.captures(facts, extractions)))
    owned = evidence.attribute(facts, every, settings)
    served = any(head.launches for head in every)
    serving_places = {launch.where for head in every for launch in head.launches}
    shared = Pipeline(
        name="",
        where=Location("."),
        others=tuple(launch for launch in facts.launches if launch.where not in serving_places),
        runs=facts.runs,
        comments=facts.comments,
        environment=facts.environment,
    )
    pins = releases.of_nobody(facts.pins, facts.launches, extractions, facts.recipes)
    stated = releases.configured(settings.engines, settings.file)
    pipelines = [
        _pipeline(head, owned.of(index), facts, settings, served, shared, pins, stated)
        for index, head in enumerate(every)
    ]
    rest = owned.rest
    real = [index for index, head in enumerate(every) if not head.template]
    if len(real) == 1:
        pipelines[real[0]] = replace(pipelines[real[0]], strangers=tuple(_targets_of(rest)))
    unlinked = tuple(_unlinked(shared.others, facts, settings, stated))
    if not rest.empty or owned.ambiguities or extractions or unlinked:
        target = _rest_target(facts, settings)
        pipelines.append(
            replace(
                shared,
                where=rest.where or Location("."),
                target=target,
                captures=rest.captures,
                assemblies=rest.assemblies,
                labels=rest.labels,
                defects=rest.defects,
                unresolved=rest.unresolved,
                told=rest.told,
                beside=told.beside(rest.told, None, target, facts),
                ambiguities=owned.ambiguities,
                extractions=extractions,
                salts=facts.salts,
                unlinked=unlinked,
                serving=tuple(launch for head in every for launch in head.launches),
            )
        )
    return tuple(pipelines)


def _targets_of(share: evidence.Share) -> Iterator[Value]:
    """The targets that code and recipes name."""
    found = [fact.target for fact in share.assemblies] + [fact.target for fact in share.captures]
    found += [recipe.target for entry in share.told for recipe in entry.places]
    yield from (value for value in found if value is not None)


def _pipeline(
    head: Head,
    share: evidence.Share,
    facts: Facts,
    settings: Settings,
    served: bool,
    shared: Pipeline,
    pins: Sequence[EnginePin],
    stated: Sequence[Release],
) -> Pipeline:
    target = _target(head, share, facts, settings)
    known = evidence_of(head, share, target, told.trainings(share.told, head.config, target, facts))
    servers = tuple(_servers(head, target, facts, settings, served, stated))
    return replace(
        shared,
        name=head.name,
        where=head.where,
        drafter=head.config,
        published=head.published,
        method=head.method,
        id_lists=head.id_lists,
        declared=head.declared,
        template=head.template,
        target=target,
        launches=head.launches,
        servers=servers,
        servings=tuple(_servings(head, servers, facts)),
        elsewhere=tuple(_servings(head, tuple(_elsewhere(servers, target, pins)), facts)),
        evidence=known,
        captures=share.captures,
        assemblies=share.assemblies,
        labels=share.labels,
        defects=share.defects,
        unresolved=share.unresolved,
        told=told.dated(share.told, head.config, facts),
        beside=told.beside(share.told, head.config, target, facts),
        served_elsewhere=served and not head.launches,
        checkpoint=checkpoints.of_drafter(head.config, facts) if head.config is not None else None,
    )


def _unlinked(
    others: Sequence[Launch], facts: Facts, settings: Settings, stated: Sequence[Release]
) -> Iterator[Server]:
    """The launches that serve no drafter, with their releases and targets."""
    for launch in others:
        target = _launch_target(launch, None, facts, None, settings)
        for release in releases.for_launch(launch, facts.pins, stated):
            yield Server(launch, release, target)


def evidence_of(
    head: Head, share: evidence.Share, target: Target | None, recipes: Sequence[tuple[int, Training]] = ()
) -> Evidence:
    """What is known of the training of a head: its published record, else what the project's code and recipes do.

    The form of its config speaks only where nothing else does.
    """
    depth = target.depth if target is not None else 0
    if head.published is not None and head.config is None:
        said = training.published(head.published, head.where)
        return Evidence((said,), (said,)) if said is not None else Evidence()
    found = training.weigh(share.assemblies, share.captures, share.defects, depth, recipes)
    said = told.lineage(head.config, target) if head.config is not None and not found.all else None
    return Evidence((said,), (said,)) if said is not None else found


def _servers(
    head: Head, target: Target | None, facts: Facts, settings: Settings, served: bool, stated: Sequence[Release]
) -> Iterator[Server]:
    """The launches of a head with their releases; the engines that are only pinned where nothing serves any head.

    `stated` are the releases that the configuration gives for the whole project.
    """
    own = releases.stated(head.settings.engine, settings.file) if head.settings is not None else None
    if own is not None:
        same = tuple(release for release in stated if release.engine == own.engine)
        stated = (*((own,) if own.specifier or not same else same), *(r for r in stated if r.engine != own.engine))
    for launch in head.launches:
        mine = _launch_target(launch, target, facts, head.settings, settings)
        for release in releases.for_launch(launch, facts.pins, stated):
            yield Server(launch, release, mine, head.guesses.get(launch.where, ""))
    if not head.launches and not served and not head.template:
        started = {releases.canonical(launch.engine) for launch in facts.launches}
        for release in releases.only_pinned(facts.pins, stated, started):
            if own is None or release.engine == own.engine:
                yield Server(None, release, target)


def _elsewhere(servers: Sequence[Server], target: Target | None, pins: Sequence[EnginePin]) -> Iterator[Server]:
    """The other releases of the engines that serve a head which the project names somewhere."""
    for engine in dict.fromkeys(server.engine for server in servers):
        mine = [server.release for server in servers if server.engine == engine]
        places = {release.where for release in mine}
        for release in releases.named_besides(engine, mine, pins):
            if release.where not in places:
                yield Server(None, release, target)


def _servings(head: Head, servers: Sequence[Server], facts: Facts) -> Iterator[Serving]:
    if head.method != "eagle3" or head.template or not head.declared:
        return
    for server in servers:
        yield from serving.servings(
            head.id_lists, head.value, server.launch, [server.release], server.target, server.assumed, facts.models,
            facts.environment,
        )  # fmt: skip


def _launch_target(
    launch: Launch, target: Target | None, facts: Facts, own: PipelineSettings | None, settings: Settings
) -> Target | None:
    """The target that a launch serves: its model argument, else that of the pipeline."""
    stated = _stated_target(own, facts, settings)
    if stated is not None:
        return stated
    found = targets.of_launch(launch, facts.targets)
    if found is None or (not found.depth and not found.architectures):
        return target or found
    return found


def _stated_target(own: PipelineSettings | None, facts: Facts, settings: Settings) -> Target | None:
    if own is not None and own.target:
        return targets.configured(own.target, facts.targets, settings.file)
    return targets.configured(settings.target, facts.targets, settings.file)


def _target(head: Head, share: evidence.Share, facts: Facts, settings: Settings) -> Target | None:
    """The target of a drafter: stated, launched, named by its config, its record or the capture, or the only one."""
    stated = _stated_target(head.settings, facts, settings)
    if stated is not None:
        return stated
    named: list[Target | None] = [targets.of_launch(launch, facts.targets) for launch in head.launches]
    if head.config is not None:
        named.append(targets.hinted(head.config, facts.targets))
    if head.published is not None:
        named.append(targets.by_name(head.published.target, head.where))
    evident = [fact.target for fact in share.assemblies] + [fact.target for fact in share.captures]
    evident += [recipe.target for entry in share.told for recipe in entry.places]
    named += [targets.find(value, facts.targets) for value in evident]
    if len(facts.targets) == 1 and facts.targets[0].depth:
        named.append(targets.of_config(facts.targets[0]))
    known = [target for target in named if target is not None]
    return next((target for target in known if target.depth), known[0] if known else None)


def _rest_target(facts: Facts, settings: Settings) -> Target | None:
    stated = targets.configured(settings.target, facts.targets, settings.file)
    if stated is not None:
        return stated
    return targets.of_config(facts.targets[0]) if len(facts.targets) == 1 and facts.targets[0].depth else None
