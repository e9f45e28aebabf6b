"""What is run by the interpreter of the training: standard library and torch only, and as a file, never imported."""
