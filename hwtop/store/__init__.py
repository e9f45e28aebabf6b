"""Recordings: what a watch has read, in one SQLite file, in the order in which it was read: Snapshots of one machine, or FleetReadings
of a job over several nodes. The version in its header says which (`kind.py`).

Each row is one of them as MessagePack, compressed with zstd. About once a minute one is a key frame, which can be read alone; the
rows after it were compressed with its MessagePack as dictionary. So most of a Snapshot, which is as it was a second before, takes
no room, no row depends on more than one other, and the oldest rows can go at any key frame (`bench/recording.py`).
"""
