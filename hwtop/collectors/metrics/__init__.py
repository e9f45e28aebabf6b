"""What the training writes for machines: metrics files, heartbeats."""
