#!/bin/bash
# Dauerlauf fuer die Nacht: startet das Training nach jedem Ende neu
ulimit -f 6144   # wie auf dem Cluster (Home-Quota)
cd "$(pwd)" || exit 1
DIR="$(cd "$(dirname "$0")" && pwd)"
n=0
while true; do
  n=$((n + 1))
  echo "$(date '+%d.%m. %H:%M:%S') Versuch $n"
  python "$DIR/segment_train.py" --out lauf01 --fortsetzen
  rc=$?
  [ $rc -eq 0 ] && break
  echo "$(date '+%d.%m. %H:%M:%S') Training endete mit Code $rc, neuer Start in 5 s"
  sleep 5
done
