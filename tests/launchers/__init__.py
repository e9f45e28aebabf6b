"""Real jobs of every launcher that can be installed; each must be understood from any of its processes."""
