"""Commands that look at a running job."""
