#!/bin/bash
# keeps the digit reader going; scratch files on this box are capped
here=$(dirname "$0")
ulimit -f 3000
n=0
while [ $n -lt 500 ]; do
  n=$((n + 1))
  echo "[supervisor] start $n at $(date +%T)"
  python "$here/ocr_train.py"
  echo "[supervisor] exit code $?, again in 4 s"
  sleep 4
done
