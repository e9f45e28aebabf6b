"""The machine as it was read: processor, memory, disks, network, the job's cgroup, the kernel's log."""
