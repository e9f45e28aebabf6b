"""The machine: processor, memory, disks, network, cgroup."""
