#!/bin/bash
# one process per core group, as on the lab machine
export MASTER_ADDR=127.0.0.1 MASTER_PORT=31017 WORLD_SIZE=3
here=$(dirname "$0")
for r in 0 1 2; do
  RANK=$r LOCAL_RANK=$r python "$here/digits_ddp.py" --epochs 5000 > "out.$r.log" 2>&1 &
done
wait
