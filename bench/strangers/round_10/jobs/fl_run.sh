#!/usr/bin/env bash
# Simulación local del estudio multicentro: un servidor y tres hospitales.
set -u
HERE="$(cd "$(dirname "$0")" && pwd)"
export FL_HOST=127.0.0.1 FL_PORT=31101 WORLD_SIZE=3

python "$HERE/fl_server.py" --centros 3 --rondas 5000 &
SRV=$!
sleep 1
for r in 0 1 2; do
  RANK=$r python "$HERE/fl_hospital.py" >"hospital_$r.log" 2>&1 &
done
wait $SRV
