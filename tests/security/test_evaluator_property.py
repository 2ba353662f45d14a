"""What the analyser says of an expression is what Python makes of it; what it does not know it says is unknown."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from eaglelint.analyser.program import run_project
from eaglelint.analyser.sources import Code
from eaglelint.analyser.values import HOLE, DictV, ListV, SetV
from eaglelint.conventions import rules
from eaglelint.facts import Facts
from eaglelint.project import Source

UNKNOWN = object()
#: What a project has to say so that its code is run at all.
EVIDENCE = "import torch\nfrom transformers import AutoModelForCausalLM\n# hidden_states of EAGLE3\n"
_small = st.integers(-9, 12)
_names = st.sampled_from(["A", "B", "C", "D"])
GIVEN = {"A": [2, 16, 29], "B": [5, 1, 1, -3, 40], "C": [], "D": list(range(3, 30, 4))}


def _numbers(lists: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        _small.map(lambda n: f"({n})"),
        lists.map(lambda a: f"len({a})"),
        lists.map(lambda a: f"sum({a})"),
        st.builds("{}({} or [7])".format, st.sampled_from(["max", "min"]), lists),
        st.builds("{}[{}]".format, lists, _small),
        st.builds(
            "({} {} {})".format, _small, st.sampled_from(["+", "-", "*", "//", "%"]), st.builds("len({})".format, lists)
        ),
        st.builds("(1 if {} in {} else 0)".format, _small, lists),
    )


def _grown(lists: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    number = _numbers(lists)
    bound = st.one_of(st.just(""), _small.map(str))
    step = st.sampled_from(["", ":1", ":2", ":-1", ":-3"])
    return st.one_of(
        st.lists(number, max_size=3).map(lambda a: f"[{', '.join(a)}]"),
        st.builds("list(range({}, {}, {}))".format, _small, _small, st.sampled_from(["1", "2", "-1", "5"])),
        st.builds("{}[{}:{}{}]".format, lists, bound, bound, step),
        st.builds("({} + {})".format, lists, lists),
        st.builds("({} * {})".format, lists, st.integers(0, 3)),
        st.builds("sorted({}{})".format, lists, st.sampled_from(["", ", reverse=True", ", key=lambda k: -k"])),
        st.builds("sorted(set({}))".format, lists),
        st.builds("list(reversed({}))".format, lists),
        st.builds("[*{}, {}]".format, lists, number),
        st.builds("[x + {} for x in {}]".format, number, lists),
        st.builds("[x for x in {} if x {} {}]".format, lists, st.sampled_from([">", "<=", "==", "!="]), number),
        st.builds("[x * y for x, y in zip({}, {})]".format, lists, lists),
        st.builds("[i - x for i, x in enumerate({}{})]".format, lists, st.sampled_from(["", ", 1", ", start=-2"])),
        st.builds("[x for y in [{}, {}] for x in y]".format, lists, lists),
        st.builds("list(map(lambda x: x - {}, {}))".format, number, lists),
        st.builds("({} if {} else {})".format, lists, lists, lists),
    )


LISTS = st.recursive(_names, _grown, max_leaves=5)
TEXTS = st.one_of(
    st.builds("f'layer{{{}}}'".format, _numbers(LISTS)),
    st.builds("f'{{{}:03d}}'".format, _numbers(LISTS)),
    st.builds("f'{{{}}} x'".format, LISTS),
    st.builds("','.join(str(x) for x in {})".format, LISTS),
    st.builds("'%d-%s' % ({}, {})".format, _numbers(LISTS), _small),
    st.builds("'{{}}/{{}}'.format({}, {})".format, _numbers(LISTS), _small),
)
EXPRESSIONS = st.one_of(LISTS, LISTS, _numbers(LISTS), TEXTS)


def plain(value: Any) -> Any:
    """A value of the analyser as Python has it; UNKNOWN where it does not know it."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return UNKNOWN if HOLE in value else str(value)
    if isinstance(value, ListV | SetV) and not value.open:
        items = [plain(item) for item in value.items]
        return UNKNOWN if UNKNOWN in items else items
    if isinstance(value, range):
        return list(value)
    return UNKNOWN if not isinstance(value, tuple | DictV) else value


def evaluated(expressions: list[str]) -> list[Any]:
    """What the analyser makes of each expression."""
    lines = [f"{name} = {value}" for name, value in GIVEN.items()]
    lines += [f"v{number} = {expression}" for number, expression in enumerate(expressions)]
    text = EVIDENCE + "\n".join(lines) + "\n"
    source = Source("dump.py", "python", Path("dump.py"), text.encode())
    recorder, _ = run_project(Code([source]), Facts(), [], 36)
    names = recorder.scopes["dump.py"].names
    return [plain(names.get(f"v{number}", UNKNOWN)) for number in range(len(expressions))]


def wrong(expressions: list[str]) -> tuple[list[str], int]:
    """The expressions of which the analyser says something that is not so, and how many it knows."""
    found, known = [], 0
    for expression, said in zip(expressions, evaluated(expressions), strict=True):
        try:
            real = eval(expression, dict(GIVEN))
        except (IndexError, ZeroDivisionError, ValueError):
            continue
        if said is not UNKNOWN:
            known += 1
            if said != real:
                found.append(f"{expression}: {said!r}, not {real!r}")
    return found, known


KNOWN = [0, 0]


@settings(
    max_examples=int(os.environ.get("EAGLELINT_EXPRESSIONS", "60")),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(EXPRESSIONS, min_size=8, max_size=8))
@example(
    ["sorted(set(B))", "B[::-1]", "[i - x for i, x in enumerate(A, 1)]", "f'{B}'", "A[9:]", "D[-2:]", "C", "len(D)"]
)
def test_no_expression_is_given_another_value(expressions: list[str]):
    found, known = wrong(expressions)
    KNOWN[0] += known
    KNOWN[1] += len(expressions)
    assert found == []


def test_most_expressions_are_known():
    """Else the test above would hold of an analyser that knows nothing."""
    if not KNOWN[1]:
        pytest.skip("the expressions were not evaluated in this run")
    assert KNOWN[0] > 0.6 * KNOWN[1], KNOWN


def test_a_wrong_value_is_seen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(GIVEN, "A", [2, 16, 28])
    assert wrong(["A[-1]"]) == ([], 1)
    real = dict(GIVEN)
    monkeypatch.setattr("builtins.eval", lambda text, *_: real["A"][0])
    assert wrong(["A[-1]"])[0] == ["A[-1]: 28, not 2"]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.sampled_from(sorted(set(rules.NAMES) - {"ignored", "nothing_captured", "unknown"})),
    st.lists(st.integers(0, 130), min_size=1, max_size=8),
    st.integers(1, 128),
)
def test_ids_for_boundaries_mean_these_boundaries(rule: str, boundaries: list[int], depth: int):
    ids = rules.invert(rule, boundaries, depth)
    if ids is not None:
        assert rules.apply(rule, ids, depth) == tuple(boundaries)
    elif rule in ("plus_one", "as_is"):
        pytest.fail("these rules reach every boundary")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.sampled_from(sorted(set(rules.NAMES) - {"ignored", "nothing_captured", "unknown"})),
    st.lists(st.integers(0, 128), min_size=1, max_size=8),
    st.integers(1, 128),
)
def test_what_ids_mean_can_be_written_as_ids_again(rule: str, ids: list[int], depth: int):
    boundaries = rules.apply(rule, ids, depth)
    assert boundaries is not None
    if rules.NOWHERE not in boundaries:
        again = rules.invert(rule, boundaries, depth)
        assert again is not None
        assert rules.apply(rule, again, depth) == boundaries
