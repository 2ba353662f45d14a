"""What belongs together: launches, targets, releases and evidence of each drafter."""

from __future__ import annotations

from typing import Any

from eaglelint.settings import PipelineSettings, Settings, TargetSettings


def two(world: Any, first: str = "a/head", second: str = "b/head") -> None:
    world.drafter([1, 17, 32], path=f"{first}/config.json")
    world.drafter([3, 17, 31], path=f"{second}/config.json")


def by_name(world: Any, name: str) -> Any:
    return next(pipeline for pipeline in world.pipelines() if pipeline.name == name)


class TestLaunches:
    def test_a_launch_that_names_the_folder(self, world: Any):
        two(world)
        launch = world.sglang("./b/head")
        assert by_name(world, "b/head").launches == (launch,)
        assert by_name(world, "a/head").launches == ()

    def test_a_container_path_that_ends_like_the_folder(self, world: Any):
        two(world, "ckpts/one", "ckpts/two")
        launch = world.sglang("/models/two")
        assert by_name(world, "ckpts/two").launches == (launch,)

    def test_a_folder_that_is_mounted_under_another_name(self, world: Any):
        two(world, "ckpts/one", "ckpts/two")
        launch = world.sglang("/models/draft", path="serve/compose.yaml", mounts=(("../ckpts/two", "/models/draft"),))
        assert by_name(world, "ckpts/two").launches == (launch,)

    def test_a_container_path_that_ends_like_none_is_the_only_drafter(self, world: Any):
        world.drafter([1, 17, 32])
        launch = world.sglang("/models/draft")
        assert world.pipeline().launches == (launch,)

    def test_a_container_path_that_ends_like_none_of_two_is_not_guessed(self, world: Any):
        two(world)
        world.sglang("/models/draft")
        assert all(not pipeline.launches for pipeline in world.pipelines())

    def test_an_unheard_of_hub_id_is_another_head(self, world: Any):
        world.drafter([1, 17, 32])
        world.sglang("someone/some-eagle3-head")
        assert by_name(world, "head").launches == ()
        assert not by_name(world, "someone/some-eagle3-head").declared

    def test_a_path_that_is_a_target_is_no_drafter(self, world: Any):
        world.drafter([1, 17, 32])
        world.target(16, path="small/config.json")
        world.sglang("./small", algorithm="STANDALONE")
        assert world.pipeline().launches == ()

    def test_a_path_nobody_knows_makes_the_link_an_assumption(self, world: Any):
        world.drafter([1, 17, 32])
        world.pin("sglang", "==0.5.14")
        world.sglang("$DRAFT", known=False)
        assert all(serving.assumed for serving in world.pipeline().servings)

    def test_the_configuration_goes_before_paths(self, world: Any):
        two(world)
        launch = world.sglang("a/head")
        world.settings = Settings(pipeline=(PipelineSettings("b/head", launch=("serve.sh",)),))
        assert by_name(world, "b/head").launches == (launch,)

    def test_a_published_head_is_known_without_a_config(self, world: Any):
        launch = world.sglang("nvidia/gpt-oss-120b-Eagle3-v3", target="openai/gpt-oss-120b")
        pipeline = world.pipeline()
        assert pipeline.drafter is None
        assert pipeline.where == launch.draft.where
        assert pipeline.id_lists[0].ids == (24, 30, 36)
        assert pipeline.training.at(36) == (24, 30, 36)
        assert pipeline.depth == 36


class TestTarget:
    def test_the_launch_names_a_config_of_the_project(self, world: Any):
        world.drafter([1, 17, 32])
        world.target(36, path="models/mine/config.json")
        world.target(48, path="models/other/config.json")
        world.sglang(target="./models/mine/")
        assert world.pipeline().depth == 36

    def test_the_launch_names_a_published_model(self, world: Any):
        world.drafter([1, 17, 32])
        world.sglang(target="Qwen/Qwen3-8B")
        assert world.pipeline().depth == 36

    def test_a_quantised_copy_is_its_original(self, world: Any):
        world.drafter([1, 17, 32])
        world.sglang(target="someone/Qwen3-8B-FP8")
        assert world.pipeline().depth == 36

    def test_the_capture_names_it(self, world: Any):
        from eaglelint.facts import Value
        from eaglelint.location import Location

        world.drafter([1, 17, 32])
        world.trained([2, 18, 33], 36, target=Value("Qwen/Qwen3-8B", Location("dump.py")))
        assert world.pipeline().depth == 36

    def test_the_only_target_config(self, world: Any):
        world.drafter([1, 17, 32])
        world.target(36)
        world.sglang(target="/models/unheard-of")
        assert world.pipeline().depth == 36

    def test_the_configuration_states_it(self, world: Any):
        world.drafter([1, 17, 32])
        world.sglang(target="/models/unheard-of")
        world.settings = Settings(target=TargetSettings(name="mine", depth=44))
        assert world.pipeline().depth == 44


class TestReleases:
    def releases(self, world: Any) -> list[str]:
        return list(dict.fromkeys(serving.release.specifier for serving in world.pipeline().servings))

    def test_pins_of_the_same_service_go_first(self, world: Any):
        world.drafter([1, 17, 32])
        world.pin("sglang", "==0.5.9", path="compose.yaml", unit="one")
        world.pin("sglang", "==0.5.14", path="compose.yaml", unit="two")
        world.pin("sglang", "==0.5.20")
        world.sglang(path="compose.yaml", unit="two")
        assert self.releases(world) == ["==0.5.14"]

    def test_else_those_of_the_project(self, world: Any):
        world.drafter([1, 17, 32])
        world.pin("sglang", "==0.5.9", path="compose.yaml", unit="one")
        world.pin("sglang", "==0.5.20")
        world.sglang(unit="two", path="compose.yaml")
        assert self.releases(world) == ["==0.5.20"]

    def test_the_nearest_folder_goes_before_the_root(self, world: Any):
        world.drafter([1, 17, 32])
        world.pin("sglang", "==0.5.9")
        world.pin("sglang", "==0.5.20", path="serve/requirements.txt")
        world.sglang("head", path="serve/run.sh")
        assert self.releases(world) == ["==0.5.20"]

    def test_a_lock_resolves_a_range(self, world: Any):
        world.drafter([1, 17, 32])
        world.pin("sglang", ">=0.5", path="pyproject.toml")
        world.pin("sglang", "==0.5.20", path="uv.lock")
        world.sglang()
        assert self.releases(world) == ["==0.5.20"]

    def test_two_exact_pins_both_count(self, world: Any):
        world.drafter([1, 17, 32])
        world.pin("sglang", "==0.5.9", path="requirements-a.txt")
        world.pin("sglang", "==0.5.20", path="requirements-b.txt")
        world.sglang()
        assert self.releases(world) == ["==0.5.9", "==0.5.20"]

    def test_the_configuration_goes_before_pins(self, world: Any):
        world.drafter([1, 17, 32])
        world.pin("sglang", "==0.5.9")
        world.sglang()
        world.settings = Settings(engines={"sglang": "0.5.20"})
        assert self.releases(world) == ["==0.5.20"]

    def test_an_engine_that_is_only_pinned_is_in_use_where_nothing_is_started(self, world: Any):
        world.drafter([1, 17, 32])
        world.pin("sglang", "==0.5.9")
        assert self.releases(world) == ["==0.5.9"]

    def test_a_head_beside_a_served_one_is_in_no_engine(self, world: Any):
        two(world)
        world.pin("sglang", "==0.5.9")
        world.pin("vllm", "==0.28.0")
        world.sglang("a/head")
        assert by_name(world, "b/head").servings == ()

    def test_an_engine_that_only_extracts_is_no_serving_engine(self, world: Any):
        world.drafter([1, 17, 32])
        world.pin("sglang", "==0.5.9")
        world.sglang(None, algorithm=None)
        assert self.releases(world) == []


class TestEvidence:
    def test_of_the_only_drafter(self, world: Any):
        world.drafter([1, 17, 32])
        world.trained([2, 18, 33], 36)
        assert world.pipeline().training.at(36) == (2, 18, 33)

    def test_is_the_exported_heads_and_not_the_draft_configs_that_training_began_with(self, world: Any):
        world.drafter([1, 17, 32])
        world.drafter([1, 17, 32], path="train/draft.json")
        world.trained([2, 18, 33], 36)
        assert by_name(world, "head").training is not None
        assert by_name(world, "train/draft.json").training is None

    def test_is_not_that_of_a_head_of_another_kind(self, world: Any):
        world.drafter([1, 17, 32])
        world.drafter(None, path="medusa/config.json", method="medusa")
        world.trained([2, 18, 33], 36)
        assert by_name(world, "head").training is not None

    def test_of_another_target_is_nobodys(self, world: Any):
        from eaglelint.facts import Value
        from eaglelint.location import Location

        world.drafter([1, 17, 32])
        world.sglang(target="Qwen/Qwen3-8B")
        world.trained([9, 10, 11, 12], 32, target=Value("meta-llama/Llama-3.1-8B", Location("probe.py")))
        assert world.pipeline().training is None

    def test_in_the_same_folder_as_one_of_two(self, world: Any):
        two(world)
        world.trained([2, 18, 33], 36, path="a/train.py", dump="a/dump.py")
        assert by_name(world, "a/head").training is not None
        assert by_name(world, "b/head").training is None

    def test_of_a_script_that_a_command_runs_for_one_of_two(self, world: Any):
        two(world)
        world.trained([4, 18, 32], 36)
        world.run("train.py", "--draft-config", "b/head/config.json")
        assert by_name(world, "b/head").training is not None
        assert by_name(world, "a/head").training is None

    def test_that_the_configuration_gives_to_one_of_two(self, world: Any):
        two(world)
        world.trained([4, 18, 32], 36)
        world.settings = Settings(pipeline=(PipelineSettings("b/head", training=("train.py",)),))
        assert by_name(world, "b/head").training is not None
        assert not world.findings("EGL004")

    def test_that_could_be_of_either_is_an_info_and_nothing_else(self, world: Any):
        two(world)
        world.target(36)
        world.pin("sglang", "==0.5.14")
        world.sglang("a/head")
        world.sglang("b/head", line=20)
        world.trained([5, 18, 30], 36)
        found = world.finding("EGL004")
        assert found.severity == "info"
        assert "a/head" in found.message
        assert "b/head" in found.message
        assert "train.py" in found.message
        assert not world.findings("EGL401")

    def test_code_without_a_drafter_has_a_pipeline_of_its_own(self, world: Any):
        world.label("embed", 3, 61)
        (pipeline,) = world.pipelines()
        assert pipeline.name == ""
        assert pipeline.labels
