"""From a recorded op to a call. PyTorch is played by a few lines: its schemas, and a function that is called."""

import json
import os
import pickle
import sys
import types

import pytest

from TraceLens import EventReplay
from TraceLens.EventReplay import event_replay
from TraceLens.EventReplay.event_replay import EventReplayer
from TraceLens.EventReplay.utils import TensorCfg

SCHEMAS = {
    "aten::mm": ["aten::mm(Tensor self, Tensor mat2) -> (Tensor)"],
    "aten::add": ["aten::add.int(int a, int b) -> (int)",
                  "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> (Tensor)"],
    "aten::conv": ["aten::conv(Tensor input, Tensor? bias=None, SymInt[2] stride=[1, 1], bool[2] mask, "
                   "float eps=1.0000000000000001e-05) -> (Tensor)"],
    "aten::view": ["aten::view(Tensor(a) self, SymInt[] size) -> (Tensor(a))"],
    "aten::split": ["aten::split(Tensor(a -> *) self, int n=1) -> (Tensor(a)[])"],
    "aten::copy_": ["aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> (Tensor(a!))"],
    "aten::cat": ["aten::cat(Tensor[] tensors, int dim=0) -> (Tensor)"],
}


@pytest.fixture(autouse=True)
def torch(monkeypatch):
    calls = []
    operator = lambda name: (lambda *args, **kwargs: calls.append((name, args, kwargs)) or "result", None)
    fake = types.SimpleNamespace(_C=types.SimpleNamespace(
        _jit_get_schemas_for_operator=lambda name: SCHEMAS.get(name, []), _jit_get_operation=operator), calls=calls)
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setattr(event_replay, "build_tensor", lambda cfg, device: (tuple(cfg.shape), cfg.init, device))
    return fake


def event(name, types, dims, concrete, strides=None):
    args = {"Input type": types, "Input Dims": dims, "Concrete Inputs": concrete}
    if strides is not None:
        args["Input Strides"] = strides
    return {"name": name, "args": args}


MM = event("aten::mm", ["float", "c10::BFloat16"], [[4, 8], [8, 16]], ["", ""], [[8, 1], [16, 1]])


def values(*record):
    ir = EventReplayer(event(*record)).event_replay_IR
    return [argument["value"] for key in ("list_pos_args", "list_kwargs") for argument in ir[key]]


def test_a_product_is_called_with_tensors_of_its_shapes(torch):
    replayer = EventReplayer(MM, device="cpu")
    assert replayer.args == [((4, 8), "normal", "cpu"), ((8, 16), "normal", "cpu")]
    assert replayer.replay() == "result"
    assert torch.calls == [("aten::mm", tuple(replayer.args), {})]
    assert replayer.matched_schema["args"][1]["arg_name"] == "mat2"


def test_lazy_makes_the_tensors_when_it_is_asked():
    replayer = EventReplayer(MM, lazy=True)
    assert not hasattr(replayer, "args")
    replayer.replay()
    assert len(replayer.args) == 2


def test_what_is_handed_out_is_plain_and_the_replayer_stays_as_it_is():
    replayer = EventReplayer(MM, lazy=True)
    info = json.loads(json.dumps(replayer.get_repro_info()))
    assert info["op_name"] == "aten::mm"
    assert info["replay_ir"]["list_pos_args"][0] == {
        "arg_name": "self", "arg_type": "Tensor",
        "value": {"shape": [4, 8], "dtype": "float", "strides": [8, 1], "init": "normal"}}
    assert replayer.get_repro_info() == replayer.get_repro_info()
    assert isinstance(replayer.event_replay_IR["list_pos_args"][0]["value"], TensorCfg)
    assert pickle.loads(pickle.dumps(replayer)).replay() == "result"


def test_the_overload_that_fits_is_taken_and_keywords_keep_their_kind(torch):
    EventReplayer(event("aten::add", ["float", "long int", "Scalar"], [[4], [], []], ["", "", "2"])).replay()
    assert torch.calls[0][2] == {"alpha": 2}
    assert values("aten::add", ["Scalar", "Scalar"], [[], []], ["3", "-4"]) == [3, -4]
    assert values("aten::add", ["float", "float", "Scalar"], [[4], [4], []], ["", "", "0.5"])[2] == 0.5


def test_every_kind_of_argument():
    assert values("aten::conv", ["float", "", "ScalarList", "ScalarList"], [[1], [], [], []],
                  ["", "", "[2, 3]", "[True, False]"])[1:] == [None, [2, 3], [True, False]]
    assert values("aten::view", ["int", "ScalarList"], [[4], []], ["", "[]"])[1] == []
    assert values("aten::split", ["float", "Scalar"], [[4], []], ["", "2"])[1] == 2
    copied = values("aten::copy_", ["float", "bool", "Scalar"], [[4], [4], []], ["", "", "False"])
    assert [value.init for value in copied[:2]] == [None, "normal"]
    assert copied[0].strides is None  # not recorded: contiguous


@pytest.mark.parametrize("record, message", [
    (("aten::none", [], [], []), "Tried: nothing"),
    (("aten::mm", ["float"], [[4, 8]], [""]), "mat2 was not recorded"),
    (("aten::mm", ["float", "nonsense"], [[4, 8], [8]], ["", ""]), "'nonsense', a tensor is wanted"),
    (("aten::cat", ["TensorList"], [[[4], [4]]], [""]), "types are not recorded"),
    (("aten::split", ["float", "Scalar"], [[4], []], ["", "x"]), "int is wanted"),
])
def test_what_does_not_fit_is_refused_with_the_reasons(record, message):
    with pytest.raises(ValueError, match=f"(?s)Cannot find matching schema for {record[0]}.*{message}"):
        EventReplayer(event(*record))


def test_schemas_are_split_outside_of_brackets_and_quotes():
    parsed = EventReplayer.parse_schema_string(
        'a::b(Tensor(a -> *) x, int[2] s=[1, 2], str m="a, b", *, Device? d=None) -> (Tensor, Tensor)')
    assert [(a["arg_name"], a["arg_type"], a["default"]) for a in parsed["args"]] == [
        ("x", "Tensor(a -> *)", None), ("s", "int[2]", "[1, 2]"), ("m", "str", '"a, b"')]
    assert [a["arg_name"] for a in parsed["kwargs"]] == ["d"]
    with pytest.raises(ValueError, match="Cannot parse schema"):
        EventReplayer.parse_schema_string("nonsense")


def test_without_pytorch_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="PyTorch is required for EventReplayer functionality that is being used. "
                                          "Please install PyTorch."):
        EventReplayer(MM)


def test_the_scripts_lie_beside_the_package():
    folder = os.path.dirname(EventReplay.__file__)
    assert {"batched_replay.py", "utils.py"} <= set(os.listdir(folder))
