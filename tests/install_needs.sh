#!/usr/bin/env bash
# Programs that the tests drive: gcc builds the fake NVIDIA driver, tmux is the terminal, setpriv takes rights away.
set -euo pipefail

missing=()
command -v gcc >/dev/null || missing+=(gcc)
command -v tmux >/dev/null || missing+=(tmux)
command -v setpriv >/dev/null || missing+=(util-linux)
((${#missing[@]})) || exit 0

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo -n)
echo "installing what the tests drive: ${missing[*]}"
if command -v apt-get >/dev/null; then
  [[ " ${missing[*]} " == *" gcc "* ]] && missing+=(libc6-dev)
  "${as_root[@]}" apt-get update -qq && "${as_root[@]}" apt-get install -y -qq "${missing[@]}" >/dev/null && exit 0
elif command -v dnf >/dev/null; then
  "${as_root[@]}" dnf install -y -q "${missing[@]}" && exit 0
fi
echo "the tests need ${missing[*]}: install them with your package manager, then try again" >&2
exit 1
