"""Rules about the training itself: loss, gradients, learning rate, step times, and what Python, logging and saving take."""
