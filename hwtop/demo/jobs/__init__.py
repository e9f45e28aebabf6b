"""Jobs of one file with one planted fault each. Run as scripts, never imported."""
