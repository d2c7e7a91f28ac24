"""The work of a run's states, over ports to a cloud."""
