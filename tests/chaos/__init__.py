"""The whole pipeline with sources that fail at random."""
