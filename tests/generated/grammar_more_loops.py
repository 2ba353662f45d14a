"""Further ways to walk through the layers: helpers, early ends, contexts, exceptions, indices that are worked out."""

from __future__ import annotations

from collections.abc import Callable

from grammar_loops import Walk, header, indented


def _helper(w: Walk) -> list[str]:
    i = w.names.counter
    test = w.draw.choice(
        [
            ["def wanted(number):", f"    return number in {w.ids.expression}", ""],
            [f"wanted = lambda number: number in {w.ids.expression}"],
            [
                "def wanted(number, among=None):",
                f"    among = {w.ids.expression} if among is None else among",
                "    for one in among:",
                "        if one == number:",
                "            return True",
                "    return False",
                "",
            ],
        ]
    )
    return [*test, header(w), *indented([f"if wanted({i}):", *indented(w.capture(True, i)), *w.advance(w.names.layer)])]


def _early_end(w: Walk) -> list[str]:
    i = w.names.counter
    left = w.draw.choice(
        [
            [f"if {i} == max({w.ids.expression}):", "    break"],
            [f"if {i} >= max({w.ids.expression}):", "    break"],
        ]
    )
    return [
        header(w),
        *indented([f"if {i} in {w.ids.expression}:", *indented(w.capture(True, i)), *left, *w.advance(w.names.layer)]),
        f"for {w.names.layer} in {w.layers}[{i}:]:",
        *indented(w.advance(w.names.layer)),
    ]


def _local_number(w: Walk) -> list[str]:
    i = w.names.counter
    number, before = w.draw.choice([(f"{i} + 1", False), (f"{i}", True), (f"{i} - 1", True), (f"1 + {i}", False)])
    test = ["if number in wanted:", *indented(w.capture(before, "number"))]
    step = w.advance(w.names.layer)
    return [
        f"wanted = frozenset({w.ids.expression})",
        header(w),
        *indented([f"number = {number}", *([*test, *step] if before else [*step, *test])]),
    ]


def _context(w: Walk) -> list[str]:
    i = w.names.counter
    opening = w.draw.choice([["with torch.no_grad():"], ["with torch.inference_mode():"], ["try:"]])
    loop = [
        header(w),
        *indented([f"if {i} in {w.ids.expression}:", *indented(w.capture(True, i)), *w.advance(w.names.layer)]),
    ]
    end = ["finally:", "    pass"] if opening == ["try:"] else []
    return [*opening, *indented(loop), *end]


def _table(w: Walk) -> list[str]:
    i, layer = w.names.counter, w.names.layer
    table, loop = w.draw.choice(
        [
            (f"table = dict(enumerate({w.layers}))", f"for {i}, {layer} in table.items():"),
            (f"table = list(enumerate({w.layers}))", f"for {i}, {layer} in table:"),
            (f"table = [(j, {w.layers}[j]) for j in range({w.depth})]", f"for {i}, {layer} in table:"),
            (
                f"table = {{str(j): {w.layers}[j] for j in range({w.depth})}}",
                f"for {i}, {layer} in ((int(j), table[j]) for j in table):",
            ),
        ]
    )
    return [
        table,
        loop,
        *indented([f"if {i} in {w.ids.expression}:", *indented(w.capture(True, i)), *w.advance(w.names.layer)]),
    ]


def _exception(w: Walk) -> list[str]:
    i = w.names.counter
    return [
        f"slots = {{j: slot for slot, j in enumerate({w.ids.expression})}}",
        header(w),
        *indented(
            [
                f"slot_of = slots.get({i})",
                "if slot_of is not None:",
                *indented(w.capture(True, i)),
                *w.advance(w.names.layer),
            ]
        ),
    ]


def _walrus(w: Walk) -> list[str]:
    i = w.names.counter
    return [
        f"slots = dict(zip({w.ids.expression}, range(9)))",
        header(w),
        *indented(
            [f"if (slot_of := slots.get({i}, -1)) >= 0:", *indented(w.capture(True, i)), *w.advance(w.names.layer)]
        ),
    ]


def _sets(w: Walk) -> list[str]:
    i = w.names.counter
    wanted = w.draw.choice(
        [
            f"set({w.ids.expression}) | {{4}}",
            f"set({w.ids.expression}) - {{999}}",
            f"set({w.ids.expression}) & set(range({w.depth}))",
            f"{{j for j in {w.ids.expression} if j < {w.depth}}}",
        ]
    )
    w.ids.count += 1 if "{4}" in wanted else 0
    return [
        f"wanted = {wanted}",
        header(w),
        *indented([f"if {i} in wanted:", *indented(w.capture(True, i)), *w.advance(w.names.layer)]),
    ]


def _two_loops(w: Walk) -> list[str]:
    i = w.names.counter
    half = f"{w.depth} // 2"
    body = indented([f"if {i} in {w.ids.expression}:", *indented(w.capture(True, i)), *w.advance(f"{w.layers}[{i}]")])
    return [f"for {i} in range({half}):", *body, f"for {i} in range({half}, {w.depth}):", *body]


def _until(w: Walk) -> list[str]:
    i = w.names.counter
    return [
        f"{i} = 0",
        "while True:",
        *indented(
            [
                f"if {i} == {w.depth}:",
                "    break",
                f"if {i} in {w.ids.expression}:",
                *indented(w.capture(True, i)),
                *w.advance(f"{w.layers}[{i}]"),
                f"{i} += 1",
            ]
        ),
    ]


def _iterator(w: Walk) -> list[str]:
    i, layer = w.names.counter, w.names.layer
    return [
        f"chosen_ids = iter(sorted({w.ids.expression}))",
        "following = next(chosen_ids, None)",
        header(w),
        *indented(
            [
                f"if {i} == following:",
                *indented([*w.capture(True, i), "following = next(chosen_ids, None)"]),
                *w.advance(layer),
            ]
        ),
    ]


def _last_boundary(w: Walk) -> list[str]:
    """The ids and the last boundary, which no layer enters."""
    i = w.names.counter
    w.ids.count += 1
    test = [f"if {i} in wanted:", *indented(w.capture(True, i))]
    return [
        f"wanted = [*{w.ids.expression}, {w.depth}]",
        header(w),
        *indented([*test, *w.advance(w.names.layer)]),
        f"if {w.depth} in wanted:",
        *indented(w.capture(False, w.depth)),
    ]


#: Forms of this module.
LOOPS: list[Callable[[Walk], list[str]]] = [
    _helper,
    _early_end,
    _local_number,
    _context,
    _table,
    _exception,
    _walrus,
    _sets,
    _two_loops,
    _until,
    _iterator,
    _last_boundary,
]
#: Forms that capture other layers than the ids.
FREE = (_sets, _last_boundary)
