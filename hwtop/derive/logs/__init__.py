"""What logs, metrics files and heartbeats report, over time."""
