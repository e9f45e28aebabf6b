#!/usr/bin/env bash
# Start the workers of one experiment; "hosts" lists a host per line, here all are this machine.
here=$(cd "$(dirname "$0")" && pwd)
python=${1:-python}
printf '%s\n' localhost localhost localhost "# localhost" > hosts
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$((22000 + RANDOM % 20000)) OMP_NUM_THREADS=1
export WORLD_SIZE=$(wc -l < hosts)
rank=0
while read -r host; do
  case $host in \#*) continue ;; esac
  echo "starting rank $rank on $host"
  RANK=$rank "$python" "$here/power_flow.py" &
  rank=$((rank + 1))
done < hosts
wait
