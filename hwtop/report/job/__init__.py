"""Parts of a job as JSON and text: its stacks, collectives, logs and history."""
