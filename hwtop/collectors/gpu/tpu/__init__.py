"""Google TPUs. Imported only where one is."""
