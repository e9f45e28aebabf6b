"""Reports of NCCL's RAS port."""
