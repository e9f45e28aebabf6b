#!/bin/bash
# usage: k_launch.sh PYTHON PORT SCRIPT
export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$2
for r in 0 1; do
  RANK=$r LOCAL_RANK=$r "$1" "$3" &
done
wait
