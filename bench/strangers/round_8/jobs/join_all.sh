#!/bin/bash
# starts the ranks of this node
WORLD=3
export MASTER_ADDR=127.0.0.1 MASTER_PORT=29905 WORLD_SIZE=$WORLD
here=$(dirname "$(readlink -f "$0")")
for ((r = 0; r < WORLD - 1; r++)); do
  RANK=$r LOCAL_RANK=$r python "$here/join_all.py" >"node_rank$r.log" 2>&1 &
done
wait
