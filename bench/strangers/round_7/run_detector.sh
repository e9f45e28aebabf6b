#!/bin/bash
# partition "small": one core
[ -n "$PACKAGES" ] && export PATH="$PACKAGES/bin:$PACKAGES:$PATH"
export DETECT_WORKERS=${DETECT_WORKERS:-2}
exec taskset -c "${CORES:-1}" python "$(dirname "$0")/detector.py"
