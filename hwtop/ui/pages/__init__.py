"""Where the panels of each page stand."""
