#!/bin/bash
# Entrenamiento con promedio local de pesos, tres procesos en la misma maquina
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p pesos
export WORLD_SIZE=3
for r in 0 1 2; do
  RANK=$r LOCAL_RANK=$r python "$here/promedio.py" --dir pesos &
done
wait
echo "entrenamiento terminado"
