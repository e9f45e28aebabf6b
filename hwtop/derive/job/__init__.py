"""The job over time: ranks with phase, step and state."""
