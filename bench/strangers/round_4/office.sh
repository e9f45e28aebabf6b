#!/bin/bash
# starts the store if nobody has, then the training. Arguments: port workers [flaky]
here=$(dirname "$(readlink -f "$0")")
[ "$3" = flaky ] && touch flaky
python "$here/blobserver.py" "$1" &
sleep 2
PYTHONUNBUFFERED=1 python "$here/fetch_train.py" "http://127.0.0.1:$1" "$2"
