"""Arguments that the project's own patches add to an engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from eaglelint.run import check
from eaglelint.settings import Settings

PATCH = """diff --git a/python/sglang/srt/server_args.py b/python/sglang/srt/server_args.py
--- a/python/sglang/srt/server_args.py
+++ b/python/sglang/srt/server_args.py
@@ -100,6 +100,8 @@ class ServerArgs:
     max_running_requests: Optional[int] = None
+    enable_state_store: bool = False
+    state_store_host: Optional[str] = None
     chunked_prefill_size: Optional[int] = None
@@ -900,4 +902,6 @@ class ServerArgs:
         parser = parser
+        parser.add_argument("--state-store-port", type=int)
         return parser
"""
SERVE = """
import sglang as sgl

engine = sgl.Engine(
    model_path="Qwen/Qwen3-8B",
    speculative_algorithm="EAGLE3",
    speculative_draft_model_path="heads/eagle3",
    enable_state_store=True,
    state_store_port=4000,
    OTHER
)
"""


@pytest.mark.parametrize(
    ("patched", "other", "unknown"),
    [(True, "", 0), (False, "", 2), (True, "state_stores=1,", 1)],
    ids=["added", "no-patch", "another-name"],
)
def test_what_a_patch_adds_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patched: bool, other: str, unknown: int
) -> None:
    (tmp_path / "serve.py").write_text(SERVE.replace("OTHER", other))
    (tmp_path / "requirements.txt").write_text("sglang==0.5.10.post1\n")
    if patched:
        (tmp_path / "sglang.patch").write_text(PATCH)
    monkeypatch.chdir(tmp_path)
    found = [finding for finding in check(["."], Settings()).findings if finding.rule == "EGL305"]
    assert len(found) == unknown
