"""Comparison with other runs: a stored baseline, earlier runs of the same job."""
