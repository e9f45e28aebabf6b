#!/bin/bash
# two workers on this machine
here=$(cd "$(dirname "$0")" && pwd)
export WORLD_SIZE=2 JAX_PLATFORMS=cpu XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
for r in 0 1; do
  RANK=$r python "$here/surrogate_sync.py" &
done
wait
