"""EGL106, EGL402, EGL403: lists of layers that should be one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eaglelint.boundary import Layers, State
from eaglelint.checks.drift import producer_consumer_drift
from eaglelint.facts import Assembly, Step, Value
from eaglelint.findings import Finding
from eaglelint.linking.records import Training
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

TOP = "/eagle_aux_hidden_state_layer_ids"


def at(path: str, line: int = 1) -> Location:
    """A place for which only the line matters."""
    return Location(path, line, 1, line, 1, line * 100, line * 100)


def joined(world: Any, boundaries: list[int], path: str, purpose: str = "training", **more: Any) -> Assembly:
    """A concatenation of freshly captured states in one file."""
    more.setdefault("dump", path)
    return world.trained(boundaries, more.pop("depth", 36), path=path, purpose=purpose, **more)


@pytest.fixture
def served(world: Any) -> Any:
    """A head for a target of 36 layers that vLLM serves with the ids 2, 18, 33, which it takes as boundaries."""
    world.drafter([2, 18, 33], key=TOP)
    world.target(36)
    world.pin("vllm", "==0.24.0")
    world.vllm()
    return world


class TestDeclaredLayersIgnored:
    """EGL106."""

    def test_a_runtime_with_a_preset_of_its_own(self, served: Any):
        place = joined(served, [3, 18, 32], "bench/run.py", "runtime").where
        found = served.finding("EGL106")
        assert (found.severity, found.where) == ("warning", place)
        assert "boundaries 3, 18, 32 are fed to the head here" in found.message
        assert "declares [2, 18, 33], which vLLM 0.24.0 takes as boundaries 2, 18, 33" in found.message

    def test_it_points_at_the_preset_when_its_place_is_known(self, served: Any):
        joined(served, [3, 18, 32], "bench/run.py", "runtime", preset=at("bench/layers.py", 4))
        assert served.finding("EGL106").where == at("bench/layers.py", 4)

    def test_a_preset_that_is_what_the_ids_mean(self, served: Any):
        joined(served, [2, 18, 33], "bench/run.py", "runtime")
        assert not served.findings("EGL106")

    def test_without_an_engine_any_usual_reading_of_the_key_will_do(self, world: Any):
        world.drafter([2, 18, 33])
        world.target(36)
        joined(world, [2, 18, 33], "bench/a.py", "runtime")
        joined(world, [3, 19, 34], "bench/b.py", "runtime")
        assert not world.findings("EGL106")
        joined(world, [5, 18, 30], "bench/c.py", "runtime")
        assert "3, 19, 34 as outputs of layers" in world.finding("EGL106").message

    def test_a_head_that_declares_nothing(self, world: Any):
        world.drafter(None)
        world.target(36)
        joined(world, [5, 18, 30], "bench/run.py", "runtime")
        assert not world.findings("EGL106")

    def test_training_code_is_no_runtime(self, served: Any):
        joined(served, [5, 18, 30], "train.py")
        assert not served.findings("EGL106")

    def test_ids_that_are_wrong_for_the_training_are_egl401_alone(self, served: Any):
        joined(served, [3, 19, 34], "train.py")
        joined(served, [5, 18, 30], "bench/run.py", "runtime")
        assert [f.rule for f in served.findings("EGL401", "EGL106")] == ["EGL401"]

    def test_a_defect_that_explains_the_states_speaks_alone(self, served: Any):
        joined(served, [0, 1, 2], "bench/run.py", "runtime")
        served.defect("early-layers-captured", where=at("bench/run.py", 11))
        assert not served.findings("EGL106")

    def test_an_assumed_preset_is_likely(self, served: Any):
        joined(served, [3, 18, 32], "bench/run.py", "runtime", assumed="default of $TAPS")
        found = served.finding("EGL106")
        assert found.confidence == "likely"
        assert "default of $TAPS" in found.message


class TestOrder:
    """EGL402."""

    def test_the_engine_concatenates_in_layer_order(self, served: Any):
        place = joined(served, [33, 18, 2], "train.py").where
        found = served.finding("EGL402")
        assert (found.severity, found.where) == ("error", place)
        assert "in the order 33, 18, 2, but vLLM 0.24.0 concatenates them in layer order, 2, 18, 33" in found.message

    def test_ascending_order(self, served: Any):
        joined(served, [2, 18, 33], "train.py")
        assert not served.findings("EGL402")

    def test_an_unsorted_list_of_ids_where_both_capture_in_layer_order(self, world: Any):
        world.drafter([33, 2, 18], key=TOP)
        world.target(36)
        world.pin("vllm", "==0.24.0")
        world.vllm()
        joined(world, [2, 18, 33], "train.py")
        assert not world.findings("EGL402")

    def test_an_order_that_can_not_be_told(self, served: Any):
        joined(served, [33, 18, 2], "train.py", ordered=False)
        assert not served.findings("EGL402")

    def test_other_boundaries_are_egl401_alone(self, served: Any):
        joined(served, [34, 19, 3], "train.py")
        assert [f.rule for f in served.findings("EGL401", "EGL402")] == ["EGL401"]

    def test_an_assumed_order_makes_a_warning(self, served: Any):
        joined(served, [33, 18, 2], "train.py", assumed="default of --order", confidence="likely")
        assert served.finding("EGL402").severity == "warning"

    def test_a_runtime_in_another_order_than_the_training(self, served: Any):
        joined(served, [2, 18, 33], "train.py")
        place = joined(served, [33, 18, 2], "bench/run.py", "runtime").where
        found = served.finding("EGL402")
        assert found.where == place
        assert "2, 18, 33 at train.py:11" in found.message


class TestDrift:
    """EGL403."""

    def test_dump_and_trainer_of_one_drafter(self, served: Any):
        joined(served, [2, 18, 33], "dump_states.py")
        place = joined(served, [2, 18, 34], "train_head.py").where
        found = served.finding("EGL403")
        assert (found.severity, found.where) == ("error", place)
        assert (
            "boundaries 2, 18, 34 are concatenated here, but boundaries 2, 18, 33 are concatenated at dump_states.py:11"
            in found.message
        )

    def test_it_points_at_the_consumer_whatever_the_order_of_the_files(self, served: Any):
        place = joined(served, [2, 18, 34], "a_train.py").where
        joined(served, [2, 18, 33], "z_dump.py")
        assert served.finding("EGL403").where == place

    def test_one_list_for_both(self, served: Any):
        joined(served, [2, 18, 33], "dump_states.py")
        joined(served, [2, 18, 33], "train_head.py")
        assert not served.findings("EGL403")

    def test_one_includes_the_last_layer(self, served: Any):
        joined(served, [2, 18, 33], "dump_states.py")
        joined(served, [2, 18, 33, 36], "train_head.py")
        assert served.finding("EGL403")

    def test_more_states_of_another_kind_of_head(self, served: Any):
        joined(served, [2, 18, 33], "dump_states.py")
        joined(served, [2, 9, 18, 27, 33], "train_dflash.py")
        assert not served.findings("EGL403")

    def test_the_verifiers_state_beside_the_auxiliary_ones(self, served: Any):
        stored = (Step(at("dump.py", 7), "saved to a.pt"),)
        served.captured([2, 18, 33, 36], 36, trace=stored)
        joined(served, [2, 18, 33], "train_head.py")
        assert not served.findings("EGL403")

    def test_an_extraction_command_against_the_trainer(self, served: Any):
        served.captured([2, 17, 33, 36], 36, path="extract.sh", trace=(Step(at("extract.sh", 7), "vLLM extracts"),))
        place = joined(served, [2, 18, 33], "train_head.py").where
        found = served.finding("EGL403")
        assert found.where == place
        assert "2, 17, 33 are captured at extract.sh:7" in found.message

    def test_what_a_concatenation_is_made_of_is_no_second_list(self, served: Any):
        served.captured([2, 18, 33, 35], 36, trace=(Step(at("dump.py", 7), "saved to a.pt"),))
        served.trained([2, 18, 33], 36)
        assert not served.findings("EGL403")

    def test_without_a_drafter_one_script_ties_them_together(self, world: Any):
        joined(world, [2, 18, 33], "fill.py")
        joined(world, [2, 18, 34], "learn.py")
        assert not world.findings("EGL403")
        world.run("fill.py")
        world.run("learn.py")
        assert world.finding("EGL403").severity == "error"

    def test_two_scripts_for_two_heads_are_not_tied_together(self, world: Any):
        joined(world, [2, 18, 33], "fill.py")
        joined(world, [2, 18, 34], "learn.py")
        world.run("fill.py", path="one.sh")
        world.run("learn.py", path="two.sh")
        assert not world.findings("EGL403")

    def test_other_targets_have_other_layers(self, world: Any):
        for path, name, boundaries in (("fill.py", "org/A-8B", [2, 18, 33]), ("learn.py", "org/B-8B", [2, 18, 34])):
            joined(world, boundaries, path, target=Value(name, at(path)))
            world.run(path)
        assert not world.findings("EGL403")

    def test_two_ways_in_one_file_are_alternatives(self, served: Any):
        eagle3 = joined(served, [2, 18, 33], "features.py")
        others = ((36, (State(9), State(20), State(30))),)
        served.lists["assemblies"].append(Assembly(at("features.py", 30), others, "proven", "training", ()))
        served.lists["assemblies"][0] = replace(eagle3, trace=())
        assert not served.findings("EGL403")

    def test_cached_and_computed_states_in_one_trainer(self, served: Any):
        joined(served, [2, 18, 34], "train_head.py")
        place = at("train_head.py", 40)
        trace = (Step(at("fill.py", 7), "captured"), Step(place, "loaded from a.pt"))
        states = ((36, served.trained([2, 18, 33], 36, path="scratch.py").states[0][1]),)
        served.lists["assemblies"].pop()
        served.lists["assemblies"].append(Assembly(place, states, "proven", "training", trace))
        assert served.finding("EGL403").severity == "error"

    def test_ids_that_are_wrong_for_both_are_egl401_alone(self, served: Any):
        joined(served, [3, 19, 34], "dump_states.py")
        joined(served, [3, 19, 35], "train_head.py")
        assert [f.rule for f in served.findings("EGL401", "EGL403")] == ["EGL401"]

    @pytest.mark.parametrize("kind", ["concat-drops-wrong-state", "dump-layout-mismatch", "capture-before-after-mixed"])
    def test_a_defect_that_explains_it_speaks_alone(self, served: Any, kind: str):
        joined(served, [2, 18, 33], "dump_states.py")
        joined(served, [2, 18, 34], "train_head.py")
        served.defect(kind, where=at("train_head.py", 11))
        assert not served.findings("EGL403")

    def test_an_assumed_list_makes_a_warning(self, served: Any):
        joined(served, [2, 18, 33], "dump_states.py", assumed="default of --layers", confidence="likely")
        joined(served, [2, 18, 34], "train_head.py")
        found = served.finding("EGL403")
        assert found.severity == "warning"
        assert "default of --layers" in found.message


class TestTold:
    """EGL403 between what a trainer and its data generator are told."""

    @staticmethod
    def findings(consumer: list[int], producer: list[int], **more: Any) -> list[Finding]:
        told, stored = (
            Training(Layers.of(ids), at("run.sh", line), "recipe", f"a trainer is told {ids}", **more)
            for ids, line in ((consumer, 4), (producer, 2))
        )
        return list(producer_consumer_drift(Pipeline("", at("run.sh"), beside=((told, stored),))))

    def test_different_layers(self):
        (found,) = self.findings([2, 18, 33], [2, 17, 33])
        assert (found.severity, found.where.line) == ("error", 4)
        assert "[2, 17, 33] (boundaries 2, 17, 33) at run.sh:2" in found.message

    def test_the_same_layers(self):
        assert not self.findings([2, 18, 33], [2, 18, 33])

    def test_one_of_several_meanings_agrees(self):
        assert not self.findings([2, 18, 33], [3, 19, 34], also=(Layers.of([2, 18, 33]), Layers.of([3, 19, 34])))

    def test_an_assumed_list_makes_a_warning(self):
        (found,) = self.findings([2, 18, 33], [2, 17, 33], assumed="default of $TAPS")
        assert found.severity == "warning"
