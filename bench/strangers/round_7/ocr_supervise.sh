#!/bin/bash
# keeps the OCR trainer running (it goes on from ocr.pt)
[ -n "$PACKAGES" ] && export PATH="$PACKAGES/bin:$PACKAGES:$PATH"
here=$(dirname "$0")
n=0
while [ $n -lt ${TRIES:-40} ]; do
  python -X faulthandler -u "$here/ocr.py" >> ocr.log 2>&1 && exit 0
  code=$?
  n=$((n + 1))
  echo "$(date '+%F %T') trainer ended with $code, start no. $n" >> supervise.log
  sleep 2
done
