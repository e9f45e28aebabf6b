"""One file per command, without logic of its own."""
