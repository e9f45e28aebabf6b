"""AMD GPUs. Imported only where one is."""
