"""The tensors of a head: EGL601 (fc), EGL604 (names), EGL606 (norms, modules), EGL608 (shapes), EGL210 (layers)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from eaglelint.checks.heads import Fault
from eaglelint.checks.registry import check
from eaglelint.checks.stored import Stored, stored, told
from eaglelint.checks.wording import listed, pointer_words
from eaglelint.conventions.weights import Loading, Norm, norms
from eaglelint.facts import Step
from eaglelint.findings import Finding, Fix
from eaglelint.pipeline import Pipeline
from eaglelint.weights.layout import FIRST, Parameter, layer_parameters
from eaglelint.weights.names import before, is_taken

#: The most names that a message lists.
_MOST = 6


@check("EGL601", "EGL404")
def fc_shape(pipeline: Pipeline) -> Iterator[Finding]:
    """fc takes other states, or another width, than the config declares. One finding a head."""
    head = stored(pipeline)
    shape = head.shape("fc.weight") if head is not None else None
    if head is None or shape is None or not head.sizes.takes_states or not head.sizes.hidden:
        return
    sizes = head.sizes
    counts = sizes.declared_states or _guessed(pipeline)
    wanted = [(sizes.hidden, count * sizes.target_hidden) for count in counts]
    if shape in wanted or _other_width(head):
        return
    width = _targets_width(pipeline) or sizes.target_hidden
    rows, columns = shape if len(shape) == 2 else (0, 0)
    if width != sizes.target_hidden:  # which is EGL404's, and explains an fc that fits the target
        if rows == sizes.hidden and columns in {count * width for count in counts}:
            return
        width = sizes.target_hidden
    where = head.where("fc.weight")
    belongs = f"{listed([str(list(want)) for want in wanted], 'or')} belongs there"
    declared = f"{listed([str(count) for count in counts], 'or')} states of {sizes.target_hidden}"
    named = "are declared" if sizes.declared_states else "are taken, as no ids are declared"
    related = _sizes(head)
    if rows == sizes.hidden and columns % width:
        message = f"fc.weight is {list(shape)}, which is no whole number of states of {width}; {belongs}"
        fix = Fix("say the width of the target's states in `target_hidden_size`, or export the head that belongs here")
        yield Finding("EGL404", "error", message, where, "proven", related, fix, ("width", pipeline.name))
        return
    has = f", {columns // width} states of {width}," if rows == sizes.hidden else ""
    message = f"fc.weight is {list(shape)}{has} where {declared} {named}: {belongs}"
    fix = Fix("export the head that belongs to this config, or declare the states that it was trained with")
    defect = ("ids", pipeline.name, str(pipeline.id_lists[0].where)) if pipeline.id_lists else ("fc", pipeline.name)
    yield Finding("EGL601", "error", message, where, "proven", related, fix, defect)


def _targets_width(pipeline: Pipeline) -> int:
    """Width of the target's states, 0 when it is not known."""
    served = [server.target.hidden_size for server in pipeline.servers if server.target is not None]
    known = [width for width in served if width]
    return known[0] if known else pipeline.target.hidden_size if pipeline.target is not None else 0


def _other_width(head: Stored) -> int:
    """The width of a head whose tensors agree on another one than the config gives; 0 when they do not."""
    fc, norm = head.shape("fc.weight"), head.shape("norm.weight")
    if fc is None or norm is None or len(norm) != 1 or norm[0] == head.sizes.hidden:
        return 0
    return norm[0] if fc[:1] == norm else 0


def _guessed(pipeline: Pipeline) -> tuple[int, ...]:
    """How many states the engines in use take by default; three where none is."""
    counts = [len(serving.reading.default) for serving in pipeline.servings if serving.ids is None]
    return tuple(dict.fromkeys(count for count in counts if count)) or (3,)


def _sizes(head: Stored) -> tuple[Step, ...]:
    """Where the config says how wide fc is."""
    steps = [Step(ids.where, f"{len(ids.ids)} ids are declared here") for ids in head.pipeline.id_lists]
    return (*steps, *size_steps(head, ("num_aux_hidden_states", "target_hidden_size", "hidden_size")))


def size_steps(head: Stored, keys: Sequence[str]) -> tuple[Step, ...]:
    """Where the config gives some sizes."""
    return tuple(Step(head.sizes.where(k), f"{k} is {head.sizes.size(k)}") for k in keys if head.sizes.size(k))


@check("EGL604")
def weight_name_unknown(pipeline: Pipeline) -> Iterator[Finding]:
    """Tensors under names that the release does not know. One finding a head."""
    head = stored(pipeline)
    if head is None or not head.layout or not head.names.given:
        return
    wanted = _wanted(head)

    def fault(row: Loading) -> Fault | None:
        lost = [name for what, name in head.names.given.items() if _is(what, wanted) and not is_taken(name, row)]
        return _unknown(head, row, lost) if lost else None

    yield from told("EGL604", head, fault, ("layer", pipeline.name))


def _wanted(head: Stored) -> frozenset[str]:
    """The modules of every head of this class, and of its first layer."""
    inner = {parameter.module for parameter in layer_parameters(head.layout, head.sizes)}
    fused = {f"{FIRST}self_attn.qkv_proj", f"{FIRST}mlp.gate_up_proj"}
    return frozenset({*inner, *fused, "fc", "norm", "lm_head", "embed_tokens", "input_norm"})


def _is(what: str, modules: frozenset[str]) -> bool:
    return what.rpartition(".")[0] in modules


def _unknown(head: Stored, row: Loading, lost: Sequence[str]) -> Fault:
    prefixes = Counter(before(name) for name in lost)
    names = listed([f"{prefix}.* ({_tensors(count)})" for prefix, count in prefixes.items()])
    known = listed([f"{prefix}*" for prefix in row.first_layer], "or")
    if row.unknown == "dropped":
        effect = "drops them without a word, so that they keep random weights"
    else:
        effect = "refuses them, so that the head does not load"
    where = next(what for what, name in head.names.given.items() if name == lost[0])
    return Fault(
        f"{names} are names that {{name}} does not know: it {effect}; the first decoder layer is {known} there",
        head.where(where),
        f"rename them: {known} for the first layer, fc.weight, norm.weight and lm_head.weight with nothing before",
    )


def _tensors(count: int) -> str:
    return "1 tensor" if count == 1 else f"{count} tensors"


@check("EGL606")
def declared_without_weights(pipeline: Pipeline) -> Iterator[Finding]:
    """Norms that the config declares and the checkpoint lacks, or the reverse; parts that no head can do without."""
    head = stored(pipeline)
    if head is None or head.checkpoint is None or not head.names.given or not head.sizes.takes_states:
        return
    for norm in norms():
        yield from _norm(head, norm)
    if not head.complete or not head.layout:
        return
    needed = [*layer_parameters(head.layout, head.sizes)] if head.sizes.hidden else []
    missing = [parameter.name for parameter in needed if not head.names.has(parameter.name)]
    missing += [name for name in ("fc.weight", "norm.weight") if not head.names.has(name)]
    if missing:
        shown = [*missing[:_MOST], f"{len(missing) - _MOST} others"] if len(missing) > _MOST else missing
        message = f"the checkpoint lacks {listed(shown)}, which every head of this kind has: nothing fills them"
        fix = Fix("export all tensors of the head, under the names that engines know")
        yield Finding("EGL606", "error", message, head.where(), "proven", (), fix, ("layer", pipeline.name))


def _norm(head: Stored, norm: Norm) -> Iterator[Finding]:
    """One norm: its flag against its tensors."""
    sizes = head.sizes
    inner = tuple(f"{sizes.prefix}{flag}" for flag in norm.flags) if sizes.prefix else ()
    flag = sizes.flag(*norm.flags, *inner)
    counts = sizes.declared_states or (3,)
    every = norm.tensors(max(counts))
    there = [name for name in every if name in head.names.given]
    name = norm.flags[-1].rpartition("/")[2] if "{i}" not in norm.tensor else "fc_norm"
    defect = ("norm", head.pipeline.name, name)
    if flag and head.complete and len(there) < len(norm.tensors(min(counts))):
        lacks = listed([name for name in norm.tensors(min(counts)) if name not in there])
        message = (
            f"{pointer_words(flag)} declares a norm before fc, but the checkpoint has no {lacks}: it runs untrained"
        )
        where = sizes.config.document.where(flag)
        related = (Step(head.where(), "the checkpoint"),)
        fix = Fix(f"export {lacks} with the head, or take the flag away if it was trained without the norm")
        yield Finding("EGL606", "error", message, where, "proven", related, fix, defect)
    elif there and not flag:
        message = (
            f"the checkpoint has {listed(there)}, and no {name} in the config declares that norm: it is not applied"
        )
        fix = Fix(f"write `{name}`: true, if the head was trained with the norm")
        related = (Step(head.pipeline.where, "the config"),)
        yield Finding("EGL606", "error", message, head.where(there[0]), "proven", related, fix, defect)


@check("EGL608")
def head_geometry(pipeline: Pipeline) -> Iterator[Finding]:
    """Shapes that do not follow from the sizes in the config. One finding a head."""
    head = stored(pipeline)
    if head is None or not head.layout or not head.sizes.hidden:
        return
    other = _other_width(head)
    if other:
        yield from _of_another_width(head, other)
        return
    layers = head.names.layers or (0,)
    every = [parameter for layer in layers[:64] for parameter in layer_parameters(head.layout, head.sizes, layer)]
    hidden = head.sizes.hidden
    every.append(Parameter("norm.weight", (hidden,), "norm", "[hidden_size]"))
    every.append(Parameter("lm_head.weight", (0, hidden), "lm_head", "[draft_vocab_size, hidden_size]"))
    every.append(Parameter("embed_tokens.weight", (0, hidden), "embedding", "[vocab_size, hidden_size]"))
    wrong = [(parameter, shape) for parameter in every if (shape := _differs(head, parameter)) is not None]
    if not wrong:
        return
    said = [f"{head.names.given[p.name]} is {list(shape)}, not {_meant(p, shape)} {p.formula}" for p, shape in wrong]
    more = f", and {len(said) - _MOST} others" if len(said) > _MOST else ""
    message = f"{'; '.join(said[:_MOST])}{more}: the head does not fit its config"
    fix = Fix("export the head that belongs to this config, or write the sizes that it was trained with")
    keys = ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size")
    related = size_steps(head, keys)
    where = head.where(wrong[0][0].name)
    yield Finding("EGL608", "error", message, where, "proven", related, fix, ("layer", pipeline.name))


def _of_another_width(head: Stored, width: int) -> Iterator[Finding]:
    """The config gives a width that no tensor has; a target of another width than that is EGL404's to say."""
    pipeline, sizes = head.pipeline, head.sizes
    target = _targets_width(pipeline)
    if target and target != sizes.target_hidden:
        return
    message = f"hidden_size is {sizes.hidden}, and the tensors are those of a head that is {width} wide"
    related = (Step(head.where("norm.weight"), f"norm.weight is [{width}]"),)
    fix = Fix(f"write `hidden_size`: {width}, or export the head that belongs to this config")
    where = sizes.where("hidden_size")
    yield Finding("EGL608", "error", message, where, "proven", related, fix, ("layer", pipeline.name))


def _differs(head: Stored, parameter: Parameter) -> tuple[int, ...] | None:
    """The shape of a tensor when it is another than the config gives; None when it is right or not known."""
    shape = head.shape(parameter.name)
    if shape is None:
        return None
    same = len(shape) == len(parameter.shape) and all(
        given == want or not want for given, want in zip(shape, parameter.shape, strict=True)
    )
    return None if same else shape


def _meant(parameter: Parameter, shape: tuple[int, ...]) -> str:
    """The right shape; sizes that the config does not give are those of the tensor."""
    if len(shape) != len(parameter.shape):
        return str(list(parameter.shape))
    return str([want or given for want, given in zip(parameter.shape, shape, strict=True)])


@check("EGL210")
def depth_of_weights(pipeline: Pipeline) -> Iterator[Finding]:
    """Another number of decoder layers in the weights than in the config. One finding a head."""
    head = stored(pipeline)
    if head is None or not head.layout or not head.sizes.layers or not head.names.layers:
        return
    declared, there = head.sizes.layers, set(head.names.layers)
    missing = set(range(declared)) - there if head.complete else set()
    surplus = there - set(range(declared))
    if not missing and not surplus:
        return
    named = f"layer{'s' if len(there) > 1 else ''} {listed([str(layer) for layer in sorted(there)[:_MOST]])}"
    message = f"num_hidden_layers is {declared}, and the checkpoint has the tensors of {named}"
    where = head.sizes.where("num_hidden_layers")
    related = (Step(head.where(), "the checkpoint"),)
    fix = Fix(f"write the number of layers that the head has: {len(there)}")
    yield Finding("EGL210", "error", message, where, "proven", related, fix, ("layer", pipeline.name))
