"""Asks NCCL's RAS port about the ranks of all nodes."""
