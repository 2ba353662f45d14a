"""The audit finds every entry that disagrees with the source, and says so in its report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import audit
import pytest
from auditing.compare import compare, questions
from auditing.derived import compare_derived
from auditing.id_readers import changed, id_readers
from auditing.report import render
from packaging.version import Version

from eaglelint.conventions.rules import apply
from eaglelint.conventions.table import Engine, engine


def table(name: str) -> Engine:
    found = engine(name)
    assert found is not None
    return found


def answer(rule: str = "plus_one", **wrong: Any) -> dict[str, Any]:
    """What a setter by that rule answers for every question of the audit, for N = 36."""
    rows = []
    for ids in questions(36):
        numbers = apply(rule, ids, 36) if ids is not None else (2, 18, 33)
        rows.append({"depth": 36, "ids": ids, "numbers": list(numbers or ()), **wrong})
    return {"class": "X", "module": "x", "rows": rows}


def only(name: str, *architectures: str) -> Engine:
    """An engine of which only some architectures are known."""
    whole = table(name)
    entries = [e for e in whole.entries if set(e.architectures) & set(architectures)]
    return replace(
        whole, entries=tuple(e._replace(architectures=tuple({*e.architectures} & {*architectures})) for e in entries)
    )


LLAMA = "LlamaForCausalLM"


def test_an_engine_that_does_what_the_tables_say():
    found = compare(only("sglang", LLAMA), "0.5.9", {LLAMA: answer()})
    assert (found.comparisons, found.differences, found.not_run) == (len(questions(36)), (), ())


def test_another_rule_is_a_difference_for_each_list_that_it_reads_otherwise():
    found = compare(only("sglang", LLAMA), "0.5.9", {LLAMA: answer("as_is")})
    assert len(found.differences) == len(questions(36)) - 1, "the default is the same"
    assert found.differences[0].what == (
        "ids (1, 17, 32) of 36 layers: the setter stores [1, 17, 32], the tables say [2, 18, 33]"
    )
    special = compare(only("sglang", "DeepseekV3ForCausalLM"), "0.5.13", {"DeepseekV3ForCausalLM": answer()})
    assert {d.what.split(" of ")[0] for d in special.differences} >= {"ids (2, 18, 33)", "ids (0, 1, 2)"}
    assert not any("(1, 17, 32)" in d.what for d in special.differences)


def test_another_default_is_a_difference():
    wrong = answer()
    wrong["rows"][0]["numbers"] = [3, 19, 34]
    found = compare(only("sglang", LLAMA), "0.5.9", {LLAMA: wrong})
    assert [d.what for d in found.differences] == [
        "the default of 36 layers: the setter stores [3, 19, 34], the tables say [2, 18, 33]"
    ]


def test_a_crash_that_the_tables_do_not_know_is_a_difference():
    dies = answer(error="IndexError: list index out of range")
    found = compare(only("sglang", LLAMA), "0.5.23", {LLAMA: dies})
    assert found.differences[0].what.endswith(
        "the setter ends with IndexError: list index out of range, the tables know of no crash"
    )
    moe = "Qwen3MoeForCausalLM"
    rows = [row for row in dies["rows"] if row["ids"] is not None and max(row["ids"]) >= 35]
    known = compare(only("sglang", moe), "0.5.23", {moe: {**dies, "rows": rows}})
    assert (known.comparisons, known.differences) == (len(rows), ())


def test_a_setter_that_could_not_be_run_is_no_difference_but_said():
    lost = answer()
    lost["rows"] = [{"depth": 36, "ids": None, "error": "TypeError: 'Stub' object is odd"}]
    found = compare(only("sglang", LLAMA), "0.5.9", {LLAMA: lost})
    assert (found.comparisons, len(found.differences), len(found.not_run)) == (0, 0, 1)


def test_what_is_missing_and_what_nobody_lists():
    found = compare(only("sglang", LLAMA), "0.5.9", {"NewForCausalLM": answer()})
    assert [d.what for d in found.differences] == [
        "the tables say that it is served, and the release has no such class with a setter"
    ]
    assert found.unlisted == ("NewForCausalLM",)


def test_ids_that_an_engine_sorts_itself_are_no_difference():
    sorts = answer("as_is")
    for row in sorts["rows"]:
        row["numbers"] = sorted(set(row["numbers"]))
    assert compare(only("vllm", LLAMA), "0.33.0", {LLAMA: sorts}).differences == ()


CLASS = {
    "class": LLAMA, "file": "sglang/srt/models/llama.py", "rule": "plus_one", "default": ["2", "N // 2", "N - 3"],
    "zero": "captured", "end": "dropped", "outside": "dropped", "order": "ascending",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"rule": "as_is"}, ["rule: the tables say plus_one, derived is as_is"]),
        ({"end": "captured"}, ["end: the tables say dropped, derived is captured"]),
        ({"end": "unknown"}, []),
        ({"default": ["3"]}, ["default: the tables say ['2', 'N // 2', 'N - 3'], derived is ['3']"]),
    ],
)
def test_a_derived_class(changes, words):
    found = compare_derived(table("sglang"), "0.5.23", [{**CLASS, **changes}])
    assert [d.what for d in found.differences] == words
    assert found.comparisons == 6


def test_a_class_that_can_not_be_told_is_no_difference_but_said():
    found = compare_derived(table("sglang"), "0.5.23", [{**CLASS, "rule": "unknown", "reason": "too odd"}])
    assert (found.comparisons, found.differences, found.not_told[0].what) == (0, (), "too odd")


def test_functions_that_read_ids(archive):
    before = id_readers(archive({"beside/sglang/runner.py": READER, "sglang/srt/models/x.py": READER}))
    assert list(before) == ["sglang/runner.py:read"]
    same = id_readers(archive({"beside/sglang/runner.py": READER.replace("# why", "# because")}))
    assert list(changed(before, same)) == []
    other = id_readers(archive({"beside/sglang/runner.py": READER.replace("None", "[]")}))
    assert list(changed(before, other)) == ["sglang/runner.py:read has changed"]
    assert list(changed(before, {})) == ["sglang/runner.py:read is gone"]


READER = """
def read(config):
    # why
    return config.get("eagle_aux_hidden_state_layer_ids", None)

def other(config):
    return 1
"""


def test_the_releases_of_an_index():
    names = {
        "sglang-0.5.9-py3-none-any.whl": 1, "sglang-0.5.10.tar.gz": 1, "sglang-0.5.10.post1-py3-none-any.whl": 1,
        "sglang-0.5.11rc1-py3-none-any.whl": 1, "sglang-odd.zip": 1,
    }  # fmt: skip
    assert audit.published(names, "sglang") == ["0.5.9", "0.5.10", "0.5.10.post1"]


class Sources:
    """An audit without a network: archives by release, each with what its setters answer."""

    def __init__(self, monkeypatch, tmp_path, answers: dict[str, dict[str, Any]], readers: dict[str, dict[str, str]]):
        for version in answers:
            (tmp_path / version).write_text("")
        monkeypatch.setattr(audit, "release", lambda package, version, cache, files: tmp_path / version)
        monkeypatch.setattr(audit, "setters", lambda name, path: answers[path.name])
        monkeypatch.setattr(audit, "derived", lambda path: [])
        monkeypatch.setattr(audit, "id_readers", lambda path: readers.get(path.name, {}))
        self.options = audit.Options(tmp_path, True)

    def audit(self, engine_: Engine, *versions: str):
        return audit.audit(engine_, sorted(versions, key=Version), self.options, {})


def test_a_new_release_that_changes_nothing(monkeypatch, tmp_path):
    sources = Sources(monkeypatch, tmp_path, {"0.5.23": {LLAMA: answer()}, "0.5.24": {LLAMA: answer()}}, {})
    found = sources.audit(only("sglang", LLAMA), "0.5.23", "0.5.24")
    assert [(new.version, new.before, new.changes) for new in found.new] == [("0.5.24", "0.5.23", ())]
    assert not found.wrong
    assert "### 0.5.24 is not in the tables; beside 0.5.23\n\n- nothing that was looked at has changed\n" in render(
        [found]
    )


def test_a_new_release_that_changes_a_rule_a_reader_and_the_architectures(monkeypatch, tmp_path):
    answers = {"0.5.23": {LLAMA: answer()}, "0.5.24": {LLAMA: answer("as_is"), "NewForCausalLM": answer()}}
    sources = Sources(monkeypatch, tmp_path, answers, {"0.5.23": {"a.py:f": "1"}, "0.5.24": {"a.py:f": "2"}})
    found = sources.audit(only("sglang", LLAMA), "0.5.23", "0.5.24")
    assert found.wrong
    text = render([found])
    for line in (
        f"- {LLAMA} answers otherwise\n",
        "- NewForCausalLM is new\n",
        "- a.py:f has changed\n",
        "- NewForCausalLM: 0.5.24 to 0.5.24\n",
        f"- 0.5.24 {LLAMA}: ids (1, 17, 32) of 36 layers: the setter stores [1, 17, 32], the tables say [2, 18, 33]"
        " (and 9 more)\n",
    ):
        assert line in text
    assert "| sglang | 2 | 22 | 10 | 0 | 0 | 0 | 0 | 0.5.24 |\n" in text


def test_a_release_that_can_not_be_had_is_wrong(monkeypatch, tmp_path):
    sources = Sources(monkeypatch, tmp_path, {"0.5.23": {LLAMA: answer()}}, {})
    monkeypatch.setattr(audit, "release", lambda *_: None)
    found = sources.audit(only("sglang", LLAMA), "0.5.23")
    assert found.wrong
    assert "### Could not be audited\n\n- 0.5.23: the index has no archive of it\n" in render([found])
