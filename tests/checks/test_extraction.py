"""EGL110: servers that extract hidden states and keep on what loses some of them."""

from __future__ import annotations

from typing import Any

import pytest

from eaglelint.facts import CacheSalt, Step
from eaglelint.location import Location


def at(path: str, line: int = 1) -> Location:
    """A place for which only the line matters."""
    return Location(path, line, 1, line, 1, line * 100, line * 100)


EXTRACT = {
    "speculative_config.method": "extract_hidden_states",
    "kv_transfer_config.kv_connector": "ExampleHiddenStatesConnector",
}
ALL_OFF = {"disable_radix_cache": True, "chunked_prefill_size": "-1"}


def sglang(world: Any, **options: Any):
    """A server of SGLang without a drafter."""
    more = options.pop("more", {})
    return world.sglang(draft=None, algorithm=None, options=options, **more)


def vllm(world: Any, release: str = "==0.20.2", **options: Any):
    """vLLM's own extraction."""
    world.pin("vllm", release)
    return world.vllm(draft=None, algorithm=None, options={**EXTRACT, **options})


class TestSGLang:
    def test_a_server_that_returns_states_with_everything_on(self, world: Any):
        launch = sglang(world, enable_return_hidden_states=True)
        found = world.finding("EGL110")
        assert (found.severity, found.where) == ("warning", launch.where)
        assert "the radix cache and chunked prefill on" in found.message
        assert found.fix.description == "start it with --disable-radix-cache and --chunked-prefill-size -1"

    def test_with_both_off(self, world: Any):
        sglang(world, enable_return_hidden_states=True, **ALL_OFF)
        assert not world.findings("EGL110")

    def test_only_what_is_on_is_named(self, world: Any):
        sglang(world, enable_return_hidden_states=True, disable_radix_cache=True)
        assert "radix" not in world.finding("EGL110").message

    def test_chunks_that_hold_the_longest_prompt_are_none(self, world: Any):
        options = {**ALL_OFF, "chunked_prefill_size": "8192", "context_length": "8192"}
        sglang(world, enable_return_hidden_states=True, **options)
        assert not world.findings("EGL110")

    def test_the_last_state_alone_is_always_computed(self, world: Any):
        sglang(world, return_hidden_states_mode="last", enable_return_hidden_states=True)
        assert not world.findings("EGL110")

    def test_a_plain_server_is_none_of_its_business(self, world: Any):
        sglang(world)
        assert not world.findings("EGL110")

    def test_a_serving_launch_is_none_of_its_business(self, world: Any):
        world.drafter([1, 17, 32])
        world.sglang()
        world.captured([2, 18, 33], 36, framework="sglang", trace=(Step(at("dump.py", 9), "saved to a.pt"),))
        assert not world.findings("EGL110")

    def test_the_algorithm_only_names_the_convention_of_an_aux_capture(self, world: Any):
        world.sglang(draft=None, options={"enable_return_aux_hidden_states": True, **ALL_OFF})
        assert not world.findings("EGL110")

    def test_speculation_beside_returned_states_in_an_old_release(self, world: Any):
        world.pin("sglang", "==0.5.10")
        world.sglang(draft="org/head", options={"enable_return_hidden_states": True, **ALL_OFF})
        found = world.finding("EGL110")
        assert "speculative decoding on" in found.message
        assert found.fix.description == "start it without --speculative-algorithm"

    def test_speculation_beside_returned_states_in_a_release_that_returns_all(self, world: Any):
        world.pin("sglang", "==0.5.18")
        world.sglang(draft="org/head", options={"enable_return_hidden_states": True, **ALL_OFF})
        assert not world.findings("EGL110")

    def test_a_trainers_own_capture_mode_keeps_requests_apart(self, world: Any):
        sglang(world, enable_spec_capture=True, enable_return_hidden_states=True)
        assert not world.findings("EGL110")

    def test_salted_requests_do_not_hit_the_cache(self, world: Any):
        sglang(world, enable_return_hidden_states=True, chunked_prefill_size="-1")
        world.lists["salts"] = [CacheSalt("extra_key", at("client.py", 4))]
        assert not world.findings("EGL110")

    def test_a_command_that_may_hold_more_is_not_judged_by_what_it_lacks(self, world: Any):
        sglang(world, enable_return_hidden_states=True, more={"complete": False})
        assert not world.findings("EGL110")

    def test_two_servers_are_two_findings(self, world: Any):
        sglang(world, enable_return_hidden_states=True)
        sglang(world, enable_return_hidden_states=True, more={"path": "other.sh"})
        assert len(world.findings("EGL110")) == 2


class TestVLLM:
    def test_defaults_in_a_release_that_writes_computed_tokens_only(self, world: Any):
        vllm(world)
        found = world.finding("EGL110")
        assert "prefix caching and chunked prefill on" in found.message
        assert found.fix.description == "start it with --no-enable-prefix-caching and --no-enable-chunked-prefill"
        assert found.confidence == "proven"

    @pytest.mark.parametrize(
        "off",
        [
            {"no_enable_prefix_caching": True, "no_enable_chunked_prefill": True},
            {"enable_prefix_caching": False, "enable_chunked_prefill": False},
        ],
    )
    def test_with_both_off(self, world: Any, off: dict[str, bool]):
        vllm(world, **off)
        assert not world.findings("EGL110")

    def test_a_release_that_reads_all_blocks(self, world: Any):
        vllm(world, "==0.25.0", enable_prefix_caching=True)
        assert not world.findings("EGL110")

    def test_a_range_with_both_kinds_of_releases_says_so(self, world: Any):
        vllm(world, ">=0.20,<0.26")
        found = world.finding("EGL110")
        assert found.confidence == "possible"
        assert "0.24.0" in found.message

    def test_another_connector_is_not_known(self, world: Any):
        vllm(world, **{"kv_transfer_config.kv_connector": "AcmeHiddenStatesConnector"})
        assert not world.findings("EGL110")

    def test_a_target_with_a_running_state_is_not_cached_by_default(self, world: Any):
        world.pin("vllm", "==0.20.2")
        options = {**EXTRACT, "no_enable_chunked_prefill": True}
        world.vllm(draft=None, algorithm=None, target="Qwen/Qwen3-Next-80B-A3B-Instruct", options=options)
        assert not world.findings("EGL110")


class TestCodeBesideTheEngine:
    """States that code takes, inside the engine or beside it."""

    def test_a_script_that_patches_and_starts(self, world: Any):
        world.captured([2, 18, 33], 36, path="patches/dump.py", framework="own")
        world.run("patches/dump.py", path="capture.sh")
        sglang(world, more={"path": "capture.sh"})
        sglang(world, more={"path": "regenerate.sh"})
        found = world.finding("EGL110")
        assert found.where.path == "capture.sh"
        assert "patches/dump.py:7" in found.message

    def test_a_worker_extension_that_captures(self, world: Any):
        world.captured([2, 18, 33], 36, path="src/taps/worker.py", framework="vllm")
        world.pin("vllm", "==0.30.0")
        world.vllm(draft=None, algorithm=None, options={"worker_extension_cls": "taps.worker.Taps"})
        assert "prefix caching" in world.finding("EGL110").message

    def test_a_worker_extension_that_does_something_else(self, world: Any):
        world.captured([2, 18, 33], 36, path="probe.py", framework="vllm")
        world.vllm(draft=None, algorithm=None, options={"worker_extension_cls": "taps.worker.Taps"})
        assert not world.findings("EGL110")

    def test_the_only_server_that_a_dump_can_mean(self, world: Any):
        trace = (Step(at("overlay/dump.py", 9), "saved to aux_0.pt"),)
        world.captured([2, 18, 33], 36, path="overlay/dump.py", framework="sglang", trace=trace)
        sglang(world)
        assert world.finding("EGL110")
        sglang(world, more={"path": "second.sh"})
        assert not world.findings("EGL110")

    def test_a_dump_by_transformers_means_no_server(self, world: Any):
        trace = (Step(at("dump.py", 9), "saved to aux_0.pt"),)
        world.captured([2, 18, 33], 36, framework="hf", trace=trace)
        sglang(world)
        assert not world.findings("EGL110")

    def test_drafts_pollute_what_a_dump_sees_in_every_release(self, world: Any):
        trace = (Step(at("patches/dump.py", 9), "saved to aux_0.pt"),)
        world.captured([2, 18, 33], 36, path="patches/dump.py", framework="own", trace=trace)
        world.run("patches/dump.py", path="serve.sh")
        world.pin("sglang", "==0.5.20")
        world.sglang(draft="org/head", options=ALL_OFF)
        assert "rejected" in world.finding("EGL110").message


class TestIdsOfAnExtraction:
    """EGL203: ids in the arguments of the extraction itself."""

    KEY = "speculative_config.draft_model_config.hf_config.eagle_aux_hidden_state_layer_ids"

    def extracted(self, world: Any, release: str, ids: list[int], architecture: str = "DeepseekV3ForCausalLM"):
        world.target(61, architecture=architecture)
        return vllm(world, release, **{self.KEY: ids})

    def test_an_id_that_no_layer_comes_after(self, world: Any):
        self.extracted(world, "==0.23.0", [2, 30, 61])
        found = world.finding("EGL203")
        assert found.severity == "error"
        assert "nothing for id 61 of [2, 30, 61]: boundaries 1 to 60" in found.message

    def test_a_release_that_stores_the_last_state(self, world: Any):
        self.extracted(world, "==0.33.0", [2, 30, 61])
        assert not world.findings("EGL203")

    def test_a_range_of_which_the_end_stores_it(self, world: Any):
        self.extracted(world, ">=0.23,<=0.33", [2, 30, 61])
        assert not world.findings("EGL203")

    def test_an_id_that_stands_twice(self, world: Any):
        self.extracted(world, "==0.33.0", [2, 30, 30])
        assert "id 30 stands more than once" in world.finding("EGL203").message
