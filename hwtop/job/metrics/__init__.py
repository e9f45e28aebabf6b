"""Metrics files that a training leaves beside its log, read without the framework that wrote them. Pure."""
