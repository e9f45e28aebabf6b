#!/bin/sh
# trainer and evaluator side by side
H="$(cd "$(dirname "$0")" && pwd)"
mkdir -p ckpt
python "$H/weather_eval.py" ckpt > eval.log 2>&1 &
EV=$!
trap 'kill $EV 2>/dev/null' EXIT
python "$H/weather_train.py" ckpt
