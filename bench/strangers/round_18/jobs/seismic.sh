#!/bin/bash
# Two shots at the velocity model; they average their weights through the folder exchange/
here=$(dirname "$0")
mkdir -p exchange
touch shot0.log
export WORLD_SIZE=2
for r in 0 1; do
    RANK=$r "$1" "$here/seismic.py" > "shot$r.log" 2>&1 &
done
tail -q -f shot0.log &
tailpid=$!
wait %1 %2
kill $tailpid
