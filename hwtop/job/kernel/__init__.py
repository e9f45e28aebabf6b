"""Kernel: what its log and its waits have to do with the job. Pure."""
