"""Python stacks: the tree of all ranks, the stack of one, the flame graph, the conclusion."""
