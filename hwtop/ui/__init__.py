"""SHOW: the only place that knows Textual."""
