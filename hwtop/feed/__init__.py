"""MOVE: one thread takes snapshots and publishes frames. Live, replayed and remote differ only in the source."""
