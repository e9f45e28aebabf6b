#!/usr/bin/env bash
# Dialect classifier, one trainer for each line of workers.txt
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cat > workers.txt <<'W'
north 0
south 1

W
export MASTER_ADDR=127.0.0.1 MASTER_PORT=33802
export WORLD_SIZE=$(wc -l < workers.txt)
mkdir -p logs
while read -r region number; do
    [ -n "$region" ] || continue
    echo "start $region as number $number"
    RANK=$number LOCAL_RANK=$number REGION=$region "${PY:-python3}" "$here/c_dialect_train.py" 2>&1 | sed -u "s/^/$region: /" | tee "logs/$region.log" &
done < workers.txt
wait
