"""Unified diffs: hunks as code before and after, at their places in the patch, however the patch was made."""

from __future__ import annotations

import difflib
import os

import pytest
import unidiff
from hypothesis import given, settings
from hypothesis import strategies as st

from eaglelint.location import MappedText
from eaglelint.readers.diff import FilePatch, Hunk, read_diff

EXAMPLES = int(os.environ.get("EAGLELINT_EXAMPLES", "200"))

PATCH = """\
From 1f2e3d4 Mon Sep 17 00:00:00 2001
Subject: [PATCH] Capture auxiliary hidden states
---
 models/internlm2.py | 4 +++-
 1 file changed, 3 insertions(+), 1 deletion(-)

diff --git a/models/internlm2.py b/models/internlm2.py
index 1234567..89abcde 100644
--- a/models/internlm2.py
+++ b/models/internlm2.py
@@ -261,6 +261,8 @@ class InternLM2Model(nn.Module):
     def forward(self, input_ids):
         hidden_states = self.embed(input_ids)
         for idx in range(self.end_layer):
+            if idx in self.taps:
+                aux.append(hidden_states)
             hidden_states = self.layers[idx](hidden_states)

-        return hidden_states
+        return hidden_states, aux
--\x20
2.43.0

"""

PRE = """\
    def forward(self, input_ids):
        hidden_states = self.embed(input_ids)
        for idx in range(self.end_layer):
            hidden_states = self.layers[idx](hidden_states)

        return hidden_states
"""

POST = """\
    def forward(self, input_ids):
        hidden_states = self.embed(input_ids)
        for idx in range(self.end_layer):
            if idx in self.taps:
                aux.append(hidden_states)
            hidden_states = self.layers[idx](hidden_states)

        return hidden_states, aux
"""


def read(text: str) -> list[FilePatch]:
    return read_diff(MappedText.whole("0001-capture.patch", text))


def only_hunk(text: str) -> Hunk:
    (patch,) = read(text)
    (hunk,) = patch.hunks
    return hunk


def added(hunk: Hunk) -> list[str]:
    return [hunk.post.text[start:end] for start, end in hunk.added]


def removed(hunk: Hunk) -> list[str]:
    return [hunk.pre.text[start:end] for start, end in hunk.removed]


def test_a_hunk_is_the_code_before_and_the_code_after() -> None:
    hunk = only_hunk(PATCH)
    assert (hunk.pre.text, hunk.post.text) == (PRE, POST)
    assert added(hunk) == [
        "            if idx in self.taps:\n                aux.append(hidden_states)\n",
        "        return hidden_states, aux\n",
    ]
    assert removed(hunk) == ["        return hidden_states\n"]
    assert (hunk.old_start, hunk.new_start, hunk.context) == (261, 261, "class InternLM2Model(nn.Module):")


def test_characters_keep_their_places_in_the_patch() -> None:
    (patch,) = read(PATCH)
    hunk = patch.hunks[0]
    at = hunk.post.text.index("aux.append")
    location = hunk.post.location(at, at + 3)
    assert location[:3] == ("0001-capture.patch", PATCH[: PATCH.index("aux.append")].count("\n") + 1, 18)
    assert str(patch.where) == "0001-capture.patch:7"
    assert str(hunk.where) == "0001-capture.patch:11"


@pytest.mark.parametrize(
    ("header", "old", "new"),
    [
        ("--- a/x/y.py\n+++ b/x/y.py\n", "x/y.py", "x/y.py"),
        ("diff --git a/y.py b/y.py\nnew file mode 100644\n--- /dev/null\n+++ b/y.py\n", "", "y.py"),
        ("diff --git a/y.py b/y.py\ndeleted file mode 100644\n--- a/y.py\n+++ /dev/null\n", "y.py", ""),
        ("diff --git a/y.py b/z.py\nrename from y.py\nrename to z.py\n--- a/y.py\n+++ b/z.py\n", "y.py", "z.py"),
        ('--- "a/m\\303\\251thode \\"x\\".py"\n+++ "b/tab\\t.py"\n', 'méthode "x".py', "tab\t.py"),
        (
            "Index: pkg/y.py\n=====\n--- pkg.orig/y.py\t2026-01-01 10:00:00\n+++ pkg/y.py\t2026\n",
            "pkg.orig/y.py",
            "pkg/y.py",
        ),
        ("--- y.py 2026-01-01 10:00:00.0 +0000\n+++ y.py\n", "y.py", "y.py"),
        ("--- a/with space.py\n+++ b/with space.py\n", "with space.py", "with space.py"),
        ("--- a/y.py\r\n+++ b/y.py\r\n", "y.py", "y.py"),
        ("*** Begin Patch\n*** Update File: y.py\n", "y.py", "y.py"),
        ("", "", ""),
    ],
)
def test_paths(header: str, old: str, new: str) -> None:
    (patch,) = read(header + "@@ -1 +1 @@\n-a\n+b\n")
    assert (patch.old_path, patch.new_path, patch.path) == (old, new, new or old)
    assert (patch.hunks[0].pre.text, patch.hunks[0].post.text) == ("a\n", "b\n")


def test_a_file_without_hunks_is_a_patch_without_hunks() -> None:
    binary = "diff --git a/x.png b/x.png\nindex 1..2\nBinary files a/x.png and b/x.png differ\n"
    rename = "diff --git a/y.py b/z.py\nsimilarity index 100%\nrename from y.py\nrename to z.py\n"
    assert [(patch.path, len(patch.hunks)) for patch in read(binary + rename + PATCH)] == [
        ("x.png", 0),
        ("z.py", 0),
        ("models/internlm2.py", 1),
    ]


def test_a_patch_without_context() -> None:
    hunks = read("--- a/x\n+++ b/x\n@@ -3 +2,0 @@\n-a\n@@ -9,0 +8,2 @@ def f():\n+b\n+c\n")[0].hunks
    assert [(hunk.pre.text, hunk.post.text, hunk.context) for hunk in hunks] == [
        ("a\n", "", ""),
        ("", "b\nc\n", "def f():"),
    ]


def test_line_ends_of_windows_belong_to_the_code() -> None:
    hunk = only_hunk(PATCH.replace("\n", "\r\n"))
    assert hunk.post.text == POST.replace("\n", "\r\n")
    assert hunk.context == "class InternLM2Model(nn.Module):"


def test_no_newline_at_the_end_of_a_file() -> None:
    hunk = only_hunk("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline\n")
    assert (hunk.pre.text, hunk.post.text) == ("a\nb", "a\nc")
    assert (removed(hunk), added(hunk)) == (["b"], ["c"])
    both = only_hunk("@@ -1 +1 @@\n+a\n b\n\\ No newline at end of file\n")
    assert (both.pre.text, both.post.text, added(both)) == ("b", "a\nb", ["a\n"])


@pytest.mark.parametrize("counts", ["-261,6 +261,8", "-261,2 +261,2", "-261,60 +261,80", "-261 +261", "-261,0 +261,0"])
def test_counts_are_only_a_hint(counts: str) -> None:
    hunk = only_hunk(PATCH.replace("-261,6 +261,8", counts).replace("\n\n-   ", "\n \n-   "))
    assert hunk.pre.text == PRE
    assert hunk.post.text == POST


@pytest.mark.parametrize("header", ["@@ ... @@", "@@", "@@ def forward @@", "@@ -261,? +261,? @@ def forward"])
def test_headers_without_line_numbers(header: str) -> None:
    lines = [header if line.startswith("@@") else line for line in PATCH.splitlines()]
    hunk = only_hunk("\n".join(lines) + "\n")
    assert (hunk.pre.text, hunk.post.text, hunk.old_start) == (PRE, POST, 0)
    assert hunk.context in ("", "def forward")


def test_lines_that_look_like_headers_within_a_hunk() -> None:
    hunk = only_hunk("--- a/x.sql\n+++ b/x.sql\n@@ -1,3 +1,3 @@\n a\n--- old\n+++ new\n--\n")
    assert (hunk.pre.text, hunk.post.text) == ("a\n-- old\n-\n", "a\n++ new\n")


def test_a_wrong_count_does_not_swallow_the_next_file() -> None:
    first = "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n-b\n"
    second = "--- a/y\n+++ b/y\n@@ -1 +1 @@\n-c\n+d\n"
    assert [(patch.path, patch.hunks[0].pre.text) for patch in read(first + second)] == [("x", "a\nb\n"), ("y", "c\n")]


def test_an_indented_patch() -> None:
    start = PATCH.index("diff --git")
    indented = "".join("    " + line if line.strip() else line for line in PATCH[start:].splitlines(keepends=True))
    text = "RUN git apply - <<'EOF'\n" + indented
    hunk = only_hunk(text)
    assert hunk.post.text == POST
    assert all(text[place] == character for character, place in zip(hunk.post.text, hunk.post.origin, strict=False))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no patch\n--- \nat all\n",
        "diff --cc x\n--- a/x\n+++ b/x\n@@@ -1,2 -1,2 +1,3 @@@\n  a\n++b\n",
        "*** a/x\n--- b/x\n***************\n*** 1,2 ****\n  a\n! b\n--- 1,2 ----\n  a\n! c\n",
        "---\ntitle: x\n---\n\n- a\n+ b\n",
    ],
)
def test_combined_and_context_diffs_and_prose_have_no_hunks(text: str) -> None:
    assert [hunk for patch in read(text) for hunk in patch.hunks] == []


LINE = st.sampled_from(
    ["a", "b", "    if i in taps:", "", "-- x", "++ y", " ", "@@ -1 +1 @@", "--- a", "+++ b", "\\ x", "é"]
)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(LINE, max_size=12), st.lists(LINE, max_size=12), st.integers(0, 3))
def test_hunks_are_those_of_unidiff(old: list[str], new: list[str], context: int) -> None:
    before, after = [line + "\n" for line in old], [line + "\n" for line in new]
    text = "".join(difflib.unified_diff(before, after, "a/x.py", "b/x.py", n=context))
    hunks = [hunk for patch in read(text) for hunk in patch.hunks]
    theirs = [hunk for patch in unidiff.PatchSet(text) for hunk in patch]
    assert [(hunk.old_start, hunk.new_start) for hunk in hunks] == [(h.source_start, h.target_start) for h in theirs]
    for hunk, their in zip(hunks, theirs, strict=True):
        assert hunk.pre.text == "".join(line.value for line in their if not line.is_added)
        assert hunk.post.text == "".join(line.value for line in their if not line.is_removed)
        assert "".join(added(hunk)) == "".join(line.value for line in their if line.is_added)
        assert "".join(removed(hunk)) == "".join(line.value for line in their if line.is_removed)
        for side in (hunk.pre, hunk.post):
            assert all(text[place] == character for character, place in zip(side.text, side.origin, strict=False))


JUNK = st.sampled_from(
    [
        "--- ",
        "+++ ",
        "@@ -1,2 +1 @@",
        "@@",
        "@@@",
        " ",
        "+",
        "-",
        "\\",
        "-- ",
        "\n",
        "\r\n",
        "\r",
        "diff --git a/x b/x",
        "a",
        '"\\1',
    ]
)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(JUNK, max_size=30).map("".join))
def test_no_text_at_all_breaks_the_reading(text: str) -> None:
    for patch in read(text):
        for hunk in patch.hunks:
            for side in (hunk.pre, hunk.post):
                assert all(text[place] == character for character, place in zip(side.text, side.origin, strict=False))
