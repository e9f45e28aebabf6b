#!/bin/sh
# one node of the pretraining job
[ -n "$PACKAGES" ] && export PATH="$PACKAGES/bin:$PACKAGES:$PATH"

HERE=$(dirname "$0")
export NODE_RANK=${NODE_RANK:-0}
echo "[$(date +%T)] node $NODE_RANK of ${NNODES:-1}, endpoint 127.0.0.1:$PORT"
exec torchrun --nnodes=${NNODES:-1} --nproc-per-node=2 --rdzv-backend=c10d --rdzv-id=pretrain7 \
  --rdzv-endpoint=127.0.0.1:$PORT "$HERE/minilm.py" "$@"
