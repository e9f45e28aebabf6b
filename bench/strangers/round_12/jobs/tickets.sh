#!/bin/bash
# supervised training: starts again after a failure
ulimit -f 600   # house rule: no large files in homes
n=0
until python "$1"; do
  status=$?
  n=$((n + 1))
  echo "[supervise] exit status $status, restart no. $n in 4 s"
  sleep 4
done
