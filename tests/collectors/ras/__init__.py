"""NCCL's RAS port as a source, against processes that answer as it does."""
