#!/bin/bash
export WORLD_SIZE=3
for site in 0 1 2; do
  RANK=$site LOCAL_RANK=$site python "$1" &
done
wait
echo "all sites done"
