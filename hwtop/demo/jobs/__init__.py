"""Jobs of one file each, with a planted fault or healthy: what users write, in many styles. Run as scripts, never imported."""
