"""Progress: what the lines of a log tell of steps, losses and rates. Pure."""
