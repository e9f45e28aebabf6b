"""TensorCores with small packages in the place of libtpu."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.collectors.gpu.tpu.sdk import TensorCores
from hwtop.errors import CannotError
from tests.host import Clock, write_tree

GOOD = """
class tpumonitoring:
    class get_metric:
        def __init__(self, name): self.name = name
        def data(self): return {"tensorcore_util": ["13.60", "0.00"]}[self.name]
"""


class Reader:
    def __init__(self) -> None:
        self.clock = Clock()
        self.cores = TensorCores(self.clock)

    def answer(self) -> tuple[float, ...] | str:
        """What is told once the child has answered."""
        end_s = time.monotonic() + 60
        while True:
            try:
                return self.cores.read()
            except CannotError as error:
                if str(error) != "not read yet":
                    return str(error)
            assert time.monotonic() < end_s
            time.sleep(0.01)


@pytest.fixture
def reader() -> Iterator[Reader]:
    made = Reader()
    yield made
    made.cores.close()


def install(root: Path, monkeypatch: pytest.MonkeyPatch, sdk: str) -> None:
    write_tree(root, {"libtpu/__init__.py": "", "libtpu/sdk.py": sdk})
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.setenv("PYTHONPATH", str(root))


def test_cores_in_percent_by_one_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader) -> None:
    install(tmp_path, monkeypatch, "import os\nopen(os.environ['STARTS'], 'a').write('x')\n" + GOOD)
    monkeypatch.setenv("STARTS", str(tmp_path / "starts"))
    assert reader.answer() == (13.6, 0.0)
    reader.clock.at_s += 6
    assert reader.answer() == (13.6, 0.0)
    assert (tmp_path / "starts").read_text() == "x"


def test_without_the_package_the_reason_names_the_command(reader: Reader) -> None:
    assert "pip install libtpu" in str(reader.answer())


def test_what_libtpu_says_against_it_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader
) -> None:
    install(tmp_path, monkeypatch, GOOD.replace("return", "raise RuntimeError('no vbar agent') or"))
    assert reader.answer() == "libtpu: no vbar agent"


@pytest.mark.parametrize(("sdk", "status"), [("import os; os.abort()", "-6"), ("raise ImportError", "1")])
def test_a_library_that_crashes_takes_only_the_child_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader, sdk: str, status: str
) -> None:
    install(tmp_path, monkeypatch, sdk)
    assert f"ended with status {status}" in str(reader.answer())


def test_a_library_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader) -> None:
    install(tmp_path, monkeypatch, "import time; time.sleep(60)")
    with pytest.raises(CannotError, match="not read yet"):
        reader.cores.read()
    reader.clock.at_s += 61
    assert reader.answer() == "libtpu does not answer"
