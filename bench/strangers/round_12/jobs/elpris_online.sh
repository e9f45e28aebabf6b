#!/bin/bash
# mätare -> spool -> online-inlärning
mkdir -p spool
here="$(dirname "$0")"
python "$here/elpris_online.py" matare &
exec python "$here/elpris_online.py" inlarning
