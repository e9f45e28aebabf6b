"""What keys and the mouse do: from a View to a View."""
