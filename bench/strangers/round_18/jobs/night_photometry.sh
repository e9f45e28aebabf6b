#!/bin/bash
# Batch slot of the observatory: modest limits for everyone.
ulimit -f 1024
exec "$1" "$(dirname "$0")/night_photometry.py"
