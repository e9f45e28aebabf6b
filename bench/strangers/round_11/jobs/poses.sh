#!/bin/bash
# lift 2d poses to 3d; small warm-up first, then the wide model, kept alive
here=$(dirname "$0")
python "$here/poses.py" --width 64 --steps 301
n=0
until python "$here/poses.py" --width 96; do
  code=$?
  n=$((n + 1))
  echo "$(date +%T) trainer ended with $code, start no. $n follows"
  sleep 3
done
