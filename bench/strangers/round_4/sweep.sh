#!/usr/bin/env bash
# grid search, one trial after another, forever (ctrl-c when bored)
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
n=0
while true; do
  for lr in 0.0003 0.001 0.003; do
    for hidden in 128 256 384; do
      n=$((n + 1))
      echo ">>> trial $n"
      python "$HERE/trial.py" --lr $lr --hidden $hidden --steps "${STEPS:-600}" | tee -a "trial_$n.log"
    done
  done
done
