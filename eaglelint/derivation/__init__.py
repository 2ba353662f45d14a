"""Derivation: what an engine's own source does with layer ids, by running it abstractly.

The analyser's interpreter executes the target's model with tensors that are formal sums (`tensors`), in surroundings of
one device and one rank (`surroundings`), strictly: an error of Python ends the run as it would end the engine
(`execution`). What arrives for probe lists of ids is compared with the named id rules (`judging`).
"""
