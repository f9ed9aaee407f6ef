"""The examples in docstrings and in the guide run."""

import doctest
import importlib
import pathlib
import pkgutil
import re

import pytest

import tracelens

MODULES = ["tracelens"] + [
    f"tracelens.{module.name}" for module in pkgutil.iter_modules(tracelens.__path__)
    if module.name not in ("_native", "__main__", "fleet")
]
GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/python.md"


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0


def test_every_public_function_has_a_docstring():
    for name in tracelens.__all__:
        thing = getattr(tracelens, name)
        assert name == "__version__" or thing.__doc__, name


def test_the_guide(tmp_path, monkeypatch, data):
    import shutil

    monkeypatch.chdir(tmp_path)
    shutil.copy(data / "h200_gpt_train_amp.json.gz", "trace.json.gz")
    shutil.copy(data / "h200_pair_base.json.gz", "base.json.gz")
    shutil.copy(data / "h200_pair_math.json.gz", "new.json.gz")
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) >= 6
    for block in blocks:
        if "needs:" not in block:  # polars, a folder of ranks
            exec(compile(block, str(GUIDE), "exec"), names)
