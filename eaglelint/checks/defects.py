"""What the analyser proves of capture, dump and training code: one finding for each defect.

A `Defect` of the analyser becomes the finding of the rule whose slug is its `kind`. Its `details` may hold:

- `message`: the finding's words, complete;
- `severity`: another severity than the rule's own;
- `fix`: what to do, in words.

What else they hold is up to the kind; the functions below say it in words and do without what is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from eaglelint.boundary import show, show_ids
from eaglelint.checks import wording
from eaglelint.checks.registry import check
from eaglelint.conventions.known import known_target
from eaglelint.facts import Defect, Launch, Step
from eaglelint.findings import SEVERITIES, Finding, Fix, Severity
from eaglelint.linking.records import title
from eaglelint.pipeline import Pipeline

#: What a launch calls the number of its pipeline ranks.
_PIPELINE_RANKS = ("pipeline_parallel_size", "pp_size", "pipeline_parallel", "pp")

#: Bits of the float types in which targets compute and dumps are stored.
_BITS = {"float8_e4m3fn": 8, "float8_e5m2": 8, "int8": 8, "float16": 16, "half": 16, "bfloat16": 16, "float32": 32}


class Words(NamedTuple):
    """How a kind of defect is said: the rule's code and severity, the words, and the cure."""

    code: str
    severity: Severity
    words: Callable[[Defect], str]
    fix: str = ""


def _listed(details: Mapping[str, Any], key: str) -> str:
    """A list of the details as it stands in messages, "" when there is none."""
    value = details.get(key)
    if isinstance(value, (list, tuple)):
        return ", ".join(str(entry) for entry in value)
    return "" if value is None else str(value)


def _numbers(details: Mapping[str, Any], key: str) -> list[int]:
    """The integers of a list in the details, none when there is no such list."""
    value = details.get(key)
    if not isinstance(value, (list, tuple)):
        return []
    return [entry for entry in value if isinstance(entry, int) and not isinstance(entry, bool)]


def _unreachable(defect: Defect) -> str:
    """Ids beyond the loop, or left out before it. Where N is not known they are said relative to it."""
    boundary, depth = defect.details.get("boundary"), defect.details.get("depth")
    if isinstance(boundary, int) and isinstance(depth, int):
        return _left_out(defect, boundary, depth)
    missed, highest = _numbers(defect.details, "ids"), defect.details.get("highest")
    known = bool(defect.details.get("depth_known", True))

    def named(number: int) -> str:
        if known or not isinstance(highest, int) or number <= highest:
            return str(number)
        beyond = number - highest - 1
        return f"N + {beyond}" if beyond else "N"

    many = len(missed) > 1
    listed = ", ".join(named(number) for number in missed)
    said = f"id{'s' if many else ''} {listed}" if missed else "an id of this list"
    text = f"{said} can never match here"
    if isinstance(highest, int):
        text += f": the loop counts from 0 to {highest if known else 'N - 1'} for N layers"
    return f"{text}, so {'these states are' if many else 'this state is'} never captured"


def _left_out(defect: Defect, boundary: int, depth: int) -> str:
    def named(number: int) -> str:
        if defect.details.get("depth_known", True) or number < depth - 8:
            return str(number)
        return "N" if number == depth else f"N {'-' if number < depth else '+'} {abs(number - depth)}"

    listed = ", ".join(named(number) for number in _numbers(defect.details, "ids"))
    return f"this condition leaves id {listed} out, so boundary {named(boundary)} is never captured"


def _unreachable_fix(defect: Defect) -> str:
    missed, highest = _numbers(defect.details, "ids"), defect.details.get("highest")
    last = defect.details.get("boundary")
    if last is not None and last == defect.details.get("depth"):
        return "take boundary N, the output of the last layer, after the loop (before the final norm)"
    if isinstance(highest, int) and highest + 1 in missed:
        return "take boundary N, the output of the last layer, after the loop (before the final norm)"
    if any(number < 0 for number in missed):
        return "take the embedding output before the loop, or leave the negative id out"
    return ""


def _branch(defect: Defect) -> str:
    return (
        "only `hidden_states` is stored, while the layer returns (hidden_states, residual) "
        "un-added: this is the output of the last block alone, not the residual stream"
    )


def _aliased(defect: Defect) -> str:
    changed = next((step.where for step in defect.related if "in place" in step.what), None)
    text = "the tensor is stored without a copy and changed in place"
    text += f" at {changed}" if changed is not None else " later in the loop"
    return f"{text}, so that every stored entry ends up as the same, later state"


def _rank(defect: Defect) -> str:
    return (
        "the layers are counted from 0 on every pipeline rank, and the count is compared with ids of the whole model: "
        "under pipeline parallelism every rank but the first captures other layers"
    )


def _inert(defect: Defect) -> str:
    written, read = _listed(defect.details, "written"), _listed(defect.details, "read")
    if written and read:
        return f"`{written}` is set here and read nowhere; the capture waits for `{read}`, so nothing is captured"
    if read:
        return f"the capture waits for `{read}`, which nothing sets, so nothing is captured"
    if written:
        return f"`{written}` is set here and no forward in scope reads it, so nothing is captured"
    return "what is set here is read by no forward in scope, so nothing is captured"


def _norm(defect: Defect) -> str:
    stored, consumed = _listed(defect.details, "stored"), _listed(defect.details, "consumed")
    place = defect.related[0].where if defect.related else None
    at = f" at {place}" if place is not None else ""
    if stored == "normed" or consumed == "un-normed":
        return f"the last state is stored after the final norm{at}, and the norm is applied again here"
    return f"the last state is stored before the final norm{at}, and goes into the head here as if it were normed"


def _norm_fix(defect: Defect) -> str:
    if defect.details.get("stored") == "normed":
        return "leave the second norm out, or store boundary N before the final norm"
    return "apply the target's final norm before the head, or store the state after the norm"


def _early(defect: Defect) -> str:
    taken = _numbers(defect.details, "boundaries")
    last = max(taken, default=2)
    return (
        f"entries {show(taken or (0, 1, 2))} of a stock model's hidden_states are the embedding output and the first "
        f"{'layer' if last == 1 else f'{last} layers'}, not low, middle and high layers"
    )


def _everything(defect: Defect) -> str:
    count = defect.details.get("states")
    states = f"all {count} hidden states" if isinstance(count, int) else "all hidden states"
    return f"{states} of a stock model are concatenated, where an EAGLE-3 head takes a few auxiliary states"


def _cast(defect: Defect) -> str:
    stored, computed = _listed(defect.details, "stored"), _listed(defect.details, "computed")
    text = f"states are stored as {stored or 'a narrower type'}"
    return f"{text}, while the target computes in {computed or 'a wider one'}"


def _hook(defect: Defect) -> str:
    return (
        "a decoder layer of this engine returns (hidden_states, residual) un-added, so `output[0]` is the output of "
        "its last block alone, not the residual stream"
    )


def _mixed(defect: Defect) -> str:
    ids, offsets = _numbers(defect.details, "ids"), _numbers(defect.details, "offsets")
    text = "the same ids drive a capture before the layer and another after it"
    if not ids or len(offsets) < 2:
        return f"{text}, so the same id means two boundaries"
    first, second = (show(number + offset for number in ids) for offset in offsets[:2])
    places = [f" at {step.where}" for step in defect.related[:2]] or [""]
    return f"{text}: {show_ids(ids)} means boundaries {first}{places[0]} and {second}{places[-1]}"


def _nested(defect: Defect) -> str:
    key = _listed(defect.details, "key") or "num_hidden_layers"
    drafter = _listed(defect.details, "drafter")
    if drafter:
        return f"`{key}` of the drafter's own config ({drafter}) is taken for the number of the target's layers"
    nested, value = _listed(defect.details, "nested") or "text_config", defect.details.get("value")
    target = _listed(defect.details, "target")
    text = f"`{key}` is read from the outer config"
    text += f" of {target}" if target else ""
    text += f", but stands in its `{nested}`"
    return text + (f" ({value})" if isinstance(value, int) else "")


def _nested_fix(defect: Defect) -> str:
    nested = _listed(defect.details, "nested") or "text_config"
    if defect.details.get("drafter"):
        return "read it from the config of the target"
    return f"read it from `{nested}` (`config.get_text_config()` in transformers)"


def _concat(defect: Defect) -> str:
    kept, dropped = _listed(defect.details, "kept"), _listed(defect.details, "dropped")
    if defect.details.get("kept_final"):
        return f"the final state stays among the auxiliary states: fc is fed boundaries {kept}, the last one normed"
    text = f"boundary {dropped} is dropped" if dropped else "an auxiliary state is dropped"
    fed = f", so fc is fed boundaries {kept} only" if kept else ""
    return f"{text}: the list does not end with the final state{fed}"


def _layout(defect: Defect) -> str:
    wanted, written = _listed(defect.details, "wanted"), _listed(defect.details, "written")
    text = f"`{wanted}` is read here" if wanted else "what is read here is not written"
    return f"{text}, but the dump holds {written or 'something else'}"


_WORDS: dict[str, Words] = {
    "unreachable-layer": Words("EGL101", "error", _unreachable),
    "residual-not-added": Words(
        "EGL102",
        "error",
        _branch,
        "store `hidden_states if residual is None else hidden_states + residual`",
    ),
    "captured-tensor-aliased": Words("EGL103", "warning", _aliased, "store a copy: `.clone()`"),
    "rank-relative-layer-index": Words(
        "EGL104", "warning", _rank, "count from the rank's first layer: `enumerate(..., start=self.start_layer)`"
    ),
    "inert-capture": Words("EGL105", "warning", _inert, "let the setter write what the forward reads"),
    "final-state-norm-mismatch": Words("EGL107", "error", _norm),
    "early-layers-captured": Words(
        "EGL108", "warning", _early, "index the boundaries that are meant: 2, N // 2 and N - 3 for the usual three"
    ),
    "all-layers-concatenated": Words(
        "EGL109", "error", _everything, "concatenate the states of the chosen boundaries only: `[hs[b] for b in ...]`"
    ),
    "lossy-dump-dtype": Words("EGL111", "info", _cast, "store the states in the type in which they were computed"),
    "hook-output-not-stream": Words("EGL115", "error", _hook, "store `output[0] + output[1]`"),
    "capture-before-after-mixed": Words(
        "EGL116", "warning", _mixed, "take the state at the same side of the layer in both, or shift one list by one"
    ),
    "nested-target-config": Words("EGL411", "error", _nested),
    "concat-drops-wrong-state": Words("EGL412", "error", _concat),
    "dump-layout-mismatch": Words("EGL413", "error", _layout),
}

#: Cures that depend on the details.
_FIXES: dict[str, Callable[[Defect], str]] = {
    "unreachable-layer": _unreachable_fix,
    "final-state-norm-mismatch": _norm_fix,
    "nested-target-config": _nested_fix,
}


@check(*(words.code for words in _WORDS.values()))
def proven_by_the_analyser(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each defect that the analyser saw in capture, dump and training code."""
    for defect in pipeline.defects:
        words = _WORDS.get(defect.kind)
        if words is None or defect.confidence == "possible" or _excused(pipeline, defect):
            continue
        if defect.details.get("computed") == "auto":
            defect = replace(defect, details={**defect.details, "computed": _own_dtype(pipeline, defect)})
        stated = defect.details.get("severity")
        severity: Severity = stated if stated in SEVERITIES else words.severity
        related = defect.related
        message = str(defect.details.get("message") or words.words(defect))
        if defect.kind == "rank-relative-layer-index":
            severity, message, related = _under_pipeline(pipeline, severity, message, related)
        if defect.confidence != "proven" and severity == "error":
            severity = "warning"
        fix = defect.details.get("fix") or (_FIXES[defect.kind](defect) if defect.kind in _FIXES else words.fix)
        yield Finding(
            rule=words.code,
            severity=severity,
            message=message,
            where=defect.where,
            confidence=defect.confidence,
            related=related,
            fix=Fix(str(fix)) if fix else None,
            defect=("states", defect.where.path, str(defect.where.line)),
        )


def _excused(pipeline: Pipeline, defect: Defect) -> bool:
    """Whether what else is known shows that nothing is wrong here, or that another defect says it better."""
    if defect.kind == "unreachable-layer":
        return set(_numbers(defect.details, "ids")) == {-1} and _taps_embedding(pipeline, defect)
    if defect.kind == "rank-relative-layer-index":
        return any(
            other.kind == "unreachable-layer"
            and other.confidence != "possible"
            and other.where.path == defect.where.path
            and not _excused(pipeline, other)
            for other in pipeline.defects
        )
    if defect.kind == "lossy-dump-dtype":
        return defect.details.get("computed") == "auto" and not _is_narrower(defect, _own_dtype(pipeline, defect))
    if defect.kind == "final-state-norm-mismatch":
        # Names alone tie functions together that nobody calls so; a capture, an index or a file is data flow.
        named = bool(defect.related) and all(step.what.startswith("named ") for step in defect.related)
        return named or (defect.confidence == "likely" and not defect.related)
    return False


def _own_dtype(pipeline: Pipeline, defect: Defect) -> str:
    """The type in which a target is stored, for code that leaves it to the checkpoint; "" when it is not known."""
    name = str(defect.details.get("target", ""))
    target = pipeline.target
    if target is not None and target.config is not None and name in (target.name, target.config.folder):
        document, prefix = target.config.document, target.config.text_prefix
        keys = (f"{prefix}/torch_dtype", f"{prefix}/dtype", "/torch_dtype", "/dtype")
        given = next((document.get(key) for key in keys if document.get(key)), "")
        return str(given).removeprefix("torch.")
    known = known_target(name)
    return known.dtype if known is not None and known.established else ""


def _is_narrower(defect: Defect, computed: str) -> bool:
    stored = str(defect.details.get("stored", ""))
    if stored not in _BITS or computed not in _BITS:
        return False
    return _BITS[stored] < _BITS[computed] or (stored in ("float16", "half") and computed == "bfloat16")


def _taps_embedding(pipeline: Pipeline, defect: Defect) -> bool:
    """Whether id -1 is the documented tap of the embedding: the file takes boundary 0, or the head is of that kind."""
    if pipeline.method in ("dspark", "dflash"):
        return True
    return any(
        state.boundary == 0
        for capture in pipeline.captures
        if capture.where.path == defect.where.path
        for _, states in capture.states
        for state in states
    )


def _under_pipeline(
    pipeline: Pipeline, severity: Severity, message: str, related: tuple[Step, ...]
) -> tuple[Severity, str, tuple[Step, ...]]:
    """A rank-relative count is an error where a launch of the project sets more than one pipeline rank."""
    launch, ranks = _with_ranks((*pipeline.launches, *pipeline.others, *pipeline.serving))
    if launch is None or ranks is None:
        return severity, message, related
    step = Step(ranks.where, f"{title(launch.engine)} runs with {ranks.value.value} pipeline ranks")
    if ranks.value.assumed:
        return severity, f"{message}; {step.what} (assumed: {ranks.value.assumed})", wording.unique((*related, step))
    return "error", f"{message}; {step.what} at {ranks.where}", wording.unique((*related, step))


def _with_ranks(launches: Iterable[Launch]) -> tuple[Launch | None, Any]:
    """The first launch with more than one pipeline rank, those that are sure of it first, and its argument."""
    found = []
    for launch in launches:
        argument = launch.get(*_PIPELINE_RANKS)
        if argument is not None and argument.value.known and _count(argument.value.value) > 1:
            found.append((launch, argument))
    sure = [entry for entry in found if not entry[1].value.assumed]
    return next(iter(sure or found), (None, None))


def _count(value: object) -> int:
    """A number of ranks as an argument holds it; 0 when it is none."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.strip().isdigit() else 0
