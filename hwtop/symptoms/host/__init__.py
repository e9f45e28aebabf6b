"""Rules about the machine: CPU, memory, disks, network, limits."""
