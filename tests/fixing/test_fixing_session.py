"""`check --fix`: findings go away, everything else stays, and a second run changes nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from eaglelint import catalog
from eaglelint.catalog import WrongExample
from eaglelint.configuration import load
from eaglelint.fixing.session import fix
from eaglelint.run import check

SGLANG = """#!/usr/bin/env bash
python3 -m sglang.launch_server --model-path Qwen/Qwen3-14B \\
  --speculative-algorithm {algorithm} --speculative-draft-model-path ./head \\
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
"""
DUMP = '''\
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-14B")


def dump(batch, path):
    states = model(**batch, output_hidden_states=True).hidden_states
    early, middle, late = states[2], states[20], states[37]
    torch.save({"aux_hidden_states": torch.cat([early, middle, late], dim=-1)}, path)
'''


def config(ids: list[int] | None, **more: Any) -> str:
    value: dict[str, Any] = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "draft_vocab_size": 32000,
        "vocab_size": 151936,
        "torch_dtype": "bfloat16",
        **more,
    }
    if ids is not None:
        value["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": ids, "use_aux_hidden_state": True}
    return json.dumps(value, indent=2) + "\n"


def test_ids_are_written_and_the_formatting_stays(project: Any, fixed: Any):
    text = config([2, 20, 37]).replace('"draft_vocab_size": 32000', '"draft_vocab_size":32000')
    folder = project({
        "head/config.json": text, "dump.py": DUMP, "serve.sh": SGLANG.format(algorithm="EAGLE3"),
        "requirements.txt": "sglang==0.5.20\n",
    })  # fmt: skip
    done = fixed()
    assert [finding.rule for finding in done.fixed] == ["EGL401"]
    after = (folder / "head/config.json").read_text()
    assert json.loads(after)["eagle_config"]["eagle_aux_hidden_state_layer_ids"] == [1, 19, 36]
    changed = [(a, b) for a, b in zip(text.splitlines(), after.splitlines(), strict=True) if a != b]
    assert [a.strip().rstrip(",") for a, _ in changed] == ["2", "20", "37"]
    assert not [finding for finding in check(["."], load(["."])).findings if finding.rule == "EGL401"]
    assert fixed().files == {}


def test_missing_ids_are_declared_where_the_engine_reads_them(project: Any, fixed: Any):
    folder = project({
        "head/config.json": config(None), "dump.py": DUMP.replace("states[2]", "states[5]"),
        "serve.sh": SGLANG.format(algorithm="EAGLE3"),
        "requirements.txt": "sglang==0.5.20\n",
    })  # fmt: skip
    done = fixed()
    assert [finding.rule for finding in done.fixed] == ["EGL202"]
    written = json.loads((folder / "head/config.json").read_text())
    assert written.pop("eagle_config") == {"eagle_aux_hidden_state_layer_ids": [4, 19, 36]}
    assert written == json.loads(config(None))


@pytest.mark.parametrize("algorithm", ["EAGLE", '"EAGLE"', "'EAGLE'"])
def test_the_method_is_written_with_the_quotes_that_are_there(project: Any, fixed: Any, algorithm: str):
    project({
        "head/config.json": config([1, 19, 36]), "serve.sh": SGLANG.format(algorithm=algorithm),
        "requirements.txt": "sglang==0.5.20\n",
    })  # fmt: skip
    assert [finding.rule for finding in fixed().fixed] == ["EGL301"]
    assert Path("serve.sh").read_text() == SGLANG.format(algorithm=algorithm.replace("EAGLE", "EAGLE3"))


def test_a_method_behind_a_variable_is_left_to_the_reader(project: Any, fixed: Any):
    text = SGLANG.format(algorithm='"$ALGORITHM"').replace("bash\n", "bash\nALGORITHM=EAGLE\n", 1)
    project({"head/config.json": config([1, 19, 36]), "serve.sh": text, "requirements.txt": "sglang==0.5.20\n"})
    done = fixed()
    assert done.files == {}
    assert "EGL301" in [finding.rule for finding in done.result.findings]


def test_what_is_only_likely_is_fixed_when_asked_for(project: Any, fixed: Any):
    project({
        "head/config.json": config([1, 19, 36]),
        "serve.sh": SGLANG.format(algorithm="EAGLE3").replace("num-draft-tokens", "num-draft-token"),
        "requirements.txt": "sglang==0.5.20\n",
    })  # fmt: skip
    before = Path("serve.sh").read_text()
    launch = fixed()
    if launch.files:
        pytest.fail("an abbreviation that argparse takes was changed")
    Path("serve.sh").write_text(before.replace("num-draft-token ", "num-drafts-tokens "))
    assert fixed().files == {}
    done = fixed(unsafe=True)
    assert [finding.rule for finding in done.fixed] == ["EGL305"]
    assert "--speculative-num-draft-tokens 4" in Path("serve.sh").read_text()


def test_an_argument_is_not_given_twice(project: Any, fixed: Any):
    launch = SGLANG.format(algorithm="EAGLE3").rstrip("\n") + " --speculative-num-drafts-tokens 4\n"
    project({"head/config.json": config([1, 19, 36]), "serve.sh": launch, "requirements.txt": "sglang==0.5.20\n"})
    assert fixed(unsafe=True).files == {}


def test_a_byte_order_mark_and_line_ends_stay(project: Any, fixed: Any):
    dump = b"\xef\xbb\xbf" + DUMP.replace("early", "embed").replace("\n", "\r\n").encode()
    project({
        "head/config.json": config([1, 19, 36]), "dump.py": dump, "serve.sh": SGLANG.format(algorithm="EAGLE3"),
        "requirements.txt": "sglang==0.5.20\n",
    })  # fmt: skip
    assert [finding.rule for finding in fixed().fixed] == ["EGL501"]
    assert Path("dump.py").read_bytes() == dump.replace(b"embed", b"layer1_out")


def test_nothing_is_written_over_a_file_that_changed_meanwhile(project: Any):
    project({"head/config.json": config([1, 19, 36]), "serve.sh": SGLANG.format(algorithm="EAGLE")})
    done = fix(["."], load(["."]), unsafe=True)
    assert "serve.sh" in done.files
    Path("serve.sh").write_text("echo something else\n")
    assert done.write() == ["serve.sh changed while it was checked and is left as it is"]
    assert Path("serve.sh").read_text() == "echo something else\n"


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_permissions_and_links_stay(project: Any, fixed: Any):
    folder = project({"head/config.json": config([1, 19, 36]), "bin/real.sh": SGLANG.format(algorithm="EAGLE")})
    (folder / "bin/real.sh").chmod(0o755)
    (folder / "serve.sh").symlink_to("bin/real.sh")
    fixed(unsafe=True)
    assert (folder / "serve.sh").is_symlink()
    assert (folder / "bin/real.sh").stat().st_mode & 0o777 == 0o755
    assert "EAGLE3" in (folder / "serve.sh").read_text()
    assert sorted(path.name for path in (folder / "bin").iterdir()) == ["real.sh"]


def test_a_failing_write_leaves_the_old_file(project: Any, monkeypatch: pytest.MonkeyPatch):
    folder = project({"head/config.json": config([1, 19, 36]), "serve.sh": SGLANG.format(algorithm="EAGLE")})
    done = fix(["."], load(["."]), unsafe=True)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert done.write() == ["can not write serve.sh: no space left on device"]
    assert (folder / "serve.sh").read_text() == SGLANG.format(algorithm="EAGLE")
    assert sorted(path.name for path in folder.iterdir()) == ["head", "serve.sh"]


def test_the_diff_is_one_that_git_takes(project: Any):
    project({"head/config.json": config([1, 19, 36]), "serve.sh": SGLANG.format(algorithm="EAGLE").rstrip("\n")})
    done = fix(["."], load(["."]), unsafe=True)
    assert done.diff().splitlines()[:2] == ["--- a/serve.sh", "+++ b/serve.sh"]
    assert Path("serve.sh").read_text() == SGLANG.format(algorithm="EAGLE").rstrip("\n")


def _examples() -> list[Any]:
    return [
        pytest.param(example, id=f"{code}-{number}")
        for code in ("EGL202", "EGL204", "EGL301", "EGL305", "EGL401", "EGL501")
        for number, example in enumerate(catalog.load(code).examples.wrong, 1)
    ]


@pytest.mark.parametrize("example", _examples())
def test_fixes_of_the_catalogue_s_examples_are_gone_and_idempotent(example: WrongExample, project: Any, fixed: Any):
    project(dict(example.files))
    done = fixed(unsafe=True)
    keys = {(finding.rule, finding.where.path, finding.message) for finding in done.fixed}
    left = {(finding.rule, finding.where.path, finding.message) for finding in check(["."], load(["."])).findings}
    assert not keys & left
    assert fixed(unsafe=True).files == {}
