"""Engines that Python starts with records of arguments."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import facts_of


def value(of: object) -> object:
    return getattr(of, "value", None)


@pytest.mark.parametrize(
    ("code", "engine", "target", "line"),
    [
        ("LLM('t', speculative_config=SPEC)", "vllm", "t", 5),
        ("LLMEngine.from_engine_args(EngineArgs(model='t', speculative_config=SPEC))", "vllm", "t", 5),
        ("args = AsyncEngineArgs('t', speculative_config=SPEC)", "vllm", "t", 5),
        ("args = ServerArgs(model_path='t', speculative_algorithm='EAGLE3')\nlaunch_server(args)", "sglang", "t", 5),
        ("sgl.Engine(server_args=ServerArgs(model_path='t', speculative_algorithm='EAGLE3'))", "sglang", "t", 5),
    ],
)
def test_a_server_with_a_record_of_arguments(tmp_path: Path, code: str, engine: str, target: str, line: int) -> None:
    head = (
        "from vllm import LLM, LLMEngine, EngineArgs, AsyncEngineArgs\nimport sglang as sgl\n"
        "from sglang.srt.server_args import ServerArgs; from sglang.srt.entrypoints.http_server import launch_server\n"
        "SPEC = {'method': 'eagle3', 'model': 'd'}\n"
    )
    (found,) = facts_of(tmp_path, {"serve.py": head + code + "\n"}).launches
    assert (found.engine, value(found.target), found.where.line) == (engine, target, line)


def test_a_record_that_starts_nothing_is_no_launch(tmp_path: Path) -> None:
    code = "from sglang.srt.server_args import ServerArgs\na = ServerArgs(model_path='t', speculative_algorithm='EAGLE3')\n"
    assert facts_of(tmp_path, {"serve.py": code}).launches == ()
