"""One file a command: thin, no logic of its own."""
