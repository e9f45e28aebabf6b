"""Rules about the input pipeline: loading, loader workers."""
