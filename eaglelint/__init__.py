"""eaglelint: proves, from files alone, that an EAGLE-3 drafter is served the hidden states it was trained on."""

__version__ = "0.1.0"
