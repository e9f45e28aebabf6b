"""Hang: who stands still, who waits for whom, and why. Pure."""
