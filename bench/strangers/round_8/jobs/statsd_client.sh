#!/usr/bin/env bash
ulimit -n 4096
exec python "$(dirname "$(readlink -f "$0")")/statsd_client.py" "$@"
