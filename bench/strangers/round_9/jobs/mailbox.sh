#!/usr/bin/env bash
# Two ranks, a log for each. The store that they meet in runs in rank 0.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export WORLD_SIZE=2 STORE_PORT=30009
mkdir -p logs
for rank in 0 1; do
    RANK=$rank python "$here/mailbox_avg.py" --steps 50000 >"logs/rank$rank.log" 2>&1 &
    echo "rank $rank is $!"
done
wait
echo finished
