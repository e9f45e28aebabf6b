#!/bin/bash
# own scratch for the run, as on the cluster
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p scratch
exec unshare -m bash -c "mount -t tmpfs -o size=24m tmpfs scratch && exec python '$here/kirje.py'"
