"""The training job that `hwtop demo` starts, from a copy in a folder of the job's own: a user's code, which needs nothing of hwtop."""
