#!/bin/bash
# keep the run alive over the weekend
n=0
until python "$(dirname "$0")/train_routes.py"; do
    code=$?
    n=$((n + 1))
    echo "$(date +%T) run ended with $code, restart $n in 3 s"
    sleep 3
done
