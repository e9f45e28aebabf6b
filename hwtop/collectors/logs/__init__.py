"""The job's logs, from the descriptors of its processes to lines."""
