#!/usr/bin/env bash
# soil-moisture forecast, two field stations, one trainer each
set -u
PY=$1
HERE=$(cd "$(dirname "$0")" && pwd)
export WORLD_SIZE=2 BASE_PORT=35060
pids=()
for r in 0 1; do
    RANK=$r LOCAL_RANK=$r "$PY" "$HERE/f_irrigation_worker.py" &
    pids+=($!)
done
echo "trainers: ${pids[*]}"
wait
