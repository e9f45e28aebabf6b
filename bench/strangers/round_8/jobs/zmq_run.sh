#!/bin/sh
# feed on one side, trainer on the other
d=$(dirname "$(readlink -f "$0")")
python "$d/zmq_feeder.py" ipc://feed.sock &
exec python "$d/zmq_trainer.py" --source ipc://feed.sock
