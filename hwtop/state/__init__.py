"""What hwtop itself has written down, under `~/.local/state/hwtop`. A person may delete all of it."""
