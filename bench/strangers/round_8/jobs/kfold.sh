#!/usr/bin/env bash
# ten folds, three seeds each, one after the other; every fold keeps its own log
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
mkdir -p folds
for seed in 1 2 3; do
  for fold in 0 1 2 3 4 5 6 7 8 9; do
    echo "== seed $seed fold $fold =="
    python "$here/kfold_fit.py" --seed "$seed" --fold "$fold" | tee "folds/s${seed}_f${fold}.txt"
  done
done
echo "all folds done"
