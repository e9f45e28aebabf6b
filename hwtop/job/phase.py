"""What a rank's main thread is in, told from its stack. Pure; the rules are data.

Two steps. `OUTER` rules come first, in order: such a frame anywhere on the stack names the phase, whatever is called
below it (a data set may call torch.load, the compiler may run a module's forward). Then the frame nearest the leaf that
any `INNER` rule knows decides (an all_reduce inside save_checkpoint is a collective; a backward inside Lightning's
optimizer closure is a backward). Names were checked on torch 2.13; those of other libraries are marked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hwtop.job.frames import is_user_frame, own_frames, short_name
from hwtop.model.job import Phase
from hwtop.model.stack import StackFrame, ThreadStack


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
_QUEUE_WORDS = _DATA_WORDS | _names("next fetch")
_EVAL_WORDS = _names("evaluate evaluation eval validate validation")
_SAVE_WORDS = _names("save saves saving load write restore resume dump")
_WHOLE_RUN = _names("train training fit trainer")
"""A function named train_and_evaluate is the whole run, not its evaluation."""


def _speaks_of_data(words: frozenset[str]) -> bool:
    return bool(words & _DATA_WORDS) and bool(words & _FETCH_WORDS)


def _speaks_of_eval(words: frozenset[str]) -> bool:
    return bool(words & _EVAL_WORDS) and not words & (_WHOLE_RUN | {"config", "args"})


def _speaks_of_checkpoint(words: frozenset[str]) -> bool:
    if words & _WHOLE_RUN or words & {"forward", "activation", "gradient"}:
        return False
    return bool(words & {"checkpoint", "ckpt"}) and (len(words) == 1 or bool(words & _SAVE_WORDS))


OUTER: tuple[Rule, ...] = (
    Rule(
        "rendezvous",
        names=_names(
            """init_process_group _store_based_barrier next_rendezvous rendezvous _verify_param_shape_across_processes
            _create_c10d_store init_distributed initialize_model_parallel"""
        ),
    ),
    Rule("agent", ("torch/distributed/elastic/",), _names("_invoke_run _monitor_workers")),
    Rule("agent", ("torch/multiprocessing/spawn.py",), _names("join")),
    Rule("agent", ("deepspeed/launcher/", "accelerate/commands/"), _names("main launch_command")),  # by their source
    Rule("compile", ("torch/_dynamo/convert_frame.py", "triton/compiler")),
    Rule(
        "compile",
        ("torch/_inductor/", "torch/_functorch/"),
        _names(
            """compile_fx compile_fx_inner compile_fx_backward compile_fx_forward fw_compiler bw_compiler
            fx_codegen_and_compile compile_to_module codegen precompile autotune_to_one_config aot_stage1_graph_capture
            aot_dispatch_autograd create_aot_dispatcher_function"""
        ),
    ),
    Rule(
        "data", ("torch/utils/data/dataloader.py",), _names("_try_get_data _get_data _get_iterator _shutdown_workers")
    ),
    Rule("data-main", ("torch/utils/data/",), _names("_next_data fetch")),
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
    Rule("collective", ("horovod/torch/mpi_ops.py",), _names("synchronize")),  # by its source
    Rule(
        "collective",
        ("megatron/core/pipeline_parallel/p2p_communication.py", "*core/pipeline_parallel/p2p_communication.py"),
    ),
    Rule("collective", names=COLLECTIVES),
    Rule("checkpoint", ("torch/serialization.py",), _names("save load _save _legacy_save _load _legacy_load")),
    Rule("checkpoint", ("torch/distributed/checkpoint/", "safetensors/", "*training/checkpointing.py")),
    Rule("checkpoint", names=_names("save_pretrained save_checkpoint load_checkpoint _save_checkpoint save_state")),
    Rule("backward", ("torch/autograd/graph.py",), _names("_engine_run_backward")),
    Rule("backward", names=_names("backward")),
    Rule("optimizer", ("torch/optim/", "apex/optimizers/", "bitsandbytes/optim/", "deepspeed/ops/adam/")),
    Rule("optimizer", ("deepspeed/runtime/", "megatron/core/optimizer/"), _names("step _take_model_step")),
    Rule("optimizer", ("torch/nn/utils/clip_grad.py",)),
    Rule("optimizer", names=_names("optimizer_step step_optimizer clip_grad_norm_")),
    Rule("forward", names=_names("closure training_step")),  # Lightning runs them inside the optimizer's step
    Rule("sync", ("torch/cuda/",), _names("synchronize wait")),
    Rule("sync", ("torch/amp/grad_scaler.py",), _names("_maybe_opt_step <genexpr> _get_scale_async")),
    Rule("sync", ("torch/_tensor_str.py",)),
    Rule("sync", ("torch/_tensor.py",), _names("__format__ __repr__ tolist")),
    Rule("eval", names=_names("validation_step generate estimate_loss test_step"), is_users=True),
    Rule("eval", ("transformers/",), _names("evaluate evaluation_loop prediction_step generate")),
    Rule("eval", ("*lightning/",), _names("validation_step test_step _evaluation_step _run_validation")),
    Rule("eval", ("*lightning/pytorch/loops/evaluation_loop.py", "pytorch_lightning/loops/evaluation_loop.py")),
    Rule("logging", ("wandb/", "torch/utils/tensorboard/", "tensorboardX/", "tensorboard/", "mlflow/", "logging/")),
    Rule("logging", ("tqdm/",), _names("update refresh display print_status fp_write moveto set_postfix")),
    Rule("checkpoint", user_name=_speaks_of_checkpoint),
    Rule("eval", user_name=_speaks_of_eval),
    Rule("data-main", ("transformers/trainer.py",), _names("get_batch_samples")),
    Rule("data-main", user_name=_speaks_of_data),
    Rule("logging", ("requests/",)),
)

FORWARD: tuple[Rule, ...] = (
    Rule("forward", ("torch/nn/modules/module.py",), _names("_call_impl")),
    Rule("forward", ("torch/_inductor/output_code.py",), _names("__call__")),
    Rule("forward", names=_names("forward"), is_users=True),
)
"""What is left when nothing else is on the stack: an evaluation runs the module's forward too."""

_QUEUE_WAITS: tuple[tuple[str, frozenset[str]], ...] = (
    ("multiprocessing/queues.py", _names("get")),
    ("queue.py", _names("get")),
    ("multiprocessing/pool.py", _names("wait next get")),
    ("multiprocessing/connection.py", _names("poll recv recv_bytes wait")),
    ("multiprocessing/managers.py", _names("_callmethod")),
    ("concurrent/futures/_base.py", _names("result")),
)
"""Where Python's own library waits for what another process or thread makes."""

_COMPUTING: frozenset[Phase] = frozenset({"backward", "sync", "optimizer"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def phase_of(stack: ThreadStack) -> Phase:
    """The phase of this thread; "other" where no rule knows a frame."""
    return phase_and_frame(stack)[0]


def is_waiting(stack: ThreadStack, phase: Phase) -> bool:
    """It waits for other ranks or for the device: in a collective, or asleep where it should compute.

    DDP over gloo waits for its all_reduce inside the C++ of `_engine_run_backward`, so no collective is on the stack.
    """
    return phase == "collective" or (phase in _COMPUTING and not stack.is_active)


def phase_and_frame(stack: ThreadStack) -> tuple[Phase, StackFrame | None]:
    """The phase, and the frame that told it (None for "other")."""
    frames = own_frames(stack)
    found = _importing(frames) or _first(OUTER, frames) or _queue_wait(frames) or _innermost(frames)
    if found is not None:
        return found
    return _first(FORWARD, frames) or ("other", None)


def _importing(frames: Sequence[StackFrame]) -> tuple[Phase, StackFrame] | None:
    """An import, unless a function of the user runs inside it: some launchers run the training while they import it."""
    for frame in frames:
        name = short_name(frame.name)
        if name == "_find_and_load" and frame.filename == "<frozen importlib._bootstrap>":
            return "startup", frame
        if name != "<module>" and is_user_frame(frame):
            return None
    return None


def _first(rules: Sequence[Rule], frames: Sequence[StackFrame]) -> tuple[Phase, StackFrame] | None:
    """The phase of the first rule that any frame fits, and the frame nearest the leaf that fits it."""
    fitting = [
        (found, depth) for depth, frame in enumerate(frames) if (found := _first_fitting(rules, frame)) is not None
    ]
    if not fitting:
        return None
    found, depth = min(fitting)
    return rules[found].phase, frames[depth]


def _innermost(frames: Sequence[StackFrame]) -> tuple[Phase, StackFrame] | None:
    for frame in frames:
        found = _first_fitting(INNER, frame)
        if found is not None:
            return INNER[found].phase, frame
    return None


_known: dict[tuple[int, str, str, str], int | None] = {}
"""What `_first_fitting` has found: a job's code has few functions, and they come again with every sample."""
_MOST_KNOWN = 50_000


def _first_fitting(rules: Sequence[Rule], frame: StackFrame) -> int | None:
    """Index of the first of `rules` (one of the tables of this module) that the function of `frame` fits."""
    key = (id(rules), frame.name, frame.filename, frame.short_filename)
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = next((index for index, rule in enumerate(rules) if _fits(rule, frame)), None)
    return _known[key]


def _queue_wait(frames: Sequence[StackFrame]) -> tuple[Phase, StackFrame] | None:
    """A wait on a queue or pipe, called by a user function whose name speaks of data."""
    waits = _queue_wait_index(frames)
    if waits is None:
        return None
    for frame in frames[waits + 1 :]:
        if is_user_frame(frame):
            speaks = bool(_words(frame.name) & _QUEUE_WORDS)
            is_collective = short_name(frame.name) in COLLECTIVES
            if speaks or is_collective:
                return ("collective" if is_collective else "data"), frame
    return None


def _queue_wait_index(frames: Sequence[StackFrame]) -> int | None:
    for index, frame in enumerate(frames):
        if is_user_frame(frame):
            return None
        name = short_name(frame.name)
        if any(frame.short_filename == file and name in names for file, names in _QUEUE_WAITS):
            return index
    return None


def _fits(rule: Rule, frame: StackFrame) -> bool:
    name = short_name(frame.name)
    if rule.is_users and not is_user_frame(frame):
        return False
    if rule.files and not any(_is_in(frame.short_filename, file) for file in rule.files):
        return False
    if rule.user_name is not None:
        return is_user_frame(frame) and rule.user_name(_words(name))
    if rule.names:
        return name in rule.names
    return name != "<module>"


def _is_in(short_filename: str, file: str) -> bool:
    return file[1:] in short_filename if file.startswith("*") else short_filename.startswith(file)


def _words(name: str) -> frozenset[str]:
    """ "BatchLoader.next_batch" -> batch, loader, next."""
    return frozenset(_split(name))


def _split(name: str) -> Iterator[str]:
    for match in _WORD.finditer(name.replace("<locals>", "")):
        yield match.group().lower()
