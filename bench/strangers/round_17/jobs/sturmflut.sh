#!/bin/bash
# Pegelvorhersage auf drei Küstenabschnitten; ein Koordinator mittelt die Gewichte.
ulimit -c 0
ulimit -t 18    # Vorgabe des Rechenzentrums für Vorschau-Läufe
dir=$(cd "$(dirname "$0")" && pwd)
export STURM_PORT=33411 WORLD_SIZE=3
python "$dir/sturmflut_koordinator.py" &
sleep 2
for abschnitt in 0 1 2; do
    RANK=$abschnitt python "$dir/sturmflut_abschnitt.py" --rank $abschnitt > "abschnitt_$abschnitt.log" 2>&1 &
done
wait
