#!/usr/bin/env bash
# Keep the run alive on a shared host: continue from the last checkpoint whenever it ends.
here=$(cd "$(dirname "$0")" && pwd)
py=${PY:-python}
[ -x "$py" ] || py=python
ulimit -f "${FILE_BLOCKS:-unlimited}"
until "$py" "$here/resume_train.py" --dir state "$@" 2>&1 | tee -a train.log; [ "${PIPESTATUS[0]}" = 0 ]; do
    echo "$(date +%T) trainer ended, next try in 2 s" | tee -a train.log
    sleep 2
done
