"""NCCL RAS: its report, and what that says about a hang."""
