#!/bin/bash
# two_ranks.sh PORT SCRIPT: one process per rank on this machine
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2
for r in 0 1; do
    RANK=$r LOCAL_RANK=$r "$PYTHON" "$2" &
done
wait
