"""What the tests share. Run with PYTHONPATH=<build>/python:<build>/python_compat."""

import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from clean_environment import clean_environment  # noqa: E402

clean_environment()

import tracelens as tl  # noqa: E402

# Programs that a shell starts in the background ignore Ctrl-C, and so does what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data"


@pytest.fixture(scope="session")
def data() -> pathlib.Path:
    """The folder of the recordings that come with the sources."""
    return DATA


@pytest.fixture(scope="session")
def demo() -> tl.Trace:
    return tl.read(DATA / "h200_gpt_train_amp.json.gz")


@pytest.fixture(scope="session")
def report(demo: tl.Trace) -> tl.Report:
    return tl.report(demo)


@pytest.fixture(autouse=True)
def nothing_registered():
    """What one test registers must not show up in another."""
    yield
    for registry in (tl.op_model.registry, tl.table.registry, tl.kernel_rule.registry):
        registry.clear()
