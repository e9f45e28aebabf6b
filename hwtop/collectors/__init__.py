"""READ: one file a source, `source` is their contract, `sampler` runs them, `abandon` abandons what may hang.

psutil reads what it reads well (`host/system` lists it). /proc and /sys are read here where psutil has no answer, or where
bench/psutil_cost.py shows that it costs too much; each such place says which. A source reads counters and levels as the kernel
reports them; nothing is judged, and no rate is derived, here.
"""
