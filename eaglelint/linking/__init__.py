"""What belongs together: which launch serves which drafter, on which target, with which release, trained on what."""
