"""Which page or reducer gets a key, or a click at a cell of the screen."""
