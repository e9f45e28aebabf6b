#!/bin/bash
set -e
d=$(dirname "$0")
python "$d/prepare_shards.py"
exec torchrun --nproc_per_node 2 --master_addr 127.0.0.1 --master_port 31010 "$d/ecg_ddp.py"
