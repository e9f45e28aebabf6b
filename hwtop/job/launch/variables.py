"""Which variables of an environment decide how a training job runs."""

from __future__ import annotations

from hwtop.lazy_regex import lazy_regex

_TRAINING = lazy_regex(
    r"(?:\w+_)?RANK$|(?:\w+_)?WORLD_SIZE$|MASTER_(?:ADDR|PORT)$|NPROC|NNODES|LD_(?:LIBRARY_PATH|PRELOAD)$|VIRTUAL_ENV$|CONDA_DEFAULT_ENV$"
    r"|(?:NCCL|RCCL|TORCH|TORCHELASTIC|TORCHINDUCTOR|PYTORCH|TRITON|GLOO|TP|UCX|UCC|FI|IBV|OMPI|PMIX?|MPI|MV2|I_MPI|HYDRA|SLURM"
    r"|HOROVOD|RAY|DS|DEEPSPEED|ACCELERATE|FSDP|LIGHTNING|PL|HF|TRANSFORMERS|DIFFUSERS|DATASETS|TOKENIZERS|WANDB|MLFLOW"
    r"|XLA|JAX|TF(?!_CLI|_VAR)|LIBTPU|TPU|NEURON|OMP|KMP|GOMP|MKL|OPENBLAS|BLIS|NUMEXPR|NUMBA|MALLOC|LD_BIND|PYTHON[A-Z]*"
    r"|CUDA|CUDNN|CUBLAS|NVIDIA|NVTE|NVSHMEM|HIP|HSA|ROCR|ROCM|MIOPEN|GPU|ZE|SYCL|TMPDIR|TORCH_HOME)(?:_\w*)?$"
)
"""Names and families: torch.distributed.run, the documentation of NCCL, Gloo, UCX, libfabric and Slurm, OpenMP and BLAS
threads, CUDA and ROCm, Hugging Face and trackers. TF_CLI and TF_VAR are those of Terraform."""


def is_training_variable(name: str) -> bool:
    """Whether it places the process in its job, or tunes what it computes with."""
    return _TRAINING.match(name) is not None
