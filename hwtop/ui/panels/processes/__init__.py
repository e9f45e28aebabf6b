"""The job's processes: the tree, the table, one process in detail."""
