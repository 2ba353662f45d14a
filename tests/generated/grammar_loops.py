"""How people walk through the layers and pick states: the part of the grammar that gives loops over layers.

A form gives the statements that take a state as a layer's input or output; what is done with it is the business of
`Walk.store`. Lines are indented relative to the function body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from grammar_ids import Ids, Names


@dataclass
class Walk:
    """What a form has to work with: expressions for the layers, N and the decoder, how layers run and states are taken.

    `advance(layer)` are the statements that run a layer, `take(before)` the statements before a store and the
    expression of the state, `store(expression, id)` the statements that keep it; `rebinds` is the name that storing
    binds anew, "" when it changes a container.
    """

    draw: Random
    names: Names
    ids: Ids
    layers: str
    depth: str
    decoder: str
    advance: Callable[[str], list[str]]
    take: Callable[[bool], tuple[list[str], str]]
    store: Callable[[str, str], list[str]]
    rebinds: str = ""

    def capture(self, before: bool, chosen: str) -> list[str]:
        """The statements that keep the current state for the id `chosen`."""
        lines, expression = self.take(before)
        return [*lines, *self.store(expression, chosen)]


def indented(lines: list[str], by: int = 1) -> list[str]:
    """Lines moved to the right."""
    return ["    " * by + line if line else line for line in lines]


def header(w: Walk) -> str:
    i, layer = w.names.counter, w.names.layer
    return w.draw.choice(
        [
            f"for {i}, {layer} in enumerate({w.layers}):",
            f"for {i}, {layer} in enumerate(list({w.layers})):",
            f"for {i}, {layer} in zip(range({w.depth}), {w.layers}):",
            f"for {i}, {layer} in zip(itertools.count(), {w.layers}):",
            f"for {i}, {layer} in enumerate(itertools.islice({w.layers}, {w.decoder}.start_layer, "
            f"{w.decoder}.end_layer), start={w.decoder}.start_layer):",
        ]
    )


def _before(w: Walk) -> list[str]:
    i = w.names.counter
    test = [f"if {i} in {w.ids.expression}:", *indented(w.capture(True, i))]
    return [header(w), *indented([*test, *w.advance(w.names.layer)])]


def _after(w: Walk) -> list[str]:
    i = w.names.counter
    test = [f"if {i} in {w.ids.expression}:", *indented(w.capture(False, i))]
    return [header(w), *indented([*w.advance(w.names.layer), *test])]


def _after_plus_one(w: Walk) -> list[str]:
    i = w.names.counter
    number = w.draw.choice([f"{i} + 1", f"({i} + 1)"])
    test = [f"if {number} in {w.ids.expression}:", *indented(w.capture(False, f"{i} + 1"))]
    return [header(w), *indented([*w.advance(w.names.layer), *test])]


def _shifted(w: Walk) -> list[str]:
    i = w.names.counter
    test = [f"if {i} - 1 in {w.ids.expression}:", *indented(w.capture(True, f"{i} - 1"))]
    return [header(w), *indented([*test, *w.advance(w.names.layer)])]


def _index_range(w: Walk) -> list[str]:
    i = w.names.counter
    before = w.draw.random() < 0.5
    bounds = w.draw.choice(
        [f"len({w.layers})", w.depth, f"0, {w.depth}", f"{w.decoder}.start_layer, {w.decoder}.end_layer"]
    )
    test = [f"if {i} in {w.ids.expression}:", *indented(w.capture(before, i))]
    step = w.advance(f"{w.layers}[{i}]")
    return [f"for {i} in range({bounds}):", *indented([*test, *step] if before else [*step, *test])]


def _while(w: Walk) -> list[str]:
    i = w.names.counter
    test = [f"if {i} in {w.ids.expression}:", *indented(w.capture(True, i))]
    step = w.advance(f"{w.layers}[{i}]")
    return [f"{i} = 0", f"while {i} < {w.depth}:", *indented([*test, *step, f"{i} += 1"])]


def _counted_by_hand(w: Walk) -> list[str]:
    i, layer = w.names.counter, w.names.layer
    first = w.draw.choice([0, 1, -1])
    test = [f"if {i} in {w.ids.expression}:", *indented(w.capture(True, i))]
    early = w.draw.random() < 0.5
    body = [f"{i} += 1", *test, *w.advance(layer)] if early else [*test, *w.advance(layer), f"{i} += 1"]
    return [f"{i} = {first}", f"for {layer} in {w.layers}:", *indented(body)]


def _from_one(w: Walk) -> list[str]:
    i, layer = w.names.counter, w.names.layer
    start = w.draw.choice(["start=1", "1"])
    before = w.draw.random() < 0.4
    test = [f"if {i} in {w.ids.expression}:", *indented(w.capture(before, i))]
    step = w.advance(layer)
    return [
        f"for {i}, {layer} in enumerate({w.layers}, {start}):",
        *indented([*test, *step] if before else [*step, *test]),
    ]


def _continue(w: Walk) -> list[str]:
    i, layer = w.names.counter, w.names.layer
    skip = [f"if {i} not in {w.ids.expression}:"]
    if w.draw.random() < 0.5:
        body = [*w.advance(layer), *skip, "    continue", *w.capture(False, i)]
    else:
        body = [*skip, *indented([*w.advance(layer), "continue"]), *w.capture(True, i), *w.advance(layer)]
    return [header(w), *indented(body)]


def _ladder(w: Walk) -> list[str]:
    i, n = w.names.counter, w.depth
    w.ids.count = 3
    low, mid, high = w.draw.choice(
        [("2", f"{n} // 2", f"{n} - 3"), ("3", "17", "30"), ("1", f"{n} // 2 - 1", f"{n} - 4")]
    )
    before = w.draw.random() < 0.5
    test = w.draw.choice(
        [
            f"if {i} == {low} or {i} == {mid} or {i} == {high}:",
            f"if {i} in ({low}, {mid}, {high}):",
            f"if not ({i} != {low} and {i} != {mid} and {i} != {high}):",
        ]
    )
    capture = [test, *indented(w.capture(before, i))]
    step = w.advance(w.names.layer)
    return [header(w), *indented([*capture, *step] if before else [*step, *capture])]


def _rungs(w: Walk) -> list[str]:
    i, n = w.names.counter, w.depth
    w.ids.count = 3
    rungs = w.draw.choice([["2", f"{n} // 2", f"{n} - 3"], ["3", "17", "30"]])
    body: list[str] = []
    for number, rung in enumerate(rungs):
        body += [f"{'if' if number == 0 else 'elif'} {i} == {rung}:", *indented(w.capture(True, i))]
    return [header(w), *indented([*body, *w.advance(w.names.layer)])]


def _head_of_the_layers(w: Walk) -> list[str]:
    i, layer = w.names.counter, w.names.layer
    test = [f"if {i} in {w.ids.expression}:", *indented(w.capture(True, i))]
    loop = [
        f"for {i}, {layer} in enumerate({w.layers}[: max({w.ids.expression}) + 1]):",
        *indented([*test, *w.advance(layer)]),
    ]
    return [*loop, f"for {layer} in {w.layers}[max({w.ids.expression}) + 1 :]:", *indented(w.advance(layer))]


def _tail_of_the_layers(w: Walk) -> list[str]:
    i, layer = w.names.counter, w.names.layer
    first, count = 1, ", start=1"
    if not w.ids.local and w.draw.random() < 0.5:  # counted from 0 although the first layers are left out
        first, count = w.draw.choice([1, 2]), ""
    test = [f"if {i} in {w.ids.expression}:", *indented(w.capture(True, i))]
    return [
        *w.advance(f"{w.layers}[0]"),
        *(w.advance(f"{w.layers}[1]") if first == 2 else []),
        f"for {i}, {layer} in enumerate({w.layers}[{first}:]{count}):",
        *indented([*test, *w.advance(layer)]),
    ]


def _segments(w: Walk) -> list[str]:
    layer = w.names.layer
    return [
        "done = 0",
        f"for stop in sorted({w.ids.expression}):",
        *indented(
            [
                f"for {layer} in {w.layers}[done:stop]:",
                *indented(w.advance(layer)),
                *w.capture(False, "stop"),
                "done = stop",
            ]
        ),
        f"for {layer} in {w.layers}[done:]:",
        *indented(w.advance(layer)),
    ]


def _flags(w: Walk) -> list[str]:
    i, layer = w.names.counter, w.names.layer
    flag = w.draw.choice(["_is_tapped", "capture", "wants_state"])
    mark = w.draw.choice(
        [
            [f"for {i}, {layer} in enumerate({w.layers}):", f"    {layer}.{flag} = {i} in {w.ids.expression}"],
            [
                f"for {layer} in {w.layers}:",
                f"    {layer}.{flag} = False",
                f"for {i} in {w.ids.expression}:",
                f"    {w.layers}[{i}].{flag} = True",
            ],
        ]
    )
    test = w.draw.choice([f"{layer}.{flag}", f'getattr({layer}, "{flag}", False)'])
    return [*mark, header(w), *indented([f"if {test}:", *indented(w.capture(True, i)), *w.advance(layer)])]


def _mask(w: Walk) -> list[str]:
    i = w.names.counter
    mask, test = w.draw.choice(
        [
            (f"mask = [j in {w.ids.expression} for j in range({w.depth})]", f"mask[{i}]"),
            (f"mask = dict.fromkeys({w.ids.expression}, True)", f"mask.get({i}, False)"),
            (f"mask = {{j: slot for slot, j in enumerate({w.ids.expression})}}", f"{i} in mask"),
            (f"mask = set({w.ids.expression})", f"{i} in mask"),
            (f"mask = sorted({w.ids.expression}, reverse=True)", f"{i} in mask"),
        ]
    )
    return [mask, header(w), *indented([f"if {test}:", *indented(w.capture(True, i)), *w.advance(w.names.layer)])]


def _any(w: Walk) -> list[str]:
    i = w.names.counter
    test = w.draw.choice(
        [
            f"any({i} == j for j in {w.ids.expression})",
            f"list({w.ids.expression}).count({i}) > 0",
            f"{i} in set({w.ids.expression}) and {i} >= 0",
            f"({i} in {w.ids.expression}) is True",
        ]
    )
    return [header(w), *indented([f"if {test}:", *indented(w.capture(True, i)), *w.advance(w.names.layer)])]


def _queue(w: Walk) -> list[str]:
    i = w.names.counter
    first, drop = w.draw.choice(
        [
            ("pending = sorted({})", "pending.pop(0)"),
            ("pending = deque(sorted({}))", "pending.popleft()"),
            ("pending = sorted({})", "pending = pending[1:]"),
        ]
    )
    return [
        first.format(w.ids.expression),
        header(w),
        *indented(
            [f"if pending and {i} == pending[0]:", *indented([*w.capture(True, i), drop]), *w.advance(w.names.layer)]
        ),
    ]


def _every_nth(w: Walk) -> list[str]:
    i = w.names.counter
    w.ids.count = 3
    return [
        header(w),
        *indented([f"if {i} % 12 == 5 and {i} < 36:", *indented(w.capture(True, i)), *w.advance(w.names.layer)]),
    ]


def _match(w: Walk) -> list[str]:
    i = w.names.counter
    w.ids.count = 3
    return [
        header(w),
        *indented(
            [
                f"match {i}:",
                "    case 2 | 18 | 30:",
                *indented(w.capture(True, i), 2),
                "    case _:",
                "        pass",
                *w.advance(w.names.layer),
            ]
        ),
    ]


def _generator(w: Walk) -> list[str]:
    i, layer, h = w.names.counter, w.names.layer, w.names.hidden
    lines, expression = w.take(True)
    walk = [
        "def walk():",
        *indented(
            [
                f"nonlocal {h}{', residual' if 'residual' in ' '.join(w.advance(layer)) else ''}",
                f"for {i}, {layer} in enumerate({w.layers}):",
                *indented([*lines, f"yield {i}, {expression}", *w.advance(layer)]),
            ]
        ),
    ]
    return [
        *walk,
        "",
        f"for number, {w.names.state} in walk():",
        *indented([f"if number in {w.ids.expression}:", *indented(w.store(w.names.state, "number"))]),
    ]


def _all_then_pick(w: Walk) -> list[str]:
    layer = w.names.layer
    lines, expression = w.take(True)
    every = [
        "every = []",
        f"for {layer} in {w.layers}:",
        *indented([*lines, f"every.append({expression})", *w.advance(layer)]),
    ]
    return [*every, f"for number in {w.ids.expression}:", *indented(w.store("every[number]", "number"))]


def _inner_function(w: Walk) -> list[str]:
    i = w.names.counter
    lines, expression = w.take(True)
    outer = [f"nonlocal {w.rebinds}"] if w.rebinds else []
    return [
        f"def note({i}):",
        *indented([*outer, *lines, f"if {i} in {w.ids.expression}:", *indented(w.store(expression, i))]),
        "",
        header(w),
        *indented([f"note({i})", *w.advance(w.names.layer)]),
    ]


LOOPS: list[Callable[[Walk], list[str]]] = [
    _before,
    _before,
    _after,
    _after,
    _after_plus_one,
    _after_plus_one,
    _shifted,
    _index_range,
    _index_range,
    _while,
    _counted_by_hand,
    _from_one,
    _continue,
    _ladder,
    _rungs,
    _head_of_the_layers,
    _tail_of_the_layers,
    _segments,
    _flags,
    _mask,
    _any,
    _queue,
    _every_nth,
    _match,
    _generator,
    _all_then_pick,
    _inner_function,
]


#: Forms that choose layers by themselves.
FREE = (_ladder, _rungs, _every_nth, _match)
