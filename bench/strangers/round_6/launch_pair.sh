#!/usr/bin/env bash
# Start the trainer and its gradient worker on this host, one log each.
here=$(cd "$(dirname "$0")" && pwd)
py=${PY:-python}
[ -x "$py" ] || py=python
export MASTER_PORT=$((20000 + RANDOM % 20000)) WORLD_SIZE=2 MASTER_ADDR=127.0.0.1
tries=${TRIES:-1}
for n in $(seq "$tries"); do
    for r in 0 1; do
        RANK=$r LOCAL_RANK=$r ATTEMPT=$n "$py" "$here/pair_worker.py" >>"rank$r.log" 2>&1 &
    done
    code=0
    for job in $(jobs -p); do wait "$job" || code=$?; done
    [ "$code" = 0 ] && break
    echo "attempt $n ended, starting again"
    sleep 1
done
