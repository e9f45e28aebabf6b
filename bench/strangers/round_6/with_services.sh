#!/usr/bin/env bash
# Training together with the things that people look at meanwhile: a file server and a watcher of the metrics.
here=$(cd "$(dirname "$0")" && pwd)
py=${PY:-python}
[ -x "$py" ] || py=python
"$py" -m http.server --bind 127.0.0.1 0 >server.out 2>&1 &
"$py" -c '
import multiprocessing.connection as c
with c.Listener(("127.0.0.1", 0)) as listener:
    listener.accept()
' &
(tail -F metrics.jsonl 2>/dev/null | grep --line-buffered '"step": [0-9]*00,' >summary.txt) &
trap 'kill $(jobs -p)' EXIT
"$py" "$here/tabular_mlp.py"
