"""Real small training jobs, healthy and with planted faults, to watch.

The job itself needs only the standard library; where torch is installed the same job runs on DDP, gloo and DataLoader.
"""
