"""READ: one file a source, `source` is their contract, `sampler` runs them, `abandon` leaves behind what may hang.

Of the host: `cpu`, `cgroup`, `memory`, `disk`, `network` read /proc and /sys with the parts they share: `procfs` (a whole file,
reasons), `pressure` (PSI), `mounts` (mountinfo), `cgroup_files` (limits of v2 and v1), `infiniband` (ports of adapters).
A source reads counters and levels as the kernel shows them; nothing is judged, and no rate is made, here.
"""
