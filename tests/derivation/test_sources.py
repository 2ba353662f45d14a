"""Folders and wheels, the evidence, what is no engine, and what the command prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from toy import source, tree, wheel

from eaglelint.cli.group import cli
from eaglelint.derivation.callees import callees
from eaglelint.derive import derive, derived_reading
from eaglelint.errors import UsageError
from eaglelint.project import discover


def test_a_wheel_and_a_folder_say_the_same(tmp_path: Path) -> None:
    (unpacked,) = derive(str(tree(tmp_path / "site-packages", source())))
    (packed,) = derive(str(wheel(tmp_path, source())))
    assert unpacked.reading is not None
    assert packed.reading is not None
    assert packed.reading.rule == unpacked.reading.rule == "plus_one"
    assert packed.reading.first == "9.9.9"


def test_the_lines_that_prove_it(tmp_path: Path) -> None:
    text = source()
    (found,) = derive(str(tree(tmp_path, text)))
    lines = text.splitlines()
    shown = {what: lines[where.line - 1] for what, where in found.proofs}
    assert "def set_eagle3_layers_to_capture" in shown["setter"]
    assert "aux_hidden_states.append(hidden_states + residual)" in shown["capture"]
    assert "self.layers[i](positions" in shown["layer"]


def test_nothing_of_the_engine_is_imported(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    text = f"open({str(marker)!r}, 'w').close()\n" + source()
    derive(str(tree(tmp_path / "engine", text)))
    assert not marker.exists()


def test_a_class_that_inherits_its_setter_from_another_file(tmp_path: Path) -> None:
    tree(tmp_path, source())
    heir = (
        "from sglang.srt.models.toy import ToyForCausalLM\n\n\n"
        "class HeirForCausalLM(ToyForCausalLM):\n    pass\n\n\nEntryClass = HeirForCausalLM\n"
    )
    tree(tmp_path, heir, "sglang/srt/models/heir.py")
    found = {item.name: item for item in derive(str(tmp_path))}
    assert set(found) == {"ToyForCausalLM", "HeirForCausalLM"}
    assert found["HeirForCausalLM"].reading is not None


def test_a_folder_without_an_engine_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("nothing")
    with pytest.raises(UsageError, match="no target models"):
        derive(str(tmp_path))


def test_the_command_prints_the_convention(tmp_path: Path) -> None:
    tree(tmp_path, source())
    result = CliRunner().invoke(cli, ["derive", str(tmp_path)])
    assert result.exit_code == 0
    assert "plus_one: id i is the output of layer i: boundary i + 1" in result.output
    assert "boundary 0: an error; boundary N: left out, one state too few" in result.output


def test_the_command_prints_json(tmp_path: Path) -> None:
    tree(tmp_path, source())
    result = CliRunner().invoke(cli, ["derive", str(tmp_path), "--format", "json", "--target-file", "toy.py"])
    (item,) = json.loads(result.output)
    assert (item["class"], item["rule"], item["reach"]) == ("ToyForCausalLM", "plus_one", ["1", "N - 1"])
    assert {"ids": [1, 5, 8], "depth": 12, "captured": [2, 6, 9]} in item["runs"]


def test_a_file_that_is_cut_off_costs_no_traceback(tmp_path: Path) -> None:
    tree(tmp_path, source()[:1500])
    result = CliRunner().invoke(cli, ["derive", str(tmp_path)])
    assert result.exit_code == 0


def test_an_overlay_in_a_project_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, source(), "docker/overlay/sglang/srt/models/toy.py")
    monkeypatch.chdir(tmp_path)
    sources = discover(["."]).sources
    found = derived_reading(sources, "sglang", ["ToyForCausalLM"])
    assert found is not None
    assert found.rule == "plus_one"
    assert derived_reading(sources, "sglang", ["OtherForCausalLM"]) is None
    assert derived_reading(sources, "vllm", ["ToyForCausalLM"]) is None


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_every_role_of_the_data_has_a_meaning(engine: str) -> None:
    known = {
        "outside", "first", "list", "range", "layers", "layers_only", "layers_first", "norm", "read_pair", "pair",
        "language_model", "registered", "stages", "begin", "read", "write", "exit", "keep", "merge", "final",
        "snapshot", "snapshot_pair", "residual", "two", "embed_norm", "pretrained", "fusions", "recorder",
    }  # fmt: skip
    roles = set(callees(engine).roles.values())
    mixed = {role for role in roles if role.startswith("mix_") and set(role.removeprefix("mix_")) <= set("sna-")}
    assert roles - mixed <= known
