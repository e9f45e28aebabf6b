#!/bin/bash
# the project volume is small, mount it privately
set -e
mkdir -p volumen
mount -t tmpfs -o size=64m tmpfs volumen
exec python "$(dirname "$0")/lit_anomaly.py"
