"""The parts of `launch_accuracy.py`: what an independent parser finds, and what eaglelint reads, of the same files."""
