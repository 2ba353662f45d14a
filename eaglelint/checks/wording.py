"""The words of findings: what was trained and where that was read, what an engine makes of ids, what would be right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eaglelint.boundary import difference, show, show_ids
from eaglelint.checks.judging import Verdict
from eaglelint.conventions.records import Reading
from eaglelint.conventions.rules import MEANING, NOWHERE
from eaglelint.conventions.table import engine as known_engine
from eaglelint.facts import Step
from eaglelint.linking.records import Serving, Target, Training, releases_named, title
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline


def listed(items: Iterable[str], last: str = "and") -> str:
    """A list in words: "a, b and c"."""
    every = list(dict.fromkeys(items))
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} {last} {every[-1]}" if every else ""


def numbers(boundaries: Sequence[int]) -> str:
    """Boundaries with the word before them: "boundaries 2, 16, 29", "boundary 3", "no boundary"."""
    known = [b for b in boundaries if b != NOWHERE]
    if not known:
        return "no boundary"
    return f"boundar{'y' if len(known) == 1 else 'ies'} {show(known)}"


def trained_words(training: Training, depth: int) -> str:
    """What the head was trained on and where that was read."""
    boundaries = training.at(depth) or ()
    if training.source == "published":
        return f"{training.what} {numbers(boundaries)}"
    places = []
    if training.capture is not None and str(training.capture) != str(training.where):
        places.append(f"captured at {training.capture}")
    if training.where is not None:
        places.append(f"{training.what} at {training.where}")
    return f"the drafter was trained on {numbers(boundaries)} ({', '.join(places)})"


def rule_words(reading: Reading) -> str:
    """By which rule a reading turns ids into boundaries."""
    words = MEANING.get(reading.rule, reading.rule)
    return f"{words}, on model runner {reading.runner}" if reading.runner else words


def served_words(name: str, verdict: Verdict) -> str:
    """What the releases called `name` capture for the ids, and by which rule."""
    serving = verdict.serving
    on = target_words(serving.target)
    if serving.ids is None:
        text = f"{name} captures its default {numbers(verdict.captured)}{on}"
    else:
        ids = show_ids(serving.declared or ())
        text = f"{name} takes {ids} as {numbers(verdict.meant)}{on} ({rule_words(serving.reading)})"
    return text if verdict.fixed else f"{text} for {verdict.depth} layers"


def target_words(target: Target | None) -> str:
    """The target that a reading holds for: " of Qwen/Qwen3-8B with 36 layers", "" when it is not known."""
    if target is None:
        return ""
    return f" of {target.name} with {target.depth} layers" if target.depth else f" of {target.name}"


def by_release(verdicts: Iterable[Verdict]) -> list[tuple[str, Verdict]]:
    """The distinct verdicts with the releases they hold for; neighbouring ranges that agree are named as one."""
    found: dict[tuple[object, ...], list[Verdict]] = {}
    for verdict in verdicts:
        reading = verdict.serving.reading
        key = (verdict.serving.release, reading.rule, reading.runner, verdict.serving.ids, *verdict[1:5])
        found.setdefault(key, []).append(verdict)
    named: dict[tuple[str, object], tuple[str, Verdict]] = {}
    for said, group in found.items():
        first, last = group[0].serving, group[-1].serving
        name = first.name
        if not first.release.exact and last.reading.last != first.reading.first:
            name = releases_named(first.engine, first.reading.first, last.reading.last)
        named.setdefault((name, said[1:]), (name, group[0]))
    return list(named.values())


def difference_words(verdict: Verdict) -> str:
    """How the captured boundaries differ from the trained ones, and which can not be captured at all."""
    meant = [b for b in verdict.meant if b != NOWHERE]
    words = difference(sorted(verdict.trained), sorted(meant))
    lost = [b for b in meant if b not in verdict.captured]
    return f"{words} ({numbers(lost)} can not be captured)" if lost else words


def steps(pipeline: Pipeline, trainings: Sequence[Training], servings: Sequence[Serving]) -> tuple[Step, ...]:
    """Everything that a verdict rests on, in the order of the data flow: capture, training, release, server, target."""
    found: list[Step] = []
    for training in trainings:
        found += training.trace
        if training.where is not None and training.source != "published":
            found.append(Step(training.where, f"{training.what} here"))
    for serving in servings:
        if serving.release.where is not None:
            found.append(Step(serving.release.where, f"{serving.name} comes from here"))
        if serving.launch is not None:
            found.append(Step(serving.launch.where, "the drafter is served here"))
    targets = [serving.target for serving in servings] or [pipeline.target]
    for target in targets:
        if target is not None and target.config is not None:
            pointer = f"{target.config.text_prefix}/num_hidden_layers"
            found.append(Step(target.config.document.where(pointer), f"the target has {target.depth} layers"))
    return unique(found)


def unique(found: Iterable[Step]) -> tuple[Step, ...]:
    """Steps without repetitions, in their order."""
    seen: dict[Location, Step] = {}
    for step in found:
        seen.setdefault(step.where, step)
    return tuple(seen.values())


def right_ids(serving: Serving, trained: Sequence[int], depth: int, key: str = "") -> tuple[int, ...] | None:
    """Ids with which this reading captures exactly these boundaries, None when there are none."""
    wanted = sorted(trained) if serving.reading.order == "ascending" else list(trained)
    return serving.reading.ids_for(wanted, depth or None, key or serving.key)


def placed_ids(serving: Serving, trained: Sequence[int], depth: int) -> str:
    """Under which key this reading needs which ids to capture these boundaries."""
    key = serving.reading.keys[0]
    ids = right_ids(serving, trained, depth, key)
    if ids is None:
        return f"no ids make {serving.name} capture {numbers(trained)}"
    return f"{pointer_words(key)}: {show_ids(ids)} for {serving.name}"


def pointer_words(key: str) -> str:
    """A key of the config in words: `eagle_aux_hidden_state_layer_ids` under `eagle_config`."""
    *above, name = key.strip("/").split("/")
    return f"`{name}` " + (f"under `{'.'.join(above)}`" if above else "at the top level")


def later_readings(serving: Serving) -> list[Reading]:
    """How releases newer than the admitted ones read ids, the oldest first; none for engines without releases."""
    engine = known_engine(serving.engine)
    if engine is None or engine.versioning != "pep440" or not serving.reading.last:
        return []
    later = engine.readings(f">{serving.reading.last}", serving.target)
    return [reading for reading in later if reading.status == "ok" and not reading.beyond]


def newer(serving: Serving, trained: Sequence[int], depth: int) -> tuple[str, tuple[int, ...] | None] | None:
    """The first newer release that captures these boundaries: its name, and the ids (None: as they stand)."""
    wanted = tuple(sorted(trained))
    for reading in later_readings(serving):
        if reading.rule == "ignored":
            continue
        key = serving.key if serving.key in reading.keys else (reading.keys[0] if reading.keys else "")
        name = f"{title(serving.engine)} {reading.first}"
        if key == serving.key and reading.captured(serving.declared, depth or None, key) == wanted:
            return name, None
        ids = reading.ids_for(wanted, depth or None, key)
        if ids is not None:
            return name, ids
    return None
