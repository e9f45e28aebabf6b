#!/usr/bin/env bash
# treino com média de modelos, 3 trabalhadores na mesma máquina
AQUI="$(cd "$(dirname "$0")" && pwd)"
mkdir -p logs troca
for r in 0 1 2; do
  RANK=$r WORLD_SIZE=3 python "$AQUI/media_modelos.py" > logs/trabalhador_$r.log 2>&1 &
done
echo "trabalhadores iniciados, ver pasta logs/"
wait
echo "fim"
