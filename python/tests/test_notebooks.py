"""The notebooks of examples/notebooks run from top to bottom and draw what they say."""

import pathlib

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "notebooks"
PICTURES = {"training_run": 4, "two_runs": 2, "eight_ranks": 2, "fleet_of_runs": 3}


def test_every_notebook_is_listed():
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(PICTURES)


@pytest.mark.parametrize("name", PICTURES)
def test_notebook(name):
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), "committed with its outputs"
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(FOLDER)}}).execute()
    outputs = [output for cell in code for output in cell.outputs]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == PICTURES[name]
    assert not [output for output in outputs if output.get("name") == "stderr"], "warnings"
