"""Intel GPUs. Imported only where one is."""
