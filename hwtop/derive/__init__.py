"""RATES: what two readings of one source tell together, and the job over time. Pure: no I/O, no clock.

One file a subject, named as its model and its collector: `cpu_rates(previous, current)` and so on. What they have in common,
with the rule for repeated readings and for counters that went backwards, is in `rates`. What must be remembered from tick
to tick is held by `derived` (readings and rates) and `job`.
"""
