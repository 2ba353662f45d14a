"""What engines and trainers do with layer ids, release by release, and what is known of published targets and drafters.

The knowledge is data (`rules/conventions/*.yaml`, `rules/targets.yaml`, `rules/drafters.yaml`), each fact with its
evidence; this package interprets it and hard-codes no engine's release.
"""
