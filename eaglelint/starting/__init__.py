"""What `eaglelint init` proposes for a project: a configuration, a hook and a workflow."""
