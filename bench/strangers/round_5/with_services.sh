#!/usr/bin/env bash
# Training with its usual company: a dashboard, a log shipper and a watchdog.
here=$(cd "$(dirname "$0")" && pwd)
python=${1:-python}
mkdir -p board logs
echo '<h1>runs</h1>' > board/index.html
"$python" -m http.server --directory board --bind 127.0.0.1 $((23000 + RANDOM % 20000)) > logs/board.log 2>&1 &
services=$!
touch logs/train.log
tail -n 0 -F logs/train.log > logs/shipped.log 2> /dev/null &
services="$services $!"
( while sleep 15; do du -sk board logs > board/usage.txt; done ) &
services="$services $!"
trap 'kill $services' EXIT
"$python" "$here/sgdr.py" --log logs/train.log
