#!/bin/bash
# dashboard for the group plus training; retries because the queue sometimes kills us
HERE="$(dirname "$(readlink -f "$0")")"
PORT=29500
mkdir -p plots
python -m http.server $PORT --bind 0.0.0.0 --directory plots >/dev/null 2>&1 &
sleep 1
for attempt in $(seq 1 50); do
  echo "[$(date +%T)] attempt $attempt"
  torchrun --nproc-per-node 2 --master-addr 127.0.0.1 --master-port $PORT "$HERE/pretrain_mlm.py"
  code=$?
  [ $code = 0 ] && break
  echo "[$(date +%T)] training exited with $code, next attempt in 10 s"
  sleep 10
done
