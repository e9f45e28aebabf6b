"""What several commands share: flags with their types, the target, nodes, the opening of the screen."""
