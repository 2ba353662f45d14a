#!/usr/bin/env bash
# Serve Kimi K2.5 (text only) with the drafter.
set -euo pipefail
cd "$(dirname "$0")"

TARGET=models/kimi-k2.5-text

args=(
  --model-path "$TARGET"
  --trust-remote-code
  --tp-size 8
  --disable-cuda-graph
  --speculative-algorithm EAGLE3
  --speculative-draft-model-path drafter
  --speculative-num-steps 3
  --speculative-eagle-topk 1
  --speculative-num-draft-tokens 4
)

exec python3 -m sglang.launch_server "${args[@]}" --port "${PORT:-30000}"
