"""EGL701 to EGL705: the draft vocabulary, its maps, and the target's."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensor_files
from weighing import D2T, T2D, codes, findings, head

from eaglelint.checks.vocabulary import padded
from eaglelint.findings import Finding


def one(found: list[Finding], rule: str) -> Finding:
    assert codes(found) == [rule], [f"{f.rule} {f.message}" for f in found]
    return found[0]


def npy(text: str) -> bytes:
    return tensor_files.described("d2t.npy", {"array": text})


class TestMissing:
    @pytest.mark.parametrize("pin", ["sglang==0.5.17", "vllm==0.33.0", ""])
    def test_a_reduced_vocabulary_needs_d2t_whatever_the_engine(self, tmp_path: Path, pin: str):
        found = one(findings(tmp_path, tensors=head(d2t=None, t2d=None), pin=pin), "EGL701")
        assert "8 of 32" in found.message

    def test_d2t_may_stand_under_any_name_that_ends_so(self, tmp_path: Path):
        tensors = head(d2t=None)
        tensors["model.d2t"] = D2T
        assert not findings(tmp_path, tensors=tensors)

    @pytest.mark.parametrize("size", [32, None])
    def test_a_full_vocabulary_needs_none(self, tmp_path: Path, size: int | None):
        tensors = head(d2t=None, t2d=None, lm_head__weight="BF16 [32, 8]" if size else None)
        assert not findings(tmp_path, config={"draft_vocab_size": size}, tensors=tensors)

    def test_without_weights_nobody_can_say(self, tmp_path: Path):
        assert not findings(tmp_path)

    def test_a_map_in_a_file_of_its_own_is_named(self, tmp_path: Path):
        files = {"head/vocab_mapping.pt": tensor_files.described("v.pt", {"d2t": D2T, "t2d": T2D})}
        found = one(findings(tmp_path, tensors=head(d2t=None, t2d=None), files=files), "EGL701")
        assert "vocab_mapping.pt" in found.message

    @pytest.mark.parametrize(
        ("release", "dropped"), [("0.8.5", False), ("0.9.0", True), ("0.9.0.1", True), ("0.9.1", False)]
    )
    def test_a_release_that_throws_it_away(self, tmp_path: Path, release: str, dropped: bool):
        found = findings(tmp_path, tensors=head(), pin=f"vllm=={release}")
        if not dropped:
            assert not found
            return
        told = one(found, "EGL701")
        assert told.where.path.endswith("head/config.json")
        assert f"vLLM {release} drops the d2t" in told.message
        assert "0.9.1 is the first" in told.fix.description


class TestOffsets:
    def test_ids_that_t2d_marks_are_ids(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(d2t="I64 [8] = 0 1 2 3 8 9 15 16")), "EGL702")
        assert (found.severity, found.confidence) == ("error", "proven")

    def test_ids_without_t2d_betray_themselves_beyond_the_vocabulary(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(t2d=None, d2t="I64 [8] = 0 1 2 3 8 9 15 30")), "EGL702")
        assert "37 of 32" in found.message
        assert "ids themselves" in found.message

    @pytest.mark.parametrize("d2t", ["I64 [8] = -1 0 0 0 4 4 9 9", "I32 [8] = 0 0 0 0 4 4 9 90"])
    def test_targets_outside_the_vocabulary(self, tmp_path: Path, d2t: str):
        assert one(findings(tmp_path, tensors=head(d2t=d2t)), "EGL702").severity == "error"

    def test_two_draft_tokens_for_one_target_token(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(t2d=None, d2t="I64 [8] = 0 0 0 -1 4 4 9 9")), "EGL702")
        assert "the same" in found.message

    def test_targets_that_are_not_ascending_are_no_proof_without_t2d(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(t2d=None, d2t="I64 [8] = 1 -1 0 0 4 4 9 9")), "EGL702")
        assert found.severity == "warning"

    def test_zeros_are_right_for_the_whole_vocabulary(self, tmp_path: Path):
        tensors = head(d2t="I64 [32]", t2d="BOOL [32] = " + "1 " * 32, lm_head__weight="BF16 [32, 8]")
        assert not findings(tmp_path, config={"draft_vocab_size": 32}, tensors=tensors)

    def test_zeros_are_right_where_t2d_marks_the_first_tokens(self, tmp_path: Path):
        assert not findings(tmp_path, tensors=head(d2t="I64 [8]", t2d="BOOL [32] = " + "1 " * 8 + "0 " * 24))

    def test_zeros_where_t2d_marks_others_were_never_written(self, tmp_path: Path):
        assert "zeros" in one(findings(tmp_path, tensors=head(d2t="I64 [8]")), "EGL702").message

    def test_zeros_alone_are_a_warning(self, tmp_path: Path):
        assert one(findings(tmp_path, tensors=head(d2t="I64 [8]", t2d=None)), "EGL702").severity == "warning"

    def test_a_wrong_d2t_silences_what_it_does_not_fit(self, tmp_path: Path):
        config = {"draft_vocab_size": 9}
        found = findings(
            tmp_path, config=config, tensors=head(d2t="I64 [8] = 0 1 2 3 8 9 15 16", lm_head__weight="BF16 [9, 8]")
        )
        assert codes(found) == ["EGL702"]


class TestShapes:
    def test_the_file_that_is_wrong_is_the_one_that_is_named(self, tmp_path: Path):
        files = {"head/d2t.npy": npy("I64 [6] = 0 0 0 0 4 4"), "head/t2d.npy": npy(T2D)}
        found = one(findings(tmp_path, files=files), "EGL703")
        assert found.where.path.endswith("d2t.npy")
        assert "6" in found.message
        assert "8" in found.message

    def test_maps_beside_weights_that_have_their_own_are_not_served(self, tmp_path: Path):
        assert not findings(tmp_path, tensors=head(), files={"head/d2t.npy": npy("I64 [6] = 0 0 0 0 4 4")})

    def test_t2d_of_another_length(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(t2d=T2D.replace("[32]", "[40]") + " 0" * 8)), "EGL703")
        assert "40 entries" in found.message

    def test_t2d_that_marks_too_many(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(t2d="BOOL [32] = " + "1 " * 12 + "0 " * 20)), "EGL703")
        assert "marks 12" in found.message

    def test_t2d_that_marks_others(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(t2d="BOOL [32] = " + "1 " * 8 + "0 " * 24)), "EGL703")
        assert "different tokens" in found.message

    def test_lm_head_of_another_size_than_all_else(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(lm_head__weight="BF16 [9, 8]")), "EGL703")
        assert "9 rows" in found.message

    def test_a_config_that_alone_says_another_size(self, tmp_path: Path):
        found = one(findings(tmp_path, config={"draft_vocab_size": 9}, tensors=head()), "EGL703")
        assert found.where.path.endswith("config.json")

    def test_a_padded_vocabulary_is_the_same(self, tmp_path: Path):
        tensors = head(t2d=T2D.replace("[32]", "[60]") + " 0" * 28)
        assert not findings(tmp_path, config={"vocab_size": 64}, target={"vocab_size": 60}, tensors=tensors)


class TestSize:
    @pytest.mark.parametrize(
        ("pin", "wrong"), [("sglang==0.5.17", True), ("vllm==0.10.2", True), ("vllm==0.11.0", False)]
    )
    def test_a_missing_size(self, tmp_path: Path, pin: str, wrong: bool):
        found = findings(tmp_path, without=("draft_vocab_size",), pin=pin)
        assert codes(found) == (["EGL704"] if wrong else [])

    @pytest.mark.parametrize(
        ("pin", "wrong"), [("sglang==0.5.1.post3", True), ("sglang==0.5.2", False), ("vllm==0.10.0", True)]
    )
    def test_null(self, tmp_path: Path, pin: str, wrong: bool):
        found = findings(tmp_path, config={"draft_vocab_size": None}, pin=pin)
        assert [f.rule for f in found if f.rule in ("EGL704", "EGL201")] == (["EGL704"] if wrong else [])

    def test_the_class_for_latent_attention_needs_none(self, tmp_path: Path):
        config = {"architectures": ["Eagle3DeepseekV2ForCausalLM"]}
        assert not findings(tmp_path, config=config, without=("draft_vocab_size",))

    def test_without_an_engine_nobody_needs_it(self, tmp_path: Path):
        assert not findings(tmp_path, without=("draft_vocab_size",), pin="")

    def test_a_string_is_a_matter_of_types(self, tmp_path: Path):
        assert codes(findings(tmp_path, config={"draft_vocab_size": "8"})) == ["EGL201"]


class TestTarget:
    def test_another_vocabulary_than_the_target_s(self, tmp_path: Path):
        found = one(findings(tmp_path, target={"vocab_size": 48}, tensors=head()), "EGL705")
        assert "32" in found.message
        assert "48" in found.message

    def test_without_weights_or_maps_it_is_not_judged(self, tmp_path: Path):
        assert not findings(tmp_path, target={"vocab_size": 48})

    @pytest.mark.parametrize(
        ("one", "other", "same"),
        [
            (151936, 151936, True), (151669, 151936, True), (151936, 152064, True), (32000, 32064, True),
            (500, 512, True), (320, 512, False), (256, 320, False), (128256, 151936, False), (32000, 128256, False),
            (400, 480, False),
        ],
    )  # fmt: skip
    def test_padding_is_no_difference(self, one: int, other: int, same: bool):
        assert padded(one, other) is padded(other, one) is same
