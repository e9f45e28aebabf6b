"""Advice about a training script, from its syntax tree alone: it is never run, and nothing that it imports is looked at."""
