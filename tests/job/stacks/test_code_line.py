"""What one line of source says."""

from __future__ import annotations

import pytest

from hwtop.job.stacks.code_line import collects_garbage, prints, sleeps, waits_for_device


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("running += loss.item()", True),
        ('print({"loss": round(loss.item(), 4)}, flush=True)', True),
        ("preds.append(logits.argmax(-1).cpu())", True),
        ("scores = out.detach().cpu().numpy()", True),
        ("torch.cuda.synchronize()", True),
        ("start.synchronize(), end.synchronize()", True),
        ("history.append(float(loss))", True),
        ('total = float(metrics["loss"])', True),
        ('host = weights.to("cpu", non_blocking=False)', True),
        ("jax.block_until_ready(state)", True),
        ("state.params.block_until_ready()", True),
        ("for name, value in metrics.items():", False),
        ("loss = model(batch)", False),
        ("x = float(config.lr)", False),
        ("itemsize = array.itemsize", False),
        ("self.cpu_count = os.cpu_count()", False),
        ("weights = weights.to(device)", False),
        (None, False),
    ],
)
def test_a_line_that_reads_a_value_back(code: str | None, expected: bool) -> None:
    assert waits_for_device(code) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('print(f"step {step}", flush=True)', True),
        ('print(f"step {step}"); sys.stdout.flush()', True),
        ('i += 1; print(f"step {i}", flush=True)', True),
        ('print(f"step {step}", flush=True); time.sleep(0.3)', False),
        ('train_one_step(model); print("done")', False),
        ('print("step", step); train_one_step(model)', False),
        ("if rank == 0: print(step)", True),
        ("sys.stdout.flush()", True),
        ("blueprint(model)", False),
        ("pprint.print_summary(model)", False),
        ("self.print(model)", False),
        (None, False),
    ],
)
def test_a_line_that_prints(code: str | None, expected: bool) -> None:
    assert prints(code) is expected


def test_a_line_that_collects_or_sleeps() -> None:
    assert collects_garbage("del batch; gc.collect()")
    assert not collects_garbage("gc.freeze()")
    assert not collects_garbage(None)
    assert sleeps("time.sleep(0.1)")
    assert sleeps("done.wait(timeout=5)")
    assert not sleeps("loss.backward()")
    assert not sleeps(None)
