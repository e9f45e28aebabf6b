#!/bin/bash
# local_ranks.sh N SCRIPT [ARGS]: N processes on this machine, without torchrun
n=$1; script=$2; shift 2
export MASTER_ADDR=127.0.0.1 MASTER_PORT=${MASTER_PORT:-29580} WORLD_SIZE=$n OMP_NUM_THREADS=1 PYTHONUNBUFFERED=1
for ((r = 0; r < n; r++)); do
  RANK=$r LOCAL_RANK=$r python "$script" "$@" &
done
wait
