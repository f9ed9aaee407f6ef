"""The models in Python and the native ones give the same numbers: both walk the same file of op calls."""

import json
import math
import pathlib

import pytest

from TraceLens.PerfModel.torch_op_mapping import op_to_perf_model_class_map, resolve_perf_model_class

VECTORS = pathlib.Path(__file__).parents[2] / "src/perf/registry/vectors.tsv"
ARGS = {"dims": "Input Dims", "types": "Input type", "strides": "Input Strides", "concrete": "Concrete Inputs"}
STEP = "execute_1_context_1(sq{}sk{}sqsq{}sqsk{})_generation_1(sq{}sk{}sqsq{}sqsk{})"


def read_vectors():
    lines = VECTORS.read_text().splitlines()
    return [(number, line.split("\t")) for number, line in enumerate(lines, 1) if not line.startswith("#")]


def event_of(name, signature):
    return {"name": name, "args": {ARGS[key]: value for key, value in signature.items() if value is not None}}


def call_of(number, op, signature, extra):
    """The op as an event, after what it follows from: its forward op, the step around it, its kernel."""
    event = event_of(op, signature)
    event["args"].update(extra.get("args", {}))
    if "kernel" in extra:
        event["kernel_details"] = [{"name": extra["kernel"]}]
    if "step" in extra:
        event["annotation"] = STEP.format(*extra["step"])
    if "forward" in extra:
        forward_op = op.replace("Backward", "")
        forward = event_of(forward_op, extra["forward"])
        event["args"]["Sequence number"] = forward["args"]["Sequence number"] = number
        resolve_perf_model_class(forward_op)(forward)
    return event


def work_of(event, flops, bytes_moved):
    """(flops, bytes, model); flops of "reason" where the model declines, bytes of "none" where they are unknown."""
    model_class = resolve_perf_model_class(event["name"])
    try:
        if hasattr(model_class, "can_model") and not model_class.can_model(event):
            return "reason", "reason", None
        model = model_class(event)
        work, moved = getattr(model, flops)(), getattr(model, bytes_moved)()
    except Exception:
        return "reason", "reason", None
    if work is None:
        return "reason", "reason", None
    return work, "none" if moved is None else moved, model


def expect_number(got, text):
    if text in ("none", "reason") or got in ("none", "reason"):
        assert got == text
    else:
        assert math.isclose(got, float(text), rel_tol=1e-15)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("number, cells", read_vectors(), ids=lambda cells: cells[0] if isinstance(cells, list) else "")
def test_every_line_comes_to_its_work(number, cells):
    op, signature, flops, moved, flops_bwd, moved_bwd, spec, extra = cells
    extra = json.loads(extra)
    event = call_of(number, op, json.loads(signature), extra)
    got_flops, got_moved, model = work_of(event, "flops", "bytes")
    expect_number(got_flops, flops)
    if flops != "reason":
        expect_number(got_moved, moved)
        unit, precision = model.get_maf_type(), model.get_compute_precision()
        assert (f"{unit}_{precision}" if unit and precision else "") == spec
        for name, value in extra.get("params", {}).items():
            assert json.loads(json.dumps(model.param_details[name])) == value
    got_flops, got_moved, _ = work_of(event, "flops_bwd", "bytes_bwd")
    expect_number(got_flops, flops_bwd)
    if flops_bwd != "reason":
        expect_number(got_moved, moved_bwd)


def test_every_model_has_a_line():
    tested = {resolve_perf_model_class(cells[0]).__name__ for _, cells in read_vectors()}
    assert {model.__name__ for model in op_to_perf_model_class_map.values()} <= tested
