#!/bin/bash
here=$(dirname "$0")
python "$here/object_store.py" 31021 &
store=$!
trap 'kill $store' EXIT
sleep 1
python "$here/kafelki.py" --store http://127.0.0.1:31021
