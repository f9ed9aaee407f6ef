import gc
import re

import numpy as np
import pytest

import arrow_reader
import tracelens as tl


def test_columns_are_the_traces_own_memory_and_cannot_be_changed(demo):
    events = demo.events
    assert np.shares_memory(events["ts_ns"], events["ts_ns"])
    assert np.shares_memory(events["name"].codes, demo.events["name"].codes)
    for array in (events["ts_ns"], events["name"].codes, events["stream"].rows, demo.tree.event):
        with pytest.raises(ValueError):
            array[0] = 1


def test_an_array_keeps_the_trace_alive(data):
    trace = tl.read(data / "h200_ops_zoo.json.gz")
    starts, kept = trace.events["ts_ns"], trace.events["ts_ns"].copy()
    del trace
    gc.collect()
    assert np.array_equal(starts, kept)


def test_masks_say_which_events_have_no_number(demo):
    events = demo.events
    missing = events.mask("dur_ns")
    assert missing.any() and not missing.all()
    assert (events["dur_ns"][missing] == np.iinfo(np.int64).min).all()
    assert (events["dur_ns"][~missing] >= 0).all()
    streams = events["stream"]
    assert events.mask("stream").sum() == len(events) - len(streams.rows)
    assert np.array_equal(events.dense("stream")[streams.rows], streams.values)


def test_codes_stand_for_what_events_say(demo):
    events = demo.events
    for name in ("name", "cat"):
        codes, texts = events[name]
        for row in (0, 100, 15_000, len(events) - 1):
            event = events[row]
            assert texts[codes[row]] == (event.name if name == "name" else event.category)
    codes, tracks = events["track"]
    assert tracks[codes[0]] == events[0].track


def test_categories_that_only_the_trace_knows_have_codes_of_their_own():
    trace = tl.read(b'{"traceEvents":[{"ph":"X","cat":"mine","name":"a","ts":1,"dur":2},'
                    b'{"ph":"X","cat":"cpu_op","name":"b","ts":1,"dur":2},'
                    b'{"ph":"X","cat":"yours","name":"c","ts":1,"dur":2}]}')
    codes, texts = trace.events["cat"]
    assert [texts[code] for code in codes] == ["mine", "cpu_op", "yours"]
    assert trace.events.where(cat="yours").tolist() == [2]
    assert arrow_reader.read(trace.events)[1]["cat"] == ["mine", "cpu_op", "yours"]


def test_where_finds_what_a_loop_finds(demo):
    events = demo.events
    gemms = [e.uid for e in events if e.category == "kernel" and "nvjet" in e.name]
    assert gemms
    assert events.where(cat="kernel", name=re.compile("nvjet")).tolist() == gemms
    assert events.where(cat=["kernel"], name=lambda name: "nvjet" in name).tolist() == gemms
    mm = [e.uid for e in events if e.name in ("aten::mm", "aten::addmm")]
    assert events.where(name=["aten::mm", "aten::addmm"]).tolist() == mm
    middle = int(np.median(events["ts_ns"]))
    late = [e.uid for e in events if e.ts_ns is not None and e.ts_ns >= middle]
    assert events.where(from_ns=middle).tolist() == late
    assert len(events.where(from_ns=middle, to_ns=middle)) == 0
    long = [e.uid for e in events if e.dur_ns is not None and e.dur_ns > 100_000]
    assert events.where(longer_than_ns=100_000).tolist() == long
    with pytest.raises(ZeroDivisionError):
        events.where(name=lambda name: 1 // 0)


def test_an_event_has_its_arguments(demo):
    kernel = demo.events[int(demo.events.where(cat="kernel")[0])]
    assert kernel.args["stream"] == 7 and kernel.args["device"] == 0
    assert kernel.end_ns == kernel.ts_ns + kernel.dur_ns
    assert kernel.node.launch.category in ("cuda_runtime", "cuda_driver")
    op = demo.events[int(demo.events.where(name="aten::addmm")[0])]
    assert len(op.args["Input Dims"]) == len(op.args["Input type"])
    assert op == demo.events[op.uid] and hash(op) == hash(demo.events[op.uid])
    assert op != kernel and demo.events[-1].uid == len(demo) - 1
    with pytest.raises(IndexError):
        demo.events[len(demo)]


def test_frames_have_categoricals_and_no_strings_of_their_own(demo):
    frame = demo.events.to_pandas()
    assert list(frame.columns) == demo.events.columns and len(frame) == len(demo)
    assert str(frame["name"].dtype) == "category" and str(frame["dur_ns"].dtype) == "Int64"
    assert frame["name"][5] == demo.events[5].name
    assert frame["stream"].isna().sum() == demo.events.mask("stream").sum()
    with pytest.raises(tl.UsageError):
        demo.events.to_pandas(["colour"])


def test_events_as_arrow_are_the_same(demo):
    about, columns, batches = arrow_reader.read(demo.events)
    assert list(about) == demo.events.columns and batches == 1
    assert about["ts_ns"][0] == "l" and about["name"][0] == "I"
    assert columns["ts_ns"] == demo.events["ts_ns"].tolist()
    missing = demo.events.mask("dur_ns")
    assert [value is None for value in columns["dur_ns"]] == missing.tolist()
    assert columns["name"] == [event.name for event in demo.events]
    assert columns["cat"] == [event.category for event in demo.events]
    assert columns["track"][0] == "/".join(map(str, demo.events[0].track))


def test_a_capsule_that_nobody_reads_is_dropped(demo):
    for _ in range(100):
        demo.events.__arrow_c_stream__()
