"""Jobs of one file each, with a planted fault or healthy: what users write, in many styles. Run as scripts, never imported.

Their docstrings are those of the jobs that `hwtop demo` runs (hwtop/demo/catalogue.py).
"""
