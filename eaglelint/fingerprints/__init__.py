"""Values of dumped states: read without torch or numpy, measured, and told apart by what they are."""
