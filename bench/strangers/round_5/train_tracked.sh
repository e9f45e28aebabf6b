#!/usr/bin/env bash
# usage: train_tracked.sh PYTHON   - tracker and two processes on one machine
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${1:-python}
port=$((20000 + RANDOM % 20000))
"$python" "$here/tracker.py" "$port" &
tracker=$!
trap 'kill $tracker' EXIT
export TRACKER_URL="http://127.0.0.1:$port/points" OMP_NUM_THREADS=1
"$python" -m torch.distributed.run --standalone --nproc-per-node=2 "$here/image_clf.py" --epochs 500
