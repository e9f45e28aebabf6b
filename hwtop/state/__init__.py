"""What hwtop stores by itself, in `~/.local/state/hwtop`. The user may delete all of it."""
