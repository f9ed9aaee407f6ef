"""From a recorded op to a call. PyTorch is played by a few lines: its schemas, and a function that is called."""

import json
import os
import pickle
import sys
import types

import pytest

from TraceLens import EventReplay
from TraceLens.EventReplay import batched_replay, utils
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
    "aten::empty": ["aten::empty(SymInt[] size, str name=?, *, ScalarType? dtype=None, Device? device=None, "
                    "MemoryFormat? memory_format=None) -> (Tensor)"],
}


@pytest.fixture(autouse=True)
def torch(monkeypatch):
    calls = []
    operator = lambda name: (lambda *args, **kwargs: calls.append((name, args, kwargs)) or "result", None)
    fake = types.SimpleNamespace(
        _C=types.SimpleNamespace(_jit_get_schemas_for_operator=lambda name: SCHEMAS.get(name, []),
                                 _jit_get_operation=operator),
        cuda=types.SimpleNamespace(is_available=lambda: False), bfloat16="bf16", channels_last="nhwc", calls=calls)
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setattr(utils, "build_tensor", lambda cfg, device: (tuple(cfg.shape), cfg.init, device))
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


def test_enums_devices_and_what_cannot_be_passed(torch):
    record = event("aten::empty", ["ScalarList", "", "Scalar", "", "Scalar"], [[]] * 5, ["[2]", "", "15", "", "2"])
    EventReplayer(record, device="cpu").replay()
    assert torch.calls == [("aten::empty", ([2],), {"dtype": "bf16", "device": None, "memory_format": "nhwc"})]


def test_tensors_in_lists_take_the_type_of_the_others():
    tensors, = values("aten::cat", ["TensorList"], [[[4], [2, 3]]], [""])[:1]
    assert [(cfg.shape, cfg.dtype) for cfg in tensors] == [([4], "c10::BFloat16"), ([2, 3], "c10::BFloat16")]
    info = EventReplayer(event("aten::cat", ["TensorList"], [[[4]]], [""])).get_repro_info()
    assert info["replay_ir"]["list_pos_args"][0]["value"][0]["shape"] == [4]


def test_a_file_of_calls_is_run_and_counted(torch, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(batched_replay, "benchmark_func", lambda call, device: 2.0)
    calls = [{**EventReplayer(MM).get_repro_info(), "count": 3},
             EventReplayer(event("aten::cat", ["TensorList"], [[[4]]], [""])).get_repro_info()]
    calls[1]["replay_ir"]["list_pos_args"][0]["value"] = {"sizes": [4]}
    torch.calls.clear()
    (tmp_path / "calls.json").write_text(json.dumps(calls))
    assert batched_replay.main([str(tmp_path / "calls.json")]) == 1
    out = capsys.readouterr().out
    assert "Est time in workload: 6.00 microseconds" in out
    assert "Total: 2  Attempted: 2  Successful: 1  Errors: 1" in out
    assert torch.calls[0][:2] == ("aten::mm", (((4, 8), "normal", "cpu"), ((8, 16), "normal", "cpu")))
    assert batched_replay.main([str(tmp_path / "calls.json"), "--op-filter", "mm"]) == 0
    assert batched_replay.main([str(tmp_path / "calls.json"), "--op-limit", "1"]) == 0


@pytest.mark.parametrize("record, message", [
    (("aten::none", [], [], []), "Tried: nothing"),
    (("aten::mm", ["float"], [[4, 8]], [""]), "mat2 was not recorded"),
    (("aten::mm", ["float", "nonsense"], [[4, 8], [8]], ["", ""]), "'nonsense', a tensor is wanted"),
    (("aten::cat", ["float"], [[4]], [""]), "a list of tensors is wanted"),
    (("aten::empty", ["ScalarList", "", "Scalar"], [[], [], []], ["[2]", "", "99"]), "ScalarType is wanted"),
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
