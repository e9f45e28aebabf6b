from __future__ import annotations

import pytest
from msgspec import structs

from hwtop.collectors.stacks.pyspy import PySpy
from hwtop.job.stacks.classified import classified
from hwtop.job.stacks.frames import normalise, own_frames, user_frame
from hwtop.job.stacks.phase import is_waiting, phase_and_frame
from hwtop.model.rank_stack import Phase
from hwtop.model.stack import ThreadStack
from tests.stack_jobs import TORCH_JOB, children, recorded, running, stack, two_ranks, until


def phase_of(thread: ThreadStack, *, has_device: bool = False) -> Phase:
    return classified(thread.frames, has_device).phase


@pytest.mark.parametrize(
    ("name", "phase", "reporter", "waits"),
    [
        ("torch_importing", "startup", "_find_and_load", False),
        ("torch_compiling", "compile", "trace_frame.<locals>.run_tracer", False),
        ("torch_compiled_forward", "forward", "Module._call_impl", False),
        ("torch_data_wait", "data", "_MultiProcessingDataLoaderIter._try_get_data", False),
        ("torch_data_main", "data-main", "_MapDatasetFetcher.fetch", False),
        ("torch_save", "checkpoint", "_save", False),
        ("torch_backward", "backward", "_engine_run_backward", False),
        ("torch_adamw", "optimizer", "_single_tensor_adam", False),
        ("torch_forward", "forward", "Module._call_impl", False),
        ("gloo_rank0_broadcast", "collective", "broadcast", True),
        ("gloo_rank1_all_reduce", "collective", "all_reduce", True),
        ("gloo_ddp_backward_waits", "backward", "_engine_run_backward", True),
        ("torchrun_agent", "agent", "SimpleElasticAgent._invoke_run", False),
        ("queue_trainer_py310", "data", "next_batch", False),
        ("queue_trainer_py311", "data", "next_batch", False),
        ("queue_trainer_py312", "data", "next_batch", False),
        ("queue_trainer_py313", "data", "next_batch", False),
    ],
)
def test_phase_of_recorded_stacks(name: str, phase: str, reporter: str, waits: bool) -> None:
    thread = recorded(name)
    found, frame = phase_and_frame(thread)
    assert (found, frame and frame.name, is_waiting(thread, found, frame)) == (phase, reporter, waits)


@pytest.mark.parametrize(
    ("inner", "on_cpu", "on_device"),
    [
        (["_tensor_str torch/_tensor_str.py 5", "__format__ torch/_tensor.py 9"], "logging", "sync"),
        (["_array2string numpy/core/arrayprint.py 3"], "logging", "logging"),
        (["__repr__ model/config.py 3"], "logging", "logging"),
        (["tolist torch/_tensor.py 9"], "sync", "sync"),
    ],
)
def test_text_for_people_is_logging_unless_the_value_must_come_from_a_device(
    inner: list[str], on_cpu: Phase, on_device: Phase
) -> None:
    thread = stack(*inner, *ROOT, active=True)
    assert (phase_of(thread), phase_of(thread, has_device=True)) == (on_cpu, on_device)


def waits(thread: ThreadStack) -> bool:
    phase, reporter = phase_and_frame(thread)
    return is_waiting(thread, phase, reporter)


ROOT = ("train train.py 10", "<module> train.py 99")


@pytest.mark.parametrize(
    ("phase", "inner"),
    [
        ("rendezvous", ["_store_based_barrier torch/distributed/distributed_c10d.py 1", "init_process_group x/y.py 2"]),
        ("compile", ["_call_impl torch/nn/modules/module.py 1", "_compile torch/_dynamo/convert_frame.py 2"]),
        # A data set that reads its samples with torch.load loads data; it writes no checkpoint.
        (
            "data-main",
            ["load torch/serialization.py 1", "__getitem__ data.py 3", "fetch torch/utils/data/_utils/fetch.py 9"],
        ),
        # The barrier inside save_checkpoint is what it waits in.
        ("collective", ["barrier torch/distributed/distributed_c10d.py 1", "save_checkpoint train.py 3"]),
        ("collective", ["_exactly comm.py 4", "all_reduce comm.py 8"]),
        ("collective", ["get queue.py 3", "all_reduce comm.py 8"]),
        # Lightning runs forward and backward inside the optimizer's step.
        (
            "backward",
            ["_engine_run_backward torch/autograd/graph.py 1", "closure a.py 2", "step torch/optim/adam.py 3"],
        ),
        ("forward", ["_call_impl torch/nn/modules/module.py 1", "closure a.py 2", "step torch/optim/adam.py 3"]),
        ("optimizer", ["wrapper torch/optim/optimizer.py 5"]),
        ("optimizer", ["optimizer_step train.py 5"]),
        ("sync", ["synchronize torch/cuda/__init__.py 5"]),
        ("eval", ["forward model.py 1", "evaluate train.py 5"]),
        ("eval", ["run_validation train.py 5"]),
        ("forward", ["forward model.py 1", "train_and_evaluate train.py 5"]),
        ("checkpoint", ["write_shard io.py 1", "save_checkpoint train.py 5"]),
        ("checkpoint", ["load_ckpt train.py 5"]),
        ("checkpoint", ["dump pickle.py 1", "save_weights train.py 5"]),
        ("checkpoint", ["communicate subprocess.py 1", "Trainer.upload_model train.py 5"]),
        ("checkpoint", ["persist train.py 5"]),
        ("checkpoint", ["writestr zipfile.py 1", "_save_state keras/src/saving/saving_lib.py 2", "main train.py 5"]),
        ("checkpoint", ["save_model xgboost/core.py 2", "after_iteration xgboost/callback.py 3", "main train.py 5"]),
        ("optimizer", ["update xgboost/core.py 2", "train xgboost/training.py 3", "main train.py 5"]),
        ("optimizer", ["update lightgbm/basic.py 2", "train lightgbm/engine.py 3", "main train.py 5"]),
        ("checkpoint", ["write_snapshot train.py 5"]),
        ("other", ["save_images train.py 5"]),
        ("other", ["dump_args train.py 5"]),
        ("checkpoint", ["_load torch/serialization.py 1", "main train.py 5"]),
        ("data-main", ["_load torch/serialization.py 1", "next_batch data.py 5"]),
        ("other", ["checkpointed_forward_pass train.py 5"]),
        ("logging", ["iterencode json/encoder.py 2", "dumps json/__init__.py 1", "report train.py 5"]),
        ("logging", ["write_metrics train.py 5"]),
        ("logging", ["log_training_step train.py 5"]),
        # Logarithms, the step itself, and a crash report that is sent once.
        ("other", ["log_prob model.py 5"]),
        ("other", ["log_sum_exp model.py 5"]),
        ("other", ["step train.py 5"]),
        ("other", ["write_shard data.py 5"]),
        ("logging", ["emit logging/__init__.py 7"]),
        ("logging", ["refresh tqdm/std.py 7"]),
        # The loop over a bar stands in tqdm's __iter__ while it fetches: that is not logging.
        ("other", ["__iter__ tqdm/std.py 7"]),
        ("data", ["wait threading.py 3", "get queue.py 3", "next_batch loader.py 8"]),
        ("data", ["_poll multiprocessing/connection.py 3", "poll multiprocessing/connection.py 3", "prefetch a.py 8"]),
        ("data", ["wait multiprocessing/pool.py 3", "next multiprocessing/pool.py 3", "BatchLoader.__next__ a.py 8"]),
        ("other", ["get queue.py 3", "handle_command server.py 8"]),
        ("data-main", ["decode_image image.py 3", "load_batch loader.py 8"]),
        ("data-main", ["<listcomp> text.py 3", "tokenize text.py 8"]),
        ("data-main", ["make_batch train.py 8"]),
        ("data-main", ["Collator.collate_fn train.py 8"]),
        ("data-main", ["read data.py 8"]),
        # A model's own functions, and what only sounds alike.
        ("forward", ["tokenize model.py 8", "_call_impl torch/nn/modules/module.py 1"]),
        ("other", ["read_config train.py 8"]),
        ("other", ["encode model.py 8"]),
        ("other", ["process_batch train.py 8"]),
        ("other", ["get_batch_loss train.py 8"]),
        ("backward", ["backward train.py 5"]),
        ("forward", ["forward model.py 5"]),
        ("other", ["compute train.py 5"]),
    ],
)
def test_phase_of_frames(phase: str, inner: list[str]) -> None:
    assert phase_of(stack(*inner, *ROOT)) == phase


NEWER = [
    ("compile", ["backend_compile_and_load jax/_src/compiler.py 1", "_pjit_call_impl_python jax/_src/pjit.py 2"]),
    ("sync", ["block_until_ready jax/_src/api.py 1"]),
    ("sync", ["_value jax/_src/array.py 1", "wrapper jax/_src/profiler.py 2"]),
    ("collective", ["sync_global_devices jax/experimental/multihost_utils.py 1", "save_checkpoint train.py 3"]),
    ("rendezvous", ["initialize jax/_src/distributed.py 1"]),
    ("checkpoint", ["save orbax/checkpoint/checkpointer.py 1"]),
    ("data", ["_try_get_data torchdata/stateful_dataloader/stateful_dataloader.py 1"]),
    ("collective", ["wait_for_unshard torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py 1"]),
    ("checkpoint", ["_atomic_save lightning/fabric/utilities/cloud_io.py 1"]),
    ("checkpoint", ["_save_checkpoint lightning/pytorch/callbacks/model_checkpoint.py 1"]),
    ("sync", ["to_item lightning/fabric/utilities/apply_func.py 1"]),
    ("logging", ["log_metrics lightning/fabric/loggers/csv_logs.py 1"]),
    ("logging", ["write_events deepspeed/monitor/monitor.py 1"]),
    ("checkpoint", ["save deepspeed/runtime/checkpoint_engine/torch_checkpoint_engine.py 1"]),
    ("compile", ["benchmark_all_configs torch/_inductor/runtime/triton_heuristics.py 1", "forward model.py 2"]),
]


@pytest.mark.parametrize(("phase", "inner"), NEWER)
def test_names_of_newer_libraries(phase: str, inner: list[str]) -> None:
    assert phase_of(stack(*inner, *ROOT)) == phase


@pytest.mark.parametrize(
    ("code", "has_device", "phase"),
    [
        ("running += loss.item()", True, "sync"),
        ("running += loss.item()", False, "other"),
        ('print(f"loss {loss.item()}")', True, "sync"),
        ('print(f"loss {loss.item()}")', False, "logging"),
        ("x = step * 2", True, "other"),
        (None, True, "other"),
    ],
)
def test_the_text_of_the_users_line_tells_what_c_code_hides(code: str | None, has_device: bool, phase: str) -> None:
    thread = stack(*ROOT)
    frames = (structs.replace(thread.frames[0], code=code), *thread.frames[1:])
    assert phase_of(structs.replace(thread, frames=frames), has_device=has_device) == phase


def test_only_the_innermost_line_counts() -> None:
    thread = stack("forward torch/nn/modules/linear.py 5", *ROOT)
    frames = (thread.frames[0], structs.replace(thread.frames[1], code="y = model(x).item()"), thread.frames[2])
    assert phase_of(structs.replace(thread, frames=frames), has_device=True) == "other"


def test_a_job_that_runs_inside_an_import_is_not_starting_up() -> None:
    importing = recorded("torch_importing").frames
    find = next(frame for frame in importing if frame.name == "_find_and_load")
    thread = stack("optimizer_step train.py 5", "train train.py 9", "<module> train.py 99")
    inside = type(thread)(name=None, os_thread_id=None, is_active=True, owns_gil=True, frames=(*thread.frames, find))
    assert phase_of(inside) == "optimizer"


def test_asleep_in_backward_waits_and_busy_in_backward_works() -> None:
    frames = ("_engine_run_backward torch/autograd/graph.py 1", *ROOT)
    assert waits(stack(*frames, active=False))
    assert not waits(stack(*frames, active=True))


@pytest.mark.parametrize("version", ["310", "312", "313"])
def test_a_forked_worker_shows_its_own_frames_only(version: str) -> None:
    thread = recorded(f"queue_worker_py{version}")
    assert any(frame.name == "main" for frame in thread.frames)  # where its parent stood when it forked
    assert [frame.name for frame in normalise(thread) if frame.name != "<genexpr>"] == ["produce", "decode_image"]


def test_a_loader_worker_begins_at_its_loop() -> None:
    thread = recorded("torch_loader_worker")
    shown = normalise(thread)
    assert [frame.name for frame in shown] == ["_worker_loop", "fetch", "__getitem__", "decode"]
    user = user_frame(own_frames(thread))
    assert user is not None and (user.name, user.short_filename) == ("decode", "trainer.py")


def test_a_generator_expression_counts_as_the_function_around_it() -> None:
    user = user_frame(recorded("queue_worker_py313").frames)
    assert user is not None and user.name == "decode_image"


def test_lines_are_kept_for_user_code_only() -> None:
    shown = normalise(recorded("gloo_rank1_all_reduce"))
    assert [(frame.name, frame.line > 0) for frame in shown] == [
        ("<module>", True),
        ("main", True),
        ("sync_step", True),
        ("all_reduce", False),
    ]


def test_the_console_script_and_generated_code_are_not_the_users() -> None:
    assert user_frame(recorded("torchrun_agent").frames) is None
    user = user_frame(recorded("torch_compiled_forward").frames)
    assert user is not None and user.short_filename == "comp.py"


@pytest.mark.real
@pytest.mark.parametrize(
    ("which", "phase"),
    [
        ("workers", "data"),
        ("no-workers", "data-main"),
        ("save", "checkpoint"),
        ("backward", "backward"),
        ("optimizer", "optimizer"),
        ("forward", "forward"),
    ],
)
def test_phase_of_a_live_torch_process(which: str, phase: str) -> None:
    spy = PySpy()
    with running(TORCH_JOB, which) as pid:
        found = until(lambda: [phase_of(t) for t in spy.look(pid).dump.threads[:1]], lambda seen: seen == [phase])
        assert found == [phase]
        if which == "workers":
            worker = until(lambda: [_leaf(spy, child) for child in children(pid)[:1]], lambda leaf: leaf == ["decode"])
            assert worker == ["decode"]


@pytest.mark.real
def test_a_live_ddp_rank_that_waits_for_another_is_seen_waiting() -> None:
    spy = PySpy()
    with two_ranks("ddp") as (waits, late):
        seen = until(lambda: _phase_and_wait(spy, waits), lambda found: found == ("backward", True))
        assert seen == ("backward", True)
        assert _leaf(spy, late) == "wait_for_nothing"


def _phase_and_wait(spy: PySpy, pid: int) -> tuple[str, bool] | None:
    for thread in spy.look(pid).dump.threads[:1]:
        phase, reporter = phase_and_frame(thread)
        return phase, is_waiting(thread, phase, reporter)
    return None


def _leaf(spy: PySpy, pid: int) -> str | None:
    threads = spy.look(pid).dump.threads
    user = user_frame(own_frames(threads[0])) if threads else None
    return user.name.rsplit(".", 1)[-1] if user else None


def with_code(code: str, *frames: str, active: bool = True) -> ThreadStack:
    """The innermost frame is at this line."""
    thread = stack(*frames, active=active)
    return structs.replace(thread, frames=(structs.replace(thread.frames[0], code=code), *thread.frames[1:]))


def test_the_handle_of_an_asynchronous_collective_is_waited_for_in_c() -> None:
    inside = ("gather_heads model.py 7", "forward model.py 9", "_call_impl torch/nn/modules/module.py 1", *ROOT)
    thread = with_code("handle.wait()", *inside)
    assert phase_of(thread) == "collective"
    assert waits(thread)
    # An event of Python waits in Python's own library.
    event = stack("wait threading.py 3", *inside)
    user = structs.replace(event.frames[1], code="self.ready.wait()")
    assert phase_of(structs.replace(event, frames=(event.frames[0], user, *event.frames[2:]))) == "forward"


@pytest.mark.parametrize(
    "frames",
    [
        ("hook train.py 3", "_engine_run_backward torch/autograd/graph.py 1", *ROOT),
        ("hook train.py 3", "step torch/optim/optimizer.py 9", *ROOT),
        ("recv socket.py 9", "hook train.py 3", "step torch/optim/optimizer.py 9", *ROOT),
    ],
)
def test_a_hook_that_sleeps_in_backward_or_a_step_waits_for_no_rank(frames: tuple[str, ...]) -> None:
    assert not waits(with_code("time.sleep(3600)", *frames, active=False))
    assert not waits(with_code("answer = channel.recv(1)", *frames, active=False))


def test_a_hook_that_reads_a_value_back_waits_for_the_device() -> None:
    frames = ("hook train.py 3", "_engine_run_backward torch/autograd/graph.py 1", *ROOT)
    assert waits(with_code("total += grad.norm().item()", *frames, active=False))
