"""Code inside code: patches by text replacement, here-documents and diffs are read as the code they insert."""

from __future__ import annotations

from pathlib import Path

from analysed import boundaries, defects, facts_of, names

REPLACE = '''
"""Patch SGLang so that it dumps the EAGLE-3 states."""
import pathlib

PATH = pathlib.Path("srt/models/deepseek_v2.py")

SETUP_OLD = "logger = logging.getLogger(__name__)\\n"
SETUP_NEW = SETUP_OLD + """
_DUMP_LAYERS = {3, 31, 59}
"""

LOOP_OLD = """        for i in range(self.start_layer, self.end_layer):
            layer = self.layers[i]
            hidden_states, residual = layer(positions, hidden_states, forward_batch, residual)
"""

LOOP_NEW = """        slot = 0
        for i in range(self.start_layer, self.end_layer):
            if i in _DUMP_LAYERS:
                torch.save(hidden_states + residual, f"dump/aux_{slot}.pt")
                slot += 1
            layer = self.layers[i]
            hidden_states, residual = layer(positions, hidden_states, forward_batch, residual)
"""


def main():
    text = PATH.read_text()
    for old, new in [(SETUP_OLD, SETUP_NEW), (LOOP_OLD, LOOP_NEW)]:
        if text.count(old) != 1:
            raise SystemExit("anchor not found")
        text = text.replace(old, new)
    PATH.write_text(text)


if __name__ == "__main__":
    main()
'''


def test_the_pieces_of_a_patch_share_their_names_and_point_into_the_patch(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"patch_dump.py": REPLACE})
    assert boundaries(facts.captures[0]) == [3, 31, 59]
    line = next(n for n, text in enumerate(REPLACE.split("\n"), 1) if "torch.save(" in text)
    assert facts.captures[0].where.line == line
    assert names(facts) == {"aux_0": 3, "aux_1": 31, "aux_2": 59}


def test_text_that_is_only_looked_for_is_no_capture(tmp_path: Path) -> None:
    code = REPLACE.replace("_DUMP_LAYERS = {3, 31, 59}", "pass").replace("if i in _DUMP_LAYERS:", "if False:")
    code = code.replace('LOOP_OLD = """        for i', 'LOOP_OLD = """        _DUMP_LAYERS = {1, 2}\n        for i')
    facts = facts_of(tmp_path, {"patch_dump.py": code})
    assert facts.captures == ()


TEMPLATE = '''
import textwrap

AT = "2, 46, 89"
TAP = textwrap.indent(textwrap.dedent(f"""\\
    if i in {{{AT}}}:
        eagle_states[f"in_{{i}}"] = hidden_states + residual
    """), " " * 12)
ANCHOR = "            hidden_states, residual = self.layers[i](positions, hidden_states, forward_batch, residual)\\n"


def patch(path):
    text = open(path).read()
    text = text.replace(ANCHOR, TAP + ANCHOR)
    with open(path, "w") as out:
        out.write(text)
'''


def test_a_body_put_before_the_layer_call_by_a_template_with_doubled_braces(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"install_eagle_tap.py": TEMPLATE})
    assert [boundaries(c) for c in facts.captures] == [[2, 46, 89]]


HEREDOC = """#!/usr/bin/env bash
# EAGLE-3 capture
python3 - <<'PATCH'
import pathlib
path = pathlib.Path("models/heron.py")
text = path.read_text()
text = text.replace(
    "        for layer in self.layers:\\n            h, residual = layer(positions, h, residual)\\n",
    "        for i, layer in enumerate(self.layers):\\n"
    "            h, residual = layer(positions, h, residual)\\n"
    "            if i in (1, 15, 28):\\n"
    "                aux_states.append(h + residual)\\n",
)
path.write_text(text)
PATCH
"""


def test_a_here_document_in_a_shell_script_is_read(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"prepare.sh": HEREDOC})
    assert [(boundaries(c), c.where.line) for c in facts.captures] == [([2, 16, 29], 12)]


DIFF = """\
diff --git a/vllm/model_executor/models/starling.py b/vllm/model_executor/models/starling.py
--- a/vllm/model_executor/models/starling.py
+++ b/vllm/model_executor/models/starling.py
@@ -20,7 +20,10 @@ class StarlingModel(nn.Module):
     def forward(self, input_ids, positions):
         hidden_states, residual = self.embed_tokens(input_ids), None
+        aux_hidden_states = []
         for idx, layer in enumerate(self.layers):
+            if idx in (2, 16, 29):
+                aux_hidden_states.append(STORED)
             hidden_states, residual = layer(positions, hidden_states, residual)
         hidden_states, _ = self.norm(hidden_states, residual)
-        return hidden_states
+        return hidden_states, aux_hidden_states
"""


def test_the_new_side_of_a_hunk_is_read_as_code(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"aux.patch": DIFF.replace("STORED", "hidden_states + residual")})
    assert [(boundaries(c), c.where.line) for c in facts.captures] == [([2, 16, 29], 10)]
    assert defects(facts) == {}


def test_a_branch_stored_in_a_hunk_is_told_at_its_line(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"aux.patch": DIFF.replace("STORED", "hidden_states")})
    assert defects(facts) == {"residual-not-added": 10}
