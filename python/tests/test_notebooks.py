"""The notebooks of examples/notebooks run from top to bottom and draw what they say."""

import os
import pathlib
import subprocess
import sys

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "notebooks"
PICTURES = {"training_run": 4, "two_runs": 2, "eight_ranks": 2, "fleet_of_runs": 3}


def test_every_notebook_is_listed():
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(PICTURES)


@pytest.fixture(scope="module", autouse=True)
def list_of_fonts(tmp_path_factory):
    """Made beforehand: whoever needs it first says on stderr that it takes a while."""
    folder, before = str(tmp_path_factory.mktemp("matplotlib")), os.environ.get("MPLCONFIGDIR")
    os.environ["MPLCONFIGDIR"] = folder
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], check=True, capture_output=True)
    yield
    del os.environ["MPLCONFIGDIR"]
    if before is not None:
        os.environ["MPLCONFIGDIR"] = before


@pytest.mark.parametrize("name", PICTURES)
def test_notebook(name):
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), "committed with its outputs"
    # Limits for a busy machine; the last piece of a cell's output may come long after its reply.
    nbclient.NotebookClient(book, timeout=600, iopub_timeout=300, startup_timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(FOLDER)}}).execute()
    outputs = [output for cell in code for output in cell.outputs]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == PICTURES[name]
    assert not [output for output in outputs if output.get("name") == "stderr"], "warnings"
