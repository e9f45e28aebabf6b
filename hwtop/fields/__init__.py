"""What every number is: its name, unit, format, thresholds, and the tables it may stand in. Pure; knows nothing of the screen."""
