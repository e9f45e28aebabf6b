#!/bin/bash
# One process per line of hosts.txt (all are this machine for now)
here=$(dirname "$(readlink -f "$0")")
export MASTER_ADDR=127.0.0.1 MASTER_PORT=29671 OMP_NUM_THREADS=1
export WORLD_SIZE=$(grep -c . "$here/hosts.txt")
rank=0
while read -r host; do
  echo "starting rank $rank of $WORLD_SIZE on $host"
  RANK=$rank LOCAL_RANK=$rank python "$here/rec_train.py" < /dev/null &
  rank=$((rank + 1))
done < "$here/hosts.txt"
wait
