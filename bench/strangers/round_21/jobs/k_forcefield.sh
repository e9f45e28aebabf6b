#!/bin/bash
set -e
g++ -O2 -o ff "$(dirname "$0")/k_forcefield.cpp"
exec ./ff
