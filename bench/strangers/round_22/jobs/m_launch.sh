#!/bin/bash
# usage: m_launch.sh PYTHON
# starts one trainer per line of machines.txt
here=$(cd "$(dirname "$0")" && pwd)
py=$1

cat > machines.txt <<EOF
127.0.0.1
127.0.0.1

EOF

mapfile -t machines < machines.txt
export WORLD_SIZE=${#machines[@]}
export MASTER_ADDR=${machines[0]} MASTER_PORT=23142

rank=0
for m in "${machines[@]}"; do
    [ -z "$m" ] && continue
    RANK=$rank "$py" "$here/m_crystal.py" 2>&1 | sed -u "s/^/$m.$rank | /" &
    rank=$((rank + 1))
done
wait
