"""Recordings: the Snapshots of a watch in one SQLite file, in the order in which they were read.

Each row is a Snapshot as MessagePack, compressed with zstd. About once a minute one is a key frame, which can be read alone; the
rows after it were compressed with its MessagePack as dictionary. So most of a Snapshot, which is as it was a second before, takes
no room, no row depends on more than one other, and the oldest rows can go at any key frame (`bench/recording.py`).
"""
