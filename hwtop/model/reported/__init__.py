"""What the job itself reports: log lines, metrics files, heartbeats, Flight Recorder dumps, NCCL RAS."""
