"""Rules about ranks that stand still, are gone, or make the others wait."""
