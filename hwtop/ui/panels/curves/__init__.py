"""Curves of the training: loss, learning rate, throughput and what else is reported."""
