"""EGL801 to EGL805 on samples of toy targets, with and without the code that wrote them."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest
from toy_targets import FAMILIES, Family, Row, Toy, states, write_safetensors

from eaglelint.configuration import load
from eaglelint.run import check

IDS = [5, 9, 33, 12, 60, 7, 21, 2]
LLAMA, GEMMA = FAMILIES[0], FAMILIES[3]


class Project:
    """A folder with a target, samples, and a configuration that names them."""

    def __init__(self, family: Family = LLAMA) -> None:
        self.toy = Toy(family, Random(4))
        self.toy.write(Path("target"))
        Path("eaglelint.toml").write_text('[data]\nsamples = ["data/*.safetensors"]\ntarget = "target"\n')

    def stream(self, boundary: int) -> list[Row]:
        return self.toy.stream(IDS, boundary, "BF16")

    @property
    def embedding(self) -> list[Row]:
        return self.toy.embedding(IDS, "BF16")

    @property
    def normed(self) -> list[Row]:
        return self.toy.normed(self.stream(self.toy.depth), "BF16")

    def sample(self, name: str = "a", ids: list[int] = IDS, **held: list[Row]) -> None:
        tensors: dict[str, Any] = {"input_ids": ("I64", [len(ids)], ids)}
        tensors |= {key: states(rows, "BF16") for key, rows in held.items()}
        write_safetensors(Path(f"data/{name}.safetensors"), tensors)

    def findings(self) -> list[tuple[str, str, int]]:
        """What is reported above info: rule, file, line."""
        found = [one for one in check(["."], load(["."])).findings if one.severity != "info"]
        self.messages = [one.message for one in found]
        return [(one.rule, one.where.path, one.where.line) for one in found]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


SAMPLE = "data/a.safetensors"


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_samples_that_are_what_they_say_are_left_alone(family: Family):
    project = Project(family)
    raw = project.stream(12)
    project.sample(
        embed=project.embedding, low=project.stream(3), mid=project.stream(6), high=project.stream(10),
        pre_norm=raw, post_norm=project.toy.normed(raw, "BF16"),
    )  # fmt: skip
    assert project.findings() == []


def test_without_a_configuration_no_sample_is_opened():
    project = Project()
    project.sample(layer_4=project.embedding)
    Path("eaglelint.toml").unlink()
    assert project.findings() == []


@pytest.mark.parametrize("key", ["layer_4", "layer_7_output", "h_5", "final", "last_hidden_state", "mid", "post_norm"])
def test_the_embedding_under_another_name(key: str):
    project = Project()
    project.sample(**{key: project.embedding, "low": project.stream(3)})
    assert project.findings() == [("EGL801", SAMPLE, 1)]
    assert key in project.messages[0]
    assert "embed_tokens" in project.messages[0]


@pytest.mark.parametrize("key", ["embed", "inputs_embeds", "layer_0_input", "layer_0"])
def test_names_that_the_embedding_may_have(key: str):
    project = Project()
    project.sample(**{key: project.embedding, "low": project.stream(3)})
    assert project.findings() == []


@pytest.mark.parametrize("key", ["embed", "embedding_output", "layer_0_input"])
def test_another_state_under_the_name_of_the_embedding(key: str):
    project = Project()
    project.sample(**{key: project.stream(4), "low": project.stream(3)})
    assert project.findings() == [("EGL801", SAMPLE, 1)]


def test_slot_numbers_claim_nothing():
    project = Project()
    project.sample(
        aux_0=project.embedding, aux_1=project.stream(6), layer_1=project.stream(8), layer_2=project.stream(9)
    )
    assert project.findings() == []


def test_a_vague_word_alone_claims_nothing():
    project = Project()
    project.sample(embeddings=project.normed)
    assert project.findings() == []


def test_the_normed_state_under_the_number_of_an_inner_layer():
    project = Project()
    project.sample(layer_7=project.normed, low=project.stream(3))
    assert project.findings() == [("EGL801", SAMPLE, 1)]


def test_rows_without_the_factor_of_the_family():
    project = Project(GEMMA)
    factor = math.sqrt(project.toy.hidden)
    project.sample(embed=[[value / factor for value in row] for row in project.embedding], low=project.stream(3))
    assert project.findings() == [("EGL801", SAMPLE, 1)]


def test_the_stream_as_the_output_of_the_norm_and_the_reverse():
    project = Project()
    project.sample("a", low=project.stream(3), final_post_norm=project.stream(12))
    project.sample("b", low=project.stream(3), final_pre_norm=project.normed)
    assert project.findings() == [("EGL802", SAMPLE, 1), ("EGL802", "data/b.safetensors", 1)]


def test_one_set_with_and_without_the_norm():
    project = Project()
    for name, last in (("a", project.normed), ("b", project.normed), ("c", project.stream(12))):
        project.sample(name, aux_0=project.stream(3), last=last)
    assert project.findings() == [("EGL802", "data/c.safetensors", 1)]


COLLECT = """\
import torch


def collect(row, number):
    embed = torch.load("dump/0.pt")
    middle = torch.load("dump/1.pt")
    save_file({"input_ids": row, "s0": embed, "s1": middle}, f"data/{number}.safetensors")
"""


def test_the_name_in_the_code_is_pointed_at():
    project = Project()
    Path("collect.py").write_text(COLLECT)
    project.sample(s0=project.stream(4), s1=project.stream(6))
    assert project.findings() == [("EGL801", "collect.py", 5)]
    assert SAMPLE in project.messages[0]


def test_one_wrong_name_in_the_code_is_one_finding_however_many_samples_there_are():
    project = Project()
    Path("collect.py").write_text(COLLECT)
    for name in "abc":
        project.sample(name, s0=project.stream(4), s1=project.stream(6))
    assert project.findings() == [("EGL801", "collect.py", 5)]


CAPTURE = """\
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("target")


def dump_for_drafter(ids, number):
    hs = model(ids, output_hidden_states=True).hidden_states
    embed = hs[{index}]
    middle = hs[6]
    save_file({{"input_ids": ids, "embed": embed, "middle": middle}}, f"data/{{number}}.safetensors")
"""


def test_a_name_that_is_wrong_by_code_and_by_value_is_one_finding():
    project = Project()
    Path("capture.py").write_text(CAPTURE.format(index=3))
    project.sample(embed=project.stream(3), middle=project.stream(6))
    assert project.findings() == [("EGL801", "capture.py", 9)]


def test_values_outrank_what_the_code_seems_to_say():
    project = Project()
    Path("capture.py").write_text(CAPTURE.format(index=3))
    project.sample(embed=project.embedding, middle=project.stream(6))
    assert project.findings() == [("EGL801", "capture.py", 9)]
    assert "by the code `embed` holds boundary 3" in project.messages[0]


def test_the_states_of_a_dump_are_known_again_under_another_name():
    project = Project()
    layer = project.stream(4)
    write_safetensors(Path("data/layer3.safetensors"), {"layer_3": states(layer, "F32")})
    project.sample("z", embed=layer, layer_6=project.stream(7))
    Path("target/model.safetensors").unlink()
    assert project.findings() == [("EGL801", "data/z.safetensors", 1)]
    assert "layer_3" in project.messages[0]


def test_states_of_the_rest_of_a_prompt():
    project = Project()
    project.sample(embed=project.embedding[3:], low=project.stream(3)[3:])
    assert project.findings() == [("EGL803", SAMPLE, 1)]
    assert "the first 3 are missing" in project.messages[0]


def test_more_states_than_tokens():
    project = Project()
    project.sample(ids=IDS[:4], low=project.stream(3), high=project.stream(9))
    assert project.findings() == [("EGL803", SAMPLE, 1)]


def test_one_state_less_is_meant_so_when_all_samples_have_it():
    project = Project()
    for name in "ab":
        project.sample(name, low=project.stream(3)[:-1], high=project.stream(9)[:-1])
    assert project.findings() == []


def test_one_state_less_in_one_sample_of_several():
    project = Project()
    project.sample("a", low=project.stream(3), high=project.stream(9))
    project.sample("b", low=project.stream(3)[1:], high=project.stream(9)[1:])
    assert project.findings() == [("EGL803", "data/b.safetensors", 1)]


def test_a_file_that_ends_before_its_states_do():
    project = Project()
    project.sample(low=project.stream(3))
    content = Path(SAMPLE).read_bytes()
    Path(SAMPLE).write_bytes(content[:-64])
    assert project.findings() == [("EGL803", SAMPLE, 1)]


def test_what_is_no_sample_is_unreadable():
    project = Project()
    Path("data").mkdir()
    Path(SAMPLE).write_bytes(b"\x08\0\0\0\0\0\0\0not json")
    assert project.findings() == [("EGL001", SAMPLE, 1)]


@pytest.mark.parametrize("odd", [math.inf, -math.inf, math.nan])
def test_values_that_are_not_finite(odd: float):
    project = Project()
    rows = project.stream(6)
    rows[2][7] = odd
    project.sample(aux_0=project.stream(3), aux_1=rows)
    assert project.findings() == [("EGL804", SAMPLE, 1)]
    assert "`aux_1`" in project.messages[0]
    assert "token 2" in project.messages[0]


def test_zeros_and_repeated_states():
    project = Project()
    layer = project.stream(6)
    project.sample("a", aux_0=project.stream(3), aux_1=[[0.0] * 48 for _ in IDS])
    project.sample("b", aux_0=layer, aux_1=project.stream(3), aux_2=layer)
    assert project.findings() == [("EGL804", SAMPLE, 1), ("EGL804", "data/b.safetensors", 1)]
    assert "`aux_0` and `aux_2` hold the same values" in project.messages[1]


def test_equal_states_under_names_that_mean_the_same():
    project = Project()
    layer, last = project.stream(6), project.normed
    project.sample(layer_5_output=layer, layer_6_input=layer, last_hidden_state=last, final_post_norm=last, target=last)
    assert project.findings() == []


def test_equal_states_under_names_that_exclude_each_other():
    project = Project()
    layer = project.stream(6)
    project.sample(layer_3=layer, layer_8=layer)
    assert project.findings() == [("EGL804", SAMPLE, 1)]


def test_states_of_another_width():
    project = Project()
    wide = Toy(LLAMA, Random(5), hidden=40).stream(IDS, 4, "BF16")
    project.sample(aux_0=wide, last=wide[::-1])
    assert project.findings() == [("EGL805", SAMPLE, 1)]
    assert "40" in project.messages[0]
    assert "48" in project.messages[0]


def test_a_sample_that_lacks_what_the_others_have():
    project = Project()
    for name in "ab":
        project.sample(name, low=project.stream(3), high=project.stream(9))
    project.sample("c", low=project.stream(3))
    assert project.findings() == [("EGL805", "data/c.safetensors", 1)]


def test_ids_of_another_vocabulary():
    project = Project()
    project.sample(ids=[token + 90 for token in IDS], low=project.stream(3), high=project.stream(9))
    assert project.findings() == [("EGL805", SAMPLE, 1)]


def test_fewer_states_than_the_drafter_takes():
    project = Project()
    Path("head").mkdir()
    Path("head/config.json").write_text(
        '{"architectures": ["LlamaForCausalLMEagle3"], "hidden_size": 48, "vocab_size": 64, "num_hidden_layers": 1,'
        ' "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 5, 8], "use_aux_hidden_state": true}}'
    )
    two = [a + b for a, b in zip(project.stream(3), project.stream(9), strict=True)]
    project.sample(aux_hidden_states=two, last=project.normed)
    assert ("EGL805", SAMPLE, 1) in project.findings()


def test_a_link_out_of_the_project_is_not_followed(tmp_path_factory: pytest.TempPathFactory):
    project = Project()
    project.sample(layer_4=project.embedding, low=project.stream(3))
    outside = tmp_path_factory.mktemp("outside") / "a.safetensors"
    Path(SAMPLE).rename(outside)
    Path(SAMPLE).symlink_to(outside)
    assert project.findings() == []


def test_layers_by_number_in_a_dict_are_names():
    project = Project()
    project.sample(**{"layers.2": project.embedding, "layers.5": project.stream(6), "layers.9": project.stream(9)})
    assert project.findings() == [("EGL801", SAMPLE, 1)]
    assert "layers_2" in project.messages[0]


def test_positions_in_a_list_are_no_names():
    project = Project()
    project.sample(**{"layers.0": project.stream(2), "layers.1": project.embedding, "layers.2": project.stream(9)})
    assert project.findings() == []


def test_all_states_twice_as_wide_as_the_target():
    project = Project()
    wide = [a + b for a, b in zip(project.stream(3), project.stream(9), strict=True)]
    other = [a + b for a, b in zip(project.stream(4), project.stream(8), strict=True)]
    project.sample(**{"hidden_states.0": wide, "hidden_states.1": other})
    assert project.findings() == [("EGL805", SAMPLE, 1)]


TRAIN = """\
torchrun scripts/train_eagle3.py --target-model-path target --draft-model-config draft.json \\
  --train-data-path cache --train-hidden-states-path data --output-dir out
"""


@pytest.mark.parametrize(
    ("states_beside", "normed", "rules"), [(3, True, []), (2, True, ["EGL805"]), (3, False, ["EGL802"])]
)
def test_what_the_trainer_of_the_project_stores(states_beside: int, normed: bool, rules: list[str]):
    """SpecForge keeps three states side by side, and the last one after the final norm."""
    project = Project()
    Path("train.sh").write_text(TRAIN)
    several = [project.stream(boundary) for boundary in (3, 6, 9)][:states_beside]
    beside = [[value for row in rows for value in row] for rows in zip(*several, strict=True)]
    project.sample(aux_hidden_state=beside, hidden_state=project.normed if normed else project.stream(12))
    assert [rule for rule, _, _ in project.findings()] == rules


def test_the_order_of_the_capture_is_held_against_the_slots():
    """The example captures boundaries 3, 31 and 59; this sample begins with the embedding."""
    root = Path(__file__).parents[2]
    shutil.copytree(root / "examples" / "kimi-k25-wiring" / "tools", "tools")
    project = Project()
    project.sample(
        **{
            "states.0": project.embedding,
            "states.1": project.stream(5),
            "states.2": project.stream(9),
            "states.3": project.normed,
        }
    )
    Path("target/config.json").write_text(
        '{"model_type": "kimi_k2", "architectures": ["DeepseekV3ForCausalLM"], "hidden_size": 48, "vocab_size": 64,'
        ' "num_hidden_layers": 61}'
    )
    found = [one for one in project.findings() if one[0] == "EGL801"]
    assert found == [("EGL801", SAMPLE, 1)]
    assert any("tools/patch_sglang.py:33" in message for message in project.messages)
