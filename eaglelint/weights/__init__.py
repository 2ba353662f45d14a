"""The weights of drafters: what a head is made of, under which names, and what of it a checkpoint holds."""
