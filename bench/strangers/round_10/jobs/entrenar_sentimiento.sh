#!/bin/bash
aqui=$(dirname "$0")
export PUERTO_SIN=31001
python "$aqui/servidor_sinonimos.py" $PUERTO_SIN &
torchrun --nproc_per_node 2 --master_addr 127.0.0.1 --master_port 31000 "$aqui/sentimiento.py"
