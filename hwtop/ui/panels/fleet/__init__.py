"""Panels of the fleet page: a job over several nodes. Pure."""
