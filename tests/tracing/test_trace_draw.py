"""What a drawing holds: both halves of each column of fc, how they compare, what is not known, what would settle it."""

from __future__ import annotations

from typing import Any

from eaglelint.boundary import State
from eaglelint.facts import Assembly, Step, Unresolved
from eaglelint.settings import PipelineSettings, Settings
from eaglelint.tracing.draw import draw
from eaglelint.tracing.records import Drawing, Panel, Row

TOP = "/eagle_aux_hidden_state_layer_ids"


def drawings(world: Any) -> list[Drawing]:
    return [drawing for pipeline in world.pipelines() for drawing in draw(pipeline)]


def drawing(world: Any) -> Drawing:
    found = [one for one in drawings(world) if one.name]
    assert len(found) == 1, [one.name for one in found]
    return found[0]


def panel(world: Any) -> Panel:
    [only] = drawing(world).panels
    return only


def trained(found: Panel) -> list[str]:
    return [row.kept.boundary.text if row.kept is not None else "" for row in found.rows]


def served(found: Panel) -> list[str]:
    return [row.fed.boundary.text if row.fed is not None else "" for row in found.rows]


def statuses(rows: tuple[Row, ...]) -> list[str]:
    return [row.status for row in rows]


def project(world: Any, ids: list[Any] | None, release: str, boundaries: list[int] | None, **more: Any) -> None:
    """A head on one SGLang server, trained on some boundaries of a target."""
    depth = more.pop("depth", 36)
    world.drafter(ids)
    world.target(depth, architecture=more.pop("architecture", "Qwen3ForCausalLM"))
    world.pin("sglang", release)
    if boundaries is not None:
        world.trained(boundaries, depth, **more)
    world.sglang()


# ---- match and mismatch --------------------------------------------------------------------------------------------


def test_a_drafter_that_is_served_what_it_was_trained_on(world: Any):
    project(world, [1, 17, 32], "==0.5.14", [2, 18, 33])
    found = panel(world)
    assert (found.status, found.verdict) == ("match", "every column of fc is fed the boundary it was trained on")
    assert trained(found) == served(found) == ["2", "18", "33"]
    assert statuses(found.rows) == ["match"] * 3
    assert found.served.title == "SGLang 0.5.14"
    assert found.served.ids.startswith("[1, 17, 32] under eagle_config.eagle_aux_hidden_state_layer_ids (head/config")
    assert found.right == ""


def test_ids_that_are_one_layer_late(world: Any):
    project(world, [2, 18, 33], "==0.5.14", [2, 18, 33])
    found = panel(world)
    assert (found.status, found.verdict) == ("mismatch", "every state is one layer late")
    assert [(row.status, row.words) for row in found.rows] == [("mismatch", "one layer late")] * 3
    assert served(found) == ["3", "19", "34"]
    assert found.right == "[1, 17, 32] under eagle_config.eagle_aux_hidden_state_layer_ids"
    assert found.depth == 36


def test_each_column_names_its_id_and_the_key_that_holds_it(world: Any):
    project(world, [32, 1, 17], "==0.5.14", [2, 18, 33])
    found = panel(world)
    key = "eagle_config.eagle_aux_hidden_state_layer_ids"
    assert [row.fed.ids for row in found.rows if row.fed] == [("1",), ("17",), ("32",)]
    assert [row.fed.key for row in found.rows if row.fed] == [f"{key}[1]", f"{key}[2]", f"{key}[0]"]
    assert found.status == "match"


def test_a_boundary_that_can_not_be_captured_keeps_its_column_and_says_so(world: Any):
    project(world, [-1, 2, 30], "==0.5.9", [3, 31, 59], depth=61, architecture="DeepseekV3ForCausalLM")
    found = drawing(world).panels[0]
    assert served(found) == ["0", "3", "31"]
    assert found.rows[0].words == "the embedding instead, can not be captured: the server stops at it"
    assert found.rows[1].words == "28 layers early"
    assert [note.text for note in found.notes] == ["2 of 3 states arrive: fc has no input of that width"]
    assert found.right.startswith("[2, 30, 58]")


def test_the_same_boundaries_in_another_order(world: Any):
    project(world, [1, 17, 32], "==0.5.14", [33, 18, 2])
    found = panel(world)
    assert found.verdict == "the same boundaries in another order"
    assert [row.words for row in found.rows] == ["in another column", "", "in another column"]
    assert found.right == ""  # this engine concatenates by layer, whatever the ids


def test_fewer_ids_than_columns(world: Any):
    project(world, [1, 17], "==0.5.14", [2, 18, 33])
    found = panel(world)
    assert statuses(found.rows) == ["match", "match", "mismatch"]
    assert found.rows[2].fed is None
    assert found.rows[2].words == "nothing arrives here"


def test_more_ids_than_columns(world: Any):
    project(world, [1, 17, 32, 34], "==0.5.14", [2, 18, 33])
    found = panel(world)
    assert found.rows[3].kept is None
    assert (found.rows[3].status, found.rows[3].words) == ("mismatch", "the drafter was not trained with this column")


def test_an_id_that_stands_twice_is_one_column(world: Any):
    project(world, [1, 17, 17, 32], "==0.5.14", [2, 18, 33])
    found = panel(world)
    assert [row.fed.ids for row in found.rows if row.fed] == [("1",), ("17", "17"), ("32",)]
    assert found.status == "match"


def test_without_ids_the_default_is_drawn_with_its_formulas(world: Any):
    project(world, None, "==0.5.14", [2, 18, 33])
    found = panel(world)
    assert found.served.default
    assert [row.fed.formula for row in found.rows if row.fed] == ["2", "N // 2", "N - 3"]
    assert served(found) == ["2", "18", "33"]
    assert found.status == "match"


def test_ids_that_the_engine_does_not_read_are_noted(world: Any):
    world.drafter([1, 17, 32], key=TOP)
    world.target(36)
    world.pin("sglang", "==0.5.14")
    world.trained([5, 18, 33], 36)
    world.sglang()
    found = panel(world)
    assert [(note.mark, note.text) for note in found.notes] == [
        ("not read", "[1, 17, 32] under eagle_aux_hidden_state_layer_ids")
    ]
    assert found.rows[0].words == "three layers early"


def test_what_is_assumed_is_said(world: Any):
    project(world, [1, 17, 32], "==0.5.14", [2, 18, 33], assumed="default of $LAYERS")
    assert ("assumed", "default of $LAYERS") in [(note.mark, note.text) for note in panel(world).notes]


def test_an_incomplete_state_is_a_mismatch_whatever_is_served(world: Any):
    project(world, [1, 17, 32], "==0.5.14", None)
    states = tuple(State(b, part="branch") for b in (2, 18, 33))
    where = world.trained([2, 18, 33], 36).where
    world.lists["assemblies"] = [
        Assembly(where, ((36, states),), "proven", "training", (Step(where, "captured"),)),
    ]
    found = panel(world)
    assert found.status == "mismatch"
    assert found.verdict == "trained on an incomplete state: its residual is missing"


# ---- several ways of serving ---------------------------------------------------------------------------------------


def test_releases_that_agree_are_one_panel_and_those_that_do_not_are_several(world: Any):
    world.drafter([2, 30, 58])
    world.target(61, architecture="DeepseekV3ForCausalLM")
    world.trained([2, 30, 58], 61)
    world.sglang()
    found = drawing(world)
    assert found.status == "mismatch"
    assert {one.status for one in found.panels} == {"match", "mismatch"}
    titles = [one.served.title for one in found.panels]
    assert len(titles) == len(set(titles))
    assert [hint.missing for hint in found.hints] == ["the release of SGLang"]
    assert found.hints[0].settle.startswith('[engines]\nsglang = "')


def test_decoding_in_graphs_with_the_default_layers_is_a_panel_of_its_own(world: Any):
    project(world, [9, 19, 29], "==0.5.9", [10, 20, 30])
    eager, graphs = drawing(world).panels
    assert (eager.status, graphs.status) == ("match", "mismatch")
    assert graphs.served.title == "SGLang 0.5.9, decoding in CUDA graphs"
    assert served(graphs) == ["2", "18", "33"]


def test_a_runtime_of_the_project_is_served_as_well(world: Any):
    project(world, [1, 17, 32], "==0.5.14", [2, 18, 33])
    world.trained([2, 18, 34], 36, path="bench.py", purpose="runtime")
    engine, own = drawing(world).panels
    assert engine.status == "match"
    assert (own.served.title, own.status) == ("the project's own runtime", "mismatch")
    assert own.verdict == "boundary 34 instead of boundary 33"


def test_a_method_that_captures_nothing(world: Any):
    world.drafter([1, 17, 32])
    world.target(36)
    world.trained([2, 18, 33], 36)
    world.sglang(algorithm="EAGLE")
    found = panel(world)
    assert (found.status, found.verdict) == ("mismatch", "nothing is captured for it")
    assert "EAGLE" in found.served.rule


# ---- what is not known ---------------------------------------------------------------------------------------------


def test_without_training_the_served_half_is_drawn_and_configuration_named(world: Any):
    project(world, [1, 17, 32], "==0.5.14", None)
    found = drawing(world)
    [only] = found.panels
    assert (only.status, only.verdict) == ("unknown", "what the drafter was trained on is not known")
    assert served(only) == ["2", "18", "33"]
    assert all(row.kept is None for row in only.rows)
    [hint] = found.hints
    assert hint.missing == "what the drafter was trained on"
    assert hint.settle.startswith('[[pipeline]]\ndrafter = "head"\ncapture = ')


def test_without_an_engine_both_usual_meanings_of_an_id_are_shown(world: Any):
    world.drafter([1, 17, 32])
    world.target(36)
    world.trained([2, 18, 33], 36)
    found = drawing(world)
    [only] = found.panels
    assert only.status == "unknown"
    assert served(only) == ["2 or 1", "18 or 17", "33 or 32"]
    assert [hint.missing for hint in found.hints] == ["which engine and release serve it"]


def test_ids_that_are_no_integers_mean_nothing(world: Any):
    project(world, [1, 17, "last"], "==0.5.14", [2, 18, 33])
    found = panel(world)
    assert found.status == "unknown"
    assert served(found) == ["unknown"] * 3
    assert found.served.rule == "not known for these ids: one of them is no integer"


def test_a_target_of_unknown_depth_is_drawn_with_formulas(world: Any):
    world.drafter(None)
    world.pin("sglang", "==0.5.14")
    table = tuple((n, (State(2), State(n // 2), State(n - 3))) for n in (24, 36, 61))
    where = world.trained([2, 18, 33], 36).where
    steps = tuple((Step(where, f"boundary {b} captured"),) for b in (2, 12, 21))
    world.lists["assemblies"] = [Assembly(where, table, "proven", "training", steps[0], columns=steps)]
    world.sglang(target=None)
    found = drawing(world)
    [only] = found.panels
    assert trained(only) == ["2", "N // 2", "N - 3"]
    assert served(only) == ["2", "N // 2", "N - 3"]
    assert only.status == "match"
    assert only.depth == 0
    assert found.sources[0].what == "boundaries 2, N//2, N-3 captured, concatenated"
    assert "the target and its number of layers N" in [hint.missing for hint in found.hints]


def test_ids_beyond_the_smallest_targets_are_not_taken_for_lost(world: Any):
    world.drafter([2, 24, 45], key=TOP)
    world.pin("vllm", "==0.24.0")
    world.vllm(target=None)
    assert all(not row.fed.lost for one in drawing(world).panels for row in one.rows if row.fed)


def test_a_capture_alone_has_no_order_of_columns(world: Any):
    world.drafter([1, 17, 32])
    world.target(36)
    world.pin("sglang", "==0.5.14")
    world.sglang()
    world.captured([2, 18, 33, 36], 36, normed=36)
    found = panel(world)
    assert found.status == "match"
    assert not found.trained.ordered
    assert "order" in [note.mark for note in found.notes]
    assert [kept.normed for kept in found.trained.beside] == [True]


def test_code_without_a_drafter_is_drawn(world: Any):
    world.trained([2, 18, 33], 36)
    [found] = drawings(world)
    assert (found.name, found.status) == ("", "unknown")
    assert trained(found.panels[0]) == ["2", "18", "33"]
    assert found.hints[0].missing == "which drafter this code belongs to"
    assert 'capture = ["train.py"]' in found.hints[0].settle


def test_layers_that_nothing_says_are_named_with_their_place(world: Any):
    where = world.trained([2, 18, 33], 36).where
    world.lists = {"unresolved": [Unresolved(where, "$LAYERS.split()")]}
    [found] = drawings(world)
    assert found.panels == ()
    assert "which layers are captured at train.py:11: $LAYERS.split() is not known" in [h.missing for h in found.hints]


def test_code_that_may_belong_to_two_drafters(world: Any):
    for name in ("a", "b"):
        world.drafter([1, 17, 32], path=f"{name}/config.json")
        world.sglang(draft=name, line=3 if name == "a" else 30)
    world.trained([2, 18, 33], 36, path="tools/train.py", dump="tools/dump.py")
    rest = next(one for one in drawings(world) if not one.name)
    [hint] = [hint for hint in rest.hints if hint.missing.startswith("which drafter the captured states belong to")]
    assert hint.missing.endswith("a or b")
    assert "tools/train.py" in hint.settle


def test_a_head_that_takes_no_auxiliary_states(world: Any):
    world.drafter(None, method="mtp")
    found = drawing(world)
    assert (found.panels, found.hints) == ((), ())
    assert [note.mark for note in found.notes] == ["method"]


def test_a_drafter_that_is_not_the_one_that_is_served(world: Any):
    world.drafter([1, 17, 32])
    world.drafter([1, 17, 32], path="old/config.json")
    world.target(36)
    world.sglang()
    old = next(one for one in drawings(world) if one.name == "old")
    assert "where this drafter is served: the project starts another one" in [hint.missing for hint in old.hints]


def test_an_engine_that_the_tables_do_not_have(world: Any):
    world.drafter([1, 17, 32])
    world.target(36)
    world.trained([2, 18, 33], 36)
    world._launch("homegrown", "head", "target", {})
    assert [hint.missing for hint in drawing(world).hints] == ["how homegrown reads ids: it is not in the tables"]


def test_the_configuration_that_a_hint_names_settles_it(world: Any):
    world.drafter([1, 17, 32])
    world.target(36)
    world.trained([2, 18, 33], 36)
    world.settings = Settings(pipeline=(PipelineSettings(drafter="head", engine="sglang==0.5.14"),))
    assert panel(world).status == "match"
    assert drawing(world).hints == ()


# ---- names and provenance --------------------------------------------------------------------------------------------


def test_a_name_that_lies_is_noted_at_its_place(world: Any):
    project(world, [1, 17, 32], "==0.5.14", [2, 18, 33])
    world.lists["assemblies"] = []
    way = (Step(world.label("embed", 2, 36, path="train.py", line=5, trace=()).where, "boundary 2 captured"),)
    other = (Step(way[0].where._replace(line=6), "captured"),)
    states = ((36, (State(2), State(18), State(33))),)
    world.lists["assemblies"] = [
        Assembly(other[0].where, states, "proven", "training", way, columns=(way, other, other))
    ]
    found = drawing(world)
    [only] = found.panels
    assert [name.text for name in only.rows[0].kept.names] == ["embed"]
    assert only.rows[0].kept.names[0].lie == "the embedding output (boundary 0)"
    assert only.rows[1].kept.names == ()
    [note] = [note for note in found.notes if note.mark == "name"]
    assert note.text == "`embed` claims the embedding output (boundary 0), but holds boundary 2 (output of layer 1)"
    assert str(note.where) == "train.py:5"


def test_the_lines_that_it_rests_on_are_numbered_in_the_order_of_the_data_flow(world: Any):
    project(world, [1, 17, 32], "==0.5.14", [2, 18, 33])
    found = drawing(world)
    assert [source.number for source in found.sources] == list(range(1, len(found.sources) + 1))
    places = [str(source.where) for source in found.sources]
    assert places[:3] == ["dump.py:7", "dump.py:9", "train.py:11"]
    assert places.index("requirements.txt:1") < places.index("serve.sh:3") < len(places)
    assert places[-1].startswith("target/config.json:")


def test_lines_of_some_columns_name_them(world: Any):
    project(world, [1, 17, 32], "==0.5.14", None)
    where = world.trained([2, 18, 33], 36).where
    ways = tuple((Step(where._replace(line=n), f"named h{n}"),) for n in (1, 2, 3))
    world.lists["assemblies"] = [
        Assembly(where, ((36, (State(2), State(18), State(33))),), "proven", "training", ways[0], columns=ways)
    ]
    found = drawing(world)
    assert [source.columns for source in found.sources[:4]] == [("fc[0]",), ("fc[1]",), ("fc[2]",), ()]


def test_the_defects_of_the_code_are_noted_with_their_rule(world: Any):
    project(world, [1, 17, 32], "==0.5.14", [2, 18, 33])
    world.defect("concat-drops-wrong-state")
    found = drawing(world)
    assert [(note.mark, note.text) for note in found.notes] == [("defect", "concat drops wrong state (EGL412)")]
    assert found.status == "unknown"  # the code is in doubt, so it is not compared
