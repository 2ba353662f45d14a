"""Options files: what YAML gives an engine belongs to the launch that names the file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from eaglelint.facts import Argument, Launch, Value
from eaglelint.linking.options import applied
from eaglelint.location import Location

YAML, SHELL = Location("deploy/options.yaml"), Location("deploy/serve.sh")


def argument(name: str, value: Any, where: Location) -> Argument:
    return Argument(name, f"--{name}", Value(value, where), where)


def options(engine: str = "tensorrt-llm") -> Launch:
    given = (argument("speculative_config.eagle3_layers_to_capture", [1, 17, 32], YAML),)
    return Launch(engine, "yaml", YAML, given, draft=Value("./head", YAML))


def server(path: str, name: str = "extra_llm_api_options", engine: str = "tensorrt-llm") -> Launch:
    return Launch(engine, "shell", SHELL, (argument(name, path, SHELL),), target=Value("Qwen/Qwen3-8B", SHELL))


def test_a_launch_and_the_file_that_it_names_are_one():
    (found,) = applied([server("options.yaml"), options()])
    assert found.where == SHELL
    assert found.target is not None
    assert found.target.value == "Qwen/Qwen3-8B"
    layers = found.get("speculative_config.eagle3_layers_to_capture")
    assert layers is not None
    assert layers.where == YAML


def test_a_file_that_is_mounted_elsewhere():
    mounted = replace(server("/etc/llm/options.yaml"), mounts=(("./deploy", "/etc/llm"),))
    (found,) = applied([mounted, options()])
    assert found.mounts
    assert found.get("speculative_config.eagle3_layers_to_capture") is not None


def test_what_the_command_says_wins():
    command = server("options.yaml")
    own = argument("speculative_config.eagle3_layers_to_capture", [2, 18], SHELL)
    (found,) = applied([replace(command, arguments=(*command.arguments, own)), options()])
    layers = found.get("speculative_config.eagle3_layers_to_capture")
    assert layers is not None
    assert layers.value.value == [2, 18]


def test_a_file_that_no_launch_names_stays_a_launch_of_its_own():
    assert len(applied([server("other.yaml"), options()])) == 2


def test_a_file_of_another_engine_is_not_taken():
    assert len(applied([server("options.yaml", "config", "vllm"), options()])) == 2


def test_two_launches_share_a_file():
    first, second = server("options.yaml"), replace(server("options.yaml"), where=Location("deploy/b.sh"))
    found = applied([first, second, options()])
    assert [launch.where.path for launch in found] == ["deploy/serve.sh", "deploy/b.sh"]
