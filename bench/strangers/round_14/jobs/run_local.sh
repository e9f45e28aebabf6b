#!/usr/bin/env bash
# usage: run_local.sh train.py NPROC PORT
SCRIPT=$1; N=$2; PORT=$3
mkdir -p logs
for r in $(seq 0 $((N - 1))); do
  MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=$N RANK=$r LOCAL_RANK=$r python "$SCRIPT" >"logs/rank$r.log" 2>&1 &
  echo "launched rank $r pid $!"
done
wait
