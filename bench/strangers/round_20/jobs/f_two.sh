#!/bin/bash
# usage: f_two.sh PYTHON PORT SCRIPT [ARGS]   (two trainers on this machine)
py=$1; export MASTER_ADDR=127.0.0.1 MASTER_PORT=$2 WORLD_SIZE=2
shift 2
for rank in 0 1; do
    RANK=$rank LOCAL_RANK=$rank "$py" "$@" 2>&1 | tee "rank$rank.log" &
done
wait
