"""The GPUs: lines, table, and the blocks of the card of one."""
