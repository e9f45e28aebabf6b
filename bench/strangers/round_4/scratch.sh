#!/bin/bash
# every user gets a scratch space of fixed size for the duration of the job: scratch.sh SIZE COMMAND...
size=$1; shift
mkdir -p scratch
exec unshare -m bash -c 'mount -t tmpfs -o size='"$size"' scratch scratch && exec "$@"' job "$@"
