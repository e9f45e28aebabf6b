#!/usr/bin/env bash
# Spot instances: start again from the last state until the run is through.
here=$(cd "$(dirname "$0")" && pwd)
python=${1:-python}
for attempt in 1 2 3 4 5 6; do
  echo "$(date -u +%FT%TZ) attempt $attempt"
  "$python" "$here/spot_train.py" --attempt "$attempt" 2>&1 | tee -a spot.log
  if [ "${PIPESTATUS[0]}" -eq 0 ]; then break; fi
  echo "$(date -u +%FT%TZ) exit code ${PIPESTATUS[0]}, again in 2 s"
  sleep 2
done
