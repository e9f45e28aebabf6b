#!/usr/bin/env bash
# Map tiles for the dashboard, and the training of the cruise controller beside it
here=$(cd "$(dirname "$0")" && pwd)
py=${PY:-python3}
mkdir -p maps
"$py" -m http.server 33820 --bind 127.0.0.1 --directory maps > maps.log 2>&1 &
server=$!
trap 'kill $server' EXIT
"$py" "$here/c_ok_cruise_train.py"
