"""A GPU as it was read: the device, its health, its links."""
