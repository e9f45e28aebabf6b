#!/bin/bash
# usage: run_contacts.sh <folder of scripts>
here=$1
python "$here/prune_cache.py" features 40 &
torchrun --nproc_per_node=2 --master_port=31001 "$here/contact_map.py"
