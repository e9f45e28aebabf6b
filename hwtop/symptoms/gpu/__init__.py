"""Rules about the GPUs: driver, clocks, power, memory, links, use."""
