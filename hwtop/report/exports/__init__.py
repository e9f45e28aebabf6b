"""Formats of other tools: of metrics, readings and stacks."""
