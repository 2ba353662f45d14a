"""Whether a file speaks of EAGLE-3 at all, from its bytes alone.

A file that can not be read is worth a finding only where it does: a broken fixture of someone's parser is not.
"""

from __future__ import annotations

#: Words that stand in code, configurations and commands about drafters that take auxiliary states; lower case.
_WORDS = (
    b"eagle3",
    b"eagle-3",
    b"eagle_config",
    b"eagle_aux",
    b"aux_hidden_state",
    b"layers_to_capture",
    b"speculative-algorithm",
    b"speculative_algorithm",
    b"speculative-config",
    b"speculative_config",
    b"speculative-draft",
    b"speculative_draft",
    b"speculators_config",
    b"speculators_model_type",
    b"target_layer_ids",
    b"draft_vocab_size",
    b"extract_hidden_states",
)


def speaks_of_eagle(data: bytes) -> bool:
    """Whether one of the words of the field occurs in some bytes of a file, in upper or lower case."""
    lower = data.lower()
    return any(word in lower for word in _WORDS)
