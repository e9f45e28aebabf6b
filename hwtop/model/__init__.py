"""WHAT we know: frozen structs. No I/O, no clock, imports nothing else of hwtop.

A `*Reading` is what one source read, counters as read; only readings are recorded or sent.
A value that could not be read is None, and `missing` of its reading says why (field name -> reason).
Times called `at_s` are seconds of one monotonic clock, `time_s` seconds since the epoch.
"""
