"""What is bound to which action, how keys are called, and where each has a meaning."""
