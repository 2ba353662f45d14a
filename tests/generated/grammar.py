"""Variants of capture code, made from a seed: loop form x id form x residual form x save form x naming.

`variants(seed, count)` always gives the same programs for the same arguments. Each is a small project that captures
states of a target, perhaps saves them and reads them back, and puts them side by side; running.py runs it with
stand-ins.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random

import grammar_files
import grammar_frames
import grammar_hooks
import grammar_ids
import grammar_inside
import grammar_loops
import grammar_models
import grammar_more_loops
import grammar_outside
import grammar_patches
import grammar_saving
from grammar_frames import Frame
from grammar_ids import Ids, Names
from grammar_loops import Walk, indented
from grammar_saving import Flow, Kept

#: Depths for which the analyser runs code whose target is not known.
OPEN_DEPTHS = (36, 48, 61, 94)


@dataclass
class Variant:
    """A generated project: its files, how the target's layers return, for which depths it runs, and what is called.

    `run_files` are the files that are run where they are not those of the project.
    """

    name: str
    files: dict[str, str]
    style: str
    depths: tuple[int, ...]
    steps: list[tuple[str, str, list[str]]]
    run_files: dict[str, str] = field(default_factory=dict)


def variants(seed: int, count: int) -> list[Variant]:
    """`count` programs."""
    return [variant(Random(f"{seed}:{number}"), number) for number in range(count)]


def variant(draw: Random, number: int) -> Variant:
    """One program."""
    family = draw.choice(["loop", "loop", "loop", "loop", "loop", "hooks", "hooks", "hf", "patch", "inside"])
    if family == "patch":
        return _patch(draw, number)
    if family == "inside":
        text, steps = grammar_inside.inside(draw)
        files = {"eagle3_model.py": text}
        depths = _known_target(draw, files) if draw.random() < 0.5 else OPEN_DEPTHS
        return Variant(f"{number}-inside", files, "stream", depths, steps)
    style = draw.choice(["stream", "tuple", "fused", "fused"] if family == "loop" else ["stream", "tuple"])
    names = grammar_ids.names(draw)
    ids = draw.choice([*grammar_ids.FORMS, *grammar_outside.FORMS])(draw, names)
    frame = grammar_frames.frame(draw, names, family, style)
    kept = grammar_saving.container(draw, names, ids, nested=family == "hooks")
    body = _body(draw, names, ids, frame, kept, family, style)
    flow = _flow(draw, names, kept, ids)
    while flow.argument and not frame.call:
        flow = _flow(draw, names, kept, ids)
    files, steps = _files(draw, names, ids, frame, kept, body, flow, style)
    depths: tuple[int, ...] = OPEN_DEPTHS
    if any('from_pretrained("Qwen/Qwen3-8B")' in text for text in files.values()):
        depths = (36,)
    elif draw.random() < 0.5:
        depths = _known_target(draw, files)
    return Variant(f"{number}-{family}-{style}-{ids.form}-{kept.kind}".replace(" ", "-"), files, style, depths, steps)


def _patch(draw: Random, number: int) -> Variant:
    """A patch of an engine, for a target that is in the project or not known."""
    made = grammar_patches.patch(draw)
    files, depths = dict(made.files), OPEN_DEPTHS
    if draw.random() < 0.5:
        depths = _known_target(draw, files)
    return Variant(f"{number}-patch-{made.form}".replace(" ", "-"), files, "fused", depths, made.steps, made.run_files)


def _known_target(draw: Random, files: dict[str, str]) -> tuple[int, ...]:
    """Put a target's config into the project; gives the only depth that there is then."""
    depth = draw.choice([36, 40, 48, 61])
    config = {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "num_hidden_layers": depth,
        "hidden_size": 64,
        "vocab_size": 1000,
    }
    files["target/config.json"] = json.dumps(config, indent=2)
    return (depth,)


# ---- the function that captures -------------------------------------------------------------------------------------


def _body(draw: Random, n: Names, ids: Ids, frame: Frame, kept: Kept, family: str, style: str) -> list[str]:
    """The statements from the start of the function to where all states are stored and `last` holds the final state."""
    depth = draw.choice(frame.depths)
    lines: list[str] = []
    if draw.random() < 0.4:
        lines.append(f"depth = {depth}")
        depth = "depth"
    layers = f"{frame.decoder}.layers"
    if draw.random() < 0.3:
        lines.append(f"layers = {layers}")
        layers = "layers"
    lines += [line.replace("N", depth) for line in ids.local] + kept.start
    take, helper = _taking(draw, n, style if family == "loop" else "stream")
    ids.module += helper
    walk = Walk(
        draw,
        n,
        ids,
        layers,
        depth,
        frame.decoder,
        lambda layer: _advance(n, style, layer),
        take,
        kept.store,
        kept.rebinds,
    )
    if family == "hf":
        call = draw.choice(
            [
                f"{frame.model}(input_ids, output_hidden_states=True).hidden_states",
                f"{frame.model}(input_ids=input_ids, output_hidden_states=True, use_cache=False)['hidden_states']",
                f"{frame.decoder}(input_ids, output_hidden_states=True).hidden_states",
            ]
        )
        return [*lines, f"every = {call}", *grammar_models.entries(walk, kept.kind), "last = every[-1]"]
    if family == "hooks":
        return [
            *lines,
            *grammar_hooks.hooks(walk, style, frame.model),
            f"last = {frame.decoder}(input_ids).last_hidden_state",
        ]
    start = [f"{n.hidden} = {frame.decoder}.embed_tokens(input_ids)"]
    end = [f"last = {frame.decoder}.norm({n.hidden})"]
    if style == "fused":
        start.append("residual = None")
        end = [f"last, _ = {frame.decoder}.norm({n.hidden}, residual)"]
    return [*lines, *start, *_loop(walk, kept.kind), *end]


def _loop(w: Walk, kind: str) -> list[str]:
    """A loop; a container that takes its slots from the ids needs one that goes by the ids."""
    free = (*grammar_loops.FREE, *grammar_more_loops.FREE) if kind == "slots" else ()
    forms = [*grammar_loops.LOOPS, *grammar_more_loops.LOOPS]
    return w.draw.choice([form for form in forms if form not in free])(w)


def _flow(draw: Random, n: Names, kept: Kept, ids: Ids) -> Flow:
    """A way from the container to the columns."""
    if kept.kind == "files" or draw.random() < 0.6:
        return grammar_saving.flow(draw, n, kept, ids)
    return draw.choice(grammar_files.FORMS)(draw, grammar_saving.as_list(draw, kept, ids), ids.count)


def _advance(n: Names, style: str, layer: str) -> list[str]:
    """The statements that run a layer."""
    if style == "fused":
        return [f"{n.hidden}, residual = {layer}(positions, {n.hidden}, residual)"]
    if style == "tuple":
        return [f"{n.hidden} = {layer}({n.hidden}, position_ids=positions)[0]"]
    return [f"{n.hidden} = {layer}({n.hidden})"]


def _taking(draw: Random, n: Names, style: str):  # type: ignore[no-untyped-def]
    """How a state is taken off the stream: what `Walk.take` gives, and the helper function that it needs."""
    h = n.hidden
    copy = draw.choice(["", "", ".clone()", ".detach().cpu()", ".detach().clone()", ".to(torch.bfloat16)"])
    if style != "fused":
        return (lambda before: ([], f"{h}{copy}")), []
    form = draw.choice(["conditional", "conditional", "statement", "helper", "sum", "branch"])
    helper: list[str] = []
    if form == "helper":
        helper = [
            "",
            "",
            "def full_stream(states, residual):",
            "    if residual is None:",
            "        return states",
            "    return states + residual",
        ]

    def take(before: bool) -> tuple[list[str], str]:
        if form == "branch":
            return [], f"{h}{copy}"
        if form == "helper":
            return [], f"full_stream({h}, residual){copy}"
        if form == "statement":
            return [f"full = {h}", "if residual is not None:", f"    full = {h} + residual"], f"full{copy}"
        if form == "sum" and not before:
            return [], f"({h} + residual){copy}"
        return [], f"({h} if residual is None else {h} + residual){copy}"

    return take, helper


# ---- the project ---------------------------------------------------------------------------------------------------


def _files(
    draw: Random, n: Names, ids: Ids, frame: Frame, kept: Kept, body: list[str], flow: Flow, style: str
) -> tuple[dict[str, str], list[tuple[str, str, list[str]]]]:
    lines = [*body, *(line.replace("LAST", "last") for line in flow.lines)]
    if not lines[-1].startswith("return"):
        lines.append(f"return {flow.returns}")
    steps = list(frame.steps)
    after = list(frame.after)
    imports = [
        "import functools",
        "import itertools",
        "import operator",
        "import re",
        "from collections import deque",
        "import torch",
    ]
    reader: list[str] = []
    train = ""
    if flow.reader:
        reader = [f"def load_columns({flow.argument}):", *indented(flow.reader)]
        if flow.argument:
            call = f"load_columns({frame.call})"
            if frame.after:
                after = [line.replace("CALL", call) for line in after]
            else:
                after = ["", "", f"def main({n.model}, input_ids):", f"    return {call}"]
                steps = [("eagle3_dump.py", "main", ["model", "ids"])]
        elif draw.random() < 0.5:
            train = "\n".join(
                [
                    "# training of the EAGLE-3 head",
                    *sorted({"import torch", *flow.imports, *kept.imports}),
                    "",
                    "",
                    *reader,
                    "",
                ]
            )
            steps.append(("eagle3_train.py", "load_columns", []))
            reader = []
        else:
            steps.append(("eagle3_dump.py", "load_columns", []))
    after = [line.replace("CALL", frame.call) for line in after]
    text = [
        "# states for the EAGLE-3 drafter",
        *dict.fromkeys([*imports, *ids.imports, *frame.imports, *flow.imports, *kept.imports]),
        "",
        *ids.module,
        *flow.module,
        "",
        *([*reader, "", ""] if reader else []),
        *frame.before,
        frame.header,
        *indented(lines, frame.indent),
        "",
        *after,
        "",
    ]
    files = {"eagle3_dump.py": "\n".join(text), **ids.files}
    if train:
        files["eagle3_train.py"] = train
    return files, steps
