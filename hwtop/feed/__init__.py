"""One thread takes snapshots and publishes frames. Live, replayed and remote feeds differ only in their source."""
