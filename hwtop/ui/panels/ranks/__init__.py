"""The ranks: table, map, card of one."""
