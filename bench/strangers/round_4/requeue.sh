#!/bin/sh
# keeps a job alive on the preemptible partition: requeue.sh SCRIPT [ARGS]
script=$1; shift
n=0
while [ $n -lt 40 ]; do
  n=$((n + 1))
  echo "--- run $n of $script at $(date)"
  python "$script" "$@" && exit 0
  echo "--- run $n ended with code $?, requeue in 12 s"
  sleep 12
done
