#!/bin/bash
# copied from the cluster (64 cores per node there)
#SBATCH --cpus-per-task=32
HERE="$(dirname "$(readlink -f "$0")")"
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-32}
export MASTER_PORT=29655
torchrun --nproc-per-node 2 --master-port $MASTER_PORT "$HERE/pretrain_mlm.py"
