"""Which frame means which phase: the tables that `hwtop.job.stacks.phase` reads.

Names were checked on torch 2.13, Lightning 2.6, Accelerate 1.15 and DeepSpeed 0.19. Those of JAX, transformers, Orbax, Megatron,
Horovod, torchdata, DALI and TensorFlow come from their public APIs; no stack of a job that runs them was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hwtop.model.rank import Phase


class Rule(NamedTuple):
    """A frame fits when its short file name starts with (or, with a leading "*", contains) one of `files` and its last
    name component is one of `names`; an empty tuple or set fits all. Module level code fits file rules only by name."""

    phase: Phase
    files: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    user_name: Callable[[frozenset[str]], bool] | None = None
    """Instead of `names`: a test of the words of a user function's name."""
    is_users: bool = False
    """Fits frames of the user's own code only."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


C10D = _names(
    """all_reduce all_reduce_coalesced broadcast barrier monitored_barrier all_gather all_gather_into_tensor
    all_gather_coalesced all_gather_object reduce reduce_scatter reduce_scatter_tensor all_to_all all_to_all_single
    send recv isend irecv batch_isend_irecv scatter gather gather_object scatter_object_list broadcast_object_list
    send_object_list recv_object_list"""
)
"""Blocking functions of torch/distributed/distributed_c10d.py."""

COLLECTIVES = _names(
    """all_reduce allreduce barrier all_gather allgather broadcast reduce_scatter reducescatter all_to_all alltoall
    all_gather_object broadcast_object_list wait_for_everyone"""
)
"""Names that mean the same in any file."""

_DATA_WORDS = _names("batch batches data dataset loader dataloader sample samples prefetch prefetcher minibatch")
_FETCH_WORDS = _names("load get next fetch read prefetch collate")
QUEUE_WORDS = _DATA_WORDS | _names(
    "next fetch rollout rollouts trajectory trajectories experience episode episodes replay"
)
"""What a learner of reinforcement learning takes from a queue is its data too."""
_PREPARING = _names(
    """tokenize tokenizer tokenization augment augmentation augmentations preprocess preprocessing collate collator
    featurize vectorize decompress minibatches"""
)
_READING = _names("read reader fetch fetcher")
_MAKING = _FETCH_WORDS | _names(
    "make build create prepare iterate iter draw sample form pack unpack decode parse transform shuffle stream resize crop open"
)
_ITEMS = _names(
    """image images jpeg png audio wav video clip example examples record records row rows shard shards document documents
    item items file files feature features"""
)
_NO_DATA_WORDS = _names("model loss losses optimizer weights weight checkpoint state params metrics grad grads log")
_EVAL_WORDS = _names("evaluate evaluation eval validate validation heldout holdout")
_SAVE_WORDS = _names("save saves saving load write restore resume dump")
_STORING = _names("save saves saving persist dump upload backup")
_OF_A_MODEL = _names("model models weights state states params parameters optimizer best last latest")
_WHOLE_RUN = _names("train training fit trainer")
"""A function named train_and_evaluate is the whole run, not its evaluation."""


_LOG_WORDS = _names("log logs logging report reporting")
_METRIC_WORDS = _names("metric metrics stats statistics scalars telemetry histograms wandb tensorboard")


def _speaks_of_data(words: frozenset[str]) -> bool:
    return bool(words & _DATA_WORDS) and bool(words & _FETCH_WORDS) and not words & _NO_DATA_WORDS


def _prepares_data(words: frozenset[str]) -> bool:
    """`tokenize`, `make_batch`, `decode_image`, `collate_fn`, `read`."""
    if words & _NO_DATA_WORDS:
        return False
    return bool(words & _PREPARING or words <= _READING or (words & _MAKING and words & (_DATA_WORDS | _ITEMS)))


def _speaks_of_eval(words: frozenset[str]) -> bool:
    return bool(words & _EVAL_WORDS) and not words & (_WHOLE_RUN | {"config", "args"})


def _speaks_of_logging(words: frozenset[str]) -> bool:
    """`report`, `log_metrics`, `write_stats`, `log_step`; not `log_prob` and other logarithms."""
    if not words & _LOG_WORDS:
        return bool(words & {"write", "dump", "push", "publish"}) and bool(words & _METRIC_WORDS)
    return words <= _LOG_WORDS | _METRIC_WORDS | {"step", "epoch", "progress", "training"}


def _speaks_of_checkpoint(words: frozenset[str]) -> bool:
    if words & _WHOLE_RUN or words & {"forward", "activation", "gradient"}:
        return False
    if words & {"checkpoint", "ckpt", "snapshot"}:
        return len(words) == 1 or bool(words & _SAVE_WORDS)
    return words <= _STORING or bool(words & _STORING and words & _OF_A_MODEL)


OUTER: tuple[Rule, ...] = (
    Rule(
        "rendezvous",
        names=_names(
            """init_process_group _store_based_barrier next_rendezvous rendezvous _verify_param_shape_across_processes
            _create_c10d_store init_distributed initialize_model_parallel init_device_mesh"""
        ),
    ),
    Rule("rendezvous", ("jax/_src/distributed.py",), _names("initialize")),
    Rule("startup", ("jax/_src/xla_bridge.py",), _names("backends _init_backend")),
    Rule("agent", ("torch/distributed/elastic/",), _names("_invoke_run _monitor_workers")),
    Rule("agent", ("torch/multiprocessing/spawn.py",), _names("join")),
    Rule("agent", ("deepspeed/launcher/", "accelerate/commands/"), _names("main launch_command")),
    Rule("compile", ("torch/_dynamo/convert_frame.py", "triton/compiler")),
    Rule(
        "compile",
        ("torch/_inductor/", "torch/_functorch/"),
        _names(
            """compile_fx compile_fx_inner compile_fx_backward compile_fx_forward fw_compiler bw_compiler
            fx_codegen_and_compile compile_to_module codegen precompile autotune_to_one_config aot_stage1_graph_capture
            aot_dispatch_autograd create_aot_dispatcher_function benchmark_all_configs coordinate_descent_tuning"""
        ),
    ),
    Rule("compile", ("triton/runtime/autotuner.py",), _names("_bench benchmark")),
    Rule(
        "compile",
        ("jax/_src/compiler.py", "jax/_src/interpreters/"),
        _names(
            """compile_or_get_cached backend_compile backend_compile_and_load lower_jaxpr_to_module lower_sharding_computation
            trace_to_jaxpr trace_to_jaxpr_dynamic from_hlo"""
        ),
    ),
    Rule(
        "data",
        ("torch/utils/data/dataloader.py", "torchdata/stateful_dataloader/"),
        _names("_try_get_data _get_data _get_iterator _shutdown_workers"),
    ),
    Rule("data-main", ("torch/utils/data/", "torchdata/stateful_dataloader/"), _names("_next_data fetch")),
    Rule("data", ("nvidia/dali/pipeline.py",), _names("outputs share_outputs")),
    Rule("data", ("nvidia/dali/plugin/",), _names("_get_outputs __next__")),
    Rule("data", ("tensorflow/python/data/ops/iterator_ops.py",), _names("__next__ _next_internal")),
)

INNER: tuple[Rule, ...] = (
    Rule("collective", ("torch/distributed/distributed_c10d.py",), C10D),
    Rule(
        "collective",
        ("torch/nn/parallel/distributed.py", "torch/distributed/utils.py"),
        _names("_sync_buffers _sync_module_states _distributed_broadcast_coalesced _sync_params_and_buffers"),
    ),
    Rule(
        "collective",
        ("torch/distributed/_functional_collectives.py", "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py"),
        _names(
            """all_reduce broadcast wait_tensor all_gather_tensor reduce_scatter_tensor all_to_all_single
            foreach_all_gather foreach_reduce foreach_all_gather_copy_out"""
        ),
    ),
    Rule("collective", ("torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py",), _names("wait_for_unshard")),
    Rule(
        "collective",
        ("torch/distributed/tensor/_collective_utils.py",),
        _names("mesh_scatter mesh_broadcast shard_dim_alltoall"),
    ),
    Rule("collective", ("torch/distributed/pipelining/schedules.py",), _names("_wait_batch_p2p")),
    Rule("collective", ("deepspeed/runtime/zero/partition_parameters.py",), _names("wait")),
    Rule(
        "collective",
        ("jax/experimental/multihost_utils.py",),
        _names("sync_global_devices process_allgather broadcast_one_to_all assert_equal"),
    ),
    Rule("collective", ("horovod/torch/mpi_ops.py",), _names("synchronize")),
    Rule(
        "collective",
        ("megatron/core/pipeline_parallel/p2p_communication.py", "*core/pipeline_parallel/p2p_communication.py"),
    ),
    Rule("collective", names=COLLECTIVES),
    Rule("checkpoint", ("torch/serialization.py",), _names("save _save _legacy_save")),
    Rule(
        "checkpoint",
        (
            "torch/distributed/checkpoint/",
            "safetensors/",
            "orbax/",
            "flax/training/checkpoints.py",
            "accelerate/checkpointing.py",
            "deepspeed/runtime/checkpoint_engine/",
            "lightning/fabric/plugins/io/",
            "lightning_fabric/plugins/io/",
            "*training/checkpointing.py",
            "*core/dist_checkpointing/",
        ),
    ),
    Rule("checkpoint", ("*fabric/utilities/cloud_io.py",), _names("_atomic_save _load")),
    Rule(
        "checkpoint",
        ("*callbacks/model_checkpoint.py",),
        _names("_save_checkpoint _save_topk_checkpoint _save_last_checkpoint _save_monitor_checkpoint"),
    ),
    Rule(
        "checkpoint", ("transformers/trainer.py",), _names("_save_optimizer_and_scheduler save_model _save_rng_state")
    ),
    Rule("checkpoint", names=_names("save_pretrained save_checkpoint load_checkpoint _save_checkpoint save_state")),
    Rule("backward", ("torch/autograd/graph.py",), _names("_engine_run_backward")),
    Rule("backward", names=_names("backward")),
    Rule("optimizer", ("torch/optim/", "apex/optimizers/", "bitsandbytes/optim/", "deepspeed/ops/adam/")),
    Rule("optimizer", ("deepspeed/runtime/", "megatron/core/optimizer/"), _names("step _take_model_step")),
    Rule("optimizer", ("torch/nn/utils/clip_grad.py",)),
    Rule("optimizer", names=_names("optimizer_step step_optimizer clip_grad_norm_")),
    Rule("forward", names=_names("closure training_step")),  # Lightning runs them inside the optimizer's step
    Rule("sync", ("torch/cuda/", "torch/xpu/", "torch/mps/", "torch_npu/npu/"), _names("synchronize wait")),
    Rule("sync", ("torch/accelerator/__init__.py",), _names("synchronize")),
    Rule("sync", ("torch_xla/",), _names("mark_step wait_device_ops sync")),
    Rule("sync", ("torch/amp/grad_scaler.py",), _names("_maybe_opt_step <genexpr> _get_scale_async get_scale")),
    Rule("sync", ("torch/_tensor_str.py",)),
    Rule("sync", ("torch/_tensor.py",), _names("__format__ __repr__ tolist")),
    Rule("sync", ("*fabric/utilities/apply_func.py",), _names("convert_tensors_to_scalars to_item")),
    Rule("sync", ("jax/_src/api.py",), _names("block_until_ready device_get")),
    Rule(
        "sync",
        ("jax/_src/array.py",),
        _names("block_until_ready _value __array__ __float__ __int__ __bool__ item tolist"),
    ),
    Rule("eval", names=_names("validation_step generate estimate_loss test_step"), is_users=True),
    Rule("eval", ("transformers/",), _names("evaluate evaluation_loop prediction_step generate")),
    Rule("eval", ("*lightning/",), _names("validation_step test_step _evaluation_step _run_validation")),
    Rule("eval", ("*lightning/pytorch/loops/evaluation_loop.py", "pytorch_lightning/loops/evaluation_loop.py")),
    Rule(
        "logging",
        (
            "wandb/",
            "torch/utils/tensorboard/",
            "tensorboardX/",
            "tensorboard/",
            "tensorflow/python/ops/summary_ops_v2.py",
            "mlflow/",
            "comet_ml/",
            "neptune/",
            "clearml/",
            "swanlab/",
            "trackio/",
            "logging/",
            "loguru/",
            "absl/logging/",
            "rich/",
            "accelerate/tracking.py",
            "deepspeed/monitor/",
            "lightning/fabric/loggers/",
            "lightning_fabric/loggers/",
            "lightning/pytorch/loggers/",
            "pytorch_lightning/loggers/",
        ),
    ),
    Rule("logging", ("tqdm/",), _names("update refresh display print_status fp_write moveto set_postfix")),
    Rule("checkpoint", user_name=_speaks_of_checkpoint),
    Rule("logging", user_name=_speaks_of_logging),
    Rule("eval", user_name=_speaks_of_eval),
    Rule("data-main", ("transformers/trainer.py",), _names("get_batch_samples")),
    Rule("data-main", user_name=_speaks_of_data),
)

FORWARD: tuple[Rule, ...] = (
    Rule("checkpoint", ("torch/serialization.py",), _names("load _load _legacy_load")),
    Rule("forward", ("torch/nn/modules/module.py",), _names("_call_impl")),
    Rule("forward", ("torch/_inductor/output_code.py",), _names("__call__")),
    Rule("forward", names=_names("forward"), is_users=True),
    Rule("forward", ("jax/_src/interpreters/pxla.py",), _names("__call__")),
)
"""What is left when nothing else is on the stack: an evaluation runs the module's forward too, and a function that loads
batches may read them with torch.load."""

PREPARING: tuple[Rule, ...] = (Rule("data-main", user_name=_prepares_data),)
"""Where no module runs, and nothing else is known: a user's function that makes batches of what was read."""

QUEUE_WAITS: tuple[tuple[str, frozenset[str]], ...] = (
    ("multiprocessing/queues.py", _names("get")),
    ("queue.py", _names("get")),
    ("multiprocessing/pool.py", _names("wait next get")),
    ("multiprocessing/connection.py", _names("poll recv recv_bytes wait")),
    ("multiprocessing/managers.py", _names("_callmethod")),
    ("concurrent/futures/_base.py", _names("result")),
)
"""Where Python's own library waits for what another process or thread makes."""
