#!/bin/bash
# Prognoza temperatury: producenci wpisują pomiary do kolejki, trener czyta je strumieniem.
here=$(cd "$(dirname "$0")" && pwd)
fifo=$PWD/pomiary.fifo
rm -f "$fifo"; mkfifo "$fifo"
python "$here/stacje_trener.py" < "$fifo" &
trener=$!
exec 3>"$fifo"     # kolejka otwarta, dopóki zmieniają się producenci
for rok in 2017 2018; do
    python "$here/stacje_pomiary.py" "$rok" >&3
    echo "[$(date +%T)] producent $rok skończył"
done
wait $trener
echo "[$(date +%T)] koniec, kod $?"
rm -f "$fifo"
