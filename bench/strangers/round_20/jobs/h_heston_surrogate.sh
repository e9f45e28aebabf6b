#!/bin/bash
set -e
here=$(dirname "$(readlink -f "$0")")
g++ -O2 -g -pthread -o heston_surrogate "$here/h_heston_surrogate.cpp"
exec ./heston_surrogate
