import gc
import gzip
import io
import json
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tracelens as tl
from tracelens import fleet


def test_path_pathlike_bytes_and_file_objects_give_the_same_trace(data, demo):
    path = data / "h200_gpt_train_amp.json.gz"
    content = path.read_bytes()
    with open(path, "rb") as file:
        others = [tl.read(str(path)), tl.read(path), tl.read(content), tl.read(bytearray(content)),
                  tl.read(memoryview(content)), tl.read(file), tl.read(io.BytesIO(content), threads=1)]
    for other in others:
        assert np.array_equal(other.events["ts_ns"], demo.events["ts_ns"])
        assert other.metadata == demo.metadata


def test_a_trace_says_what_it_is(demo):
    assert repr(demo) == (
        "Trace('h200_gpt_train_amp.json.gz', 23,215 events, PyTorch, NVIDIA H200, 0.112 s)"
    )
    assert demo.source.format == "kineto" and demo.source.packing == "gzip"
    assert demo.metadata["deviceProperties"][0]["name"] == "NVIDIA H200"
    assert len(demo.warnings) == 0
    assert demo.nbytes > 40 * len(demo)


def test_damage_is_told_with_its_place():
    cut = b'{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2},{"ph":'
    trace = tl.read(cut)
    assert len(trace) == 1 and trace.source.cut_short
    assert trace.warnings.cells("count") == [1]


@pytest.mark.parametrize("made, kind, also", [
    (lambda p: tl.read(p / "none.json"), tl.FileError, FileNotFoundError.__mro__[1]),
    (lambda p: tl.read(b"<html>"), tl.ReadError, ValueError),
    (lambda p: tl.report(tl.demo(), gpu="abacus"), tl.UsageError, ValueError),
    (lambda p: tl.report(tl.demo(), tables=["none"]), tl.UsageError, ValueError),
    (lambda p: tl.report(tl.demo(), edition="first"), tl.UsageError, ValueError),
    (lambda p: tl.report(tl.demo()).save(p / "report.tiff"), tl.UsageError, ValueError),
    (lambda p: tl.report(tl.demo()).save(p / "none" / "report.xlsx"), tl.FileError, OSError),
    (lambda p: tl.compare([p / "none.json", p / "none.json"]), tl.FileError, OSError),
    (lambda p: tl.collectives(p / "none*.json"), tl.Error, Exception),
    (lambda p: tl.diagnose(tl.demo(), steps="some"), tl.UsageError, ValueError),
    (lambda p: tl.roofline(tl.demo()).save(p / "none" / "roofline.svg"), tl.FileError, OSError),
    (lambda p: fleet.report(tl.demo().source.path, memory="much"), tl.UsageError, ValueError),
])
def test_what_goes_wrong_is_one_of_our_exceptions(made, kind, also, tmp_path):
    with pytest.raises(kind) as caught:
        made(tmp_path)
    assert isinstance(caught.value, also) and isinstance(caught.value, tl.Error)
    assert str(caught.value) and "std::" not in str(caught.value)


def test_a_missing_file_has_errno_filename_and_the_sentence_of_the_command(tmp_path):
    path = str(tmp_path / "none.json")
    with pytest.raises(tl.FileError) as caught:
        tl.read(path)
    again = pickle.loads(pickle.dumps(caught.value))
    for error in (caught.value, again):
        assert error.errno == 2 and error.filename == path
        assert str(error).startswith(path + ": ") and type(error) is tl.FileError


def test_wrong_types_are_type_errors():
    with pytest.raises(TypeError):
        tl.read(io.StringIO("{}"))  # text, not bytes
    with pytest.raises(TypeError):
        tl.read(7)
    with pytest.raises(TypeError):
        tl.report(tl.demo(), micro_idle_us="five")
    with pytest.raises(TypeError):
        tl.report(tl.demo(), no_such_option=1)


# --- progress, signals, threads, fork ---
def large_trace(path: pathlib.Path, events: int = 400_000) -> pathlib.Path:
    event = '{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":%d,"dur":1}'
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write('{"traceEvents":[')
        file.write(",".join(event % i for i in range(events)))
        file.write("]}")
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return large_trace(tmp_path_factory.mktemp("large") / "large.json.gz")


def test_progress_is_told_to_a_function_in_the_calling_thread(large):
    told = []
    trace = tl.read(large, progress=lambda part, events: told.append(
        (part, events, threading.get_ident())))
    assert told[-1][:2] == (1.0, len(trace))
    assert {thread for _, _, thread in told} == {threading.get_ident()}
    assert [part for part, _, _ in told] == sorted(part for part, _, _ in told)


def test_progress_as_a_bar_leaves_nothing_behind(large, capfd):
    tl.read(large, progress=True)
    err = capfd.readouterr().err
    assert "events" in err and err.endswith("\r")


def test_what_progress_raises_ends_the_reading(large):
    def stop(part, events):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        tl.read(large, progress=stop, threads=1)


def test_ctrl_c_ends_a_read(tmp_path):
    # A pipe that never ends keeps the reader busy: only the signal can stop it.
    program = """
import os, signal, sys, threading, tracelens as tl
def feed():
    with open(sys.argv[1], 'wb', buffering=0) as pipe:
        pipe.write(b'{"traceEvents":[')
        piece = b'{"ph":"X","name":"a","ts":1,"dur":2},' * 1000
        while True:
            pipe.write(piece)
threading.Thread(target=feed, daemon=True).start()
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    tl.read(sys.argv[1])
except KeyboardInterrupt:
    print('stopped', flush=True)
    os._exit(0)
"""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = subprocess.run([sys.executable, "-c", program, str(pipe)], capture_output=True, text=True,
                          timeout=300)
    assert done.stdout == "stopped\n", done.stderr


def test_other_threads_go_on_while_one_reads(large):
    counted, reading = 0, threading.Thread(target=lambda: tl.report(tl.read(large)))
    reading.start()
    while reading.is_alive():
        counted += 1
        time.sleep(0)
    assert counted > 100


def test_two_threads_read_and_share_one_tree(data):
    path = data / "h200_ops_zoo.json.gz"
    trace = tl.read(path)
    sizes = []
    threads = [threading.Thread(target=lambda: sizes.append((len(tl.read(path)), len(trace.tree))))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(sizes)) == 1 and len(sizes) == 4


def _of_child(path):
    return len(tl.report(tl.read(path))["ops_summary"])


def test_children_by_fork_read_after_the_parent_did(data):
    import multiprocessing

    path = str(data / "h200_ops_zoo.json.gz")
    here = _of_child(path)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(_of_child, [path] * 4).get(timeout=300) == [here] * 4


# --- pickles ---
def test_a_pickled_trace_is_read_again_and_refused_when_the_file_changed(data, tmp_path):
    path = tmp_path / "t.json.gz"
    shutil.copy(data / "h200_ops_zoo.json.gz", path)
    trace = tl.read(path)
    pickled = pickle.dumps(trace)
    assert len(pickled) < 1000
    assert np.array_equal(pickle.loads(pickled).events["dur_ns"], trace.events["dur_ns"])
    by_value = pickle.dumps(trace.pickle_by_value())
    path.write_bytes(gzip.compress(b'{"traceEvents":[]}'))
    with pytest.raises(tl.FileError, match="has changed"):
        pickle.loads(pickled)
    assert len(pickle.loads(by_value)) == len(trace)


def test_events_and_nodes_are_pickled_by_number(demo):
    event, node = demo.events[20], demo.tree.find(name="aten::mm")[0]
    assert pickle.loads(pickle.dumps(event)).name == event.name
    again = pickle.loads(pickle.dumps(node))
    assert (again.uid, again.name, again.gpu_time_ns) == (node.uid, node.name, node.gpu_time_ns)


# --- the program ---
def test_the_program_is_there_as_a_function_and_as_a_module(data):
    assert tl.main(["info", str(data / "h200_ops_zoo.json.gz"), "-q"]) == 0
    assert tl.main(["report", "/none.json"]) == 2
    done = subprocess.run([sys.executable, "-m", "tracelens", "--version"], capture_output=True,
                          text=True)
    assert done.returncode == 0 and tl.__version__ in done.stdout


# --- traces that were not read ---
def test_events_of_ones_own_make_a_trace():
    trace = tl.from_events(
        [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 3, "dur": 1.5,
          "args": {"stream": 7, "mine": (1, 2)}}],
        name="mine", metadata={"deviceProperties": [{"name": "NVIDIA H200"}]})
    assert trace.gpu == "NVIDIA H200" and trace.source.path == "mine"
    assert (trace.events[0].ts_ns, trace.events[0].dur_ns) == (3000, 1500)
    with pytest.raises(tl.UsageError):
        pickle.dumps(trace)  # there is no file to read again


def test_an_edit_makes_another_trace(demo):
    mm = demo.tree.find(name="aten::mm")[0]
    edit = demo.edit()
    edit.rename(mm.uid, "my::mm")
    edit.set(mm.uid, **{"Input Dims": [[2, 3], [3, 4]]})
    new = edit.insert_op(above=mm.uid, name="my::layer", dims=[(2, 3)], types=["float"])
    changed = edit.trace()
    node = changed.tree[mm.uid]
    assert node.name == "my::mm" and node.event.args["Input Dims"] == ((2, 3), (3, 4))
    assert node.op.name == "my::layer" and node.op.uid == new
    assert node.gpu_time_ns == mm.gpu_time_ns == node.op.gpu_time_ns
    assert "my::mm" in tl.ops(changed).cells("name")
    assert demo.tree[mm.uid].name == "aten::mm"
    with pytest.raises(tl.UsageError):
        pickle.dumps(changed)
    with pytest.raises(tl.UsageError):
        edit.rename(10**9, "x")


def test_metadata_of_many_nested_maps():
    groups = [{f"pg_name_{i}": str(i), "inner": {f"key_{i}": [i, {"deep": i}]}} for i in range(200)]
    trace = {"distributedInfo": {"pg_config": groups}, "traceEvents": []}
    assert tl.read(json.dumps(trace).encode()).metadata["distributedInfo"]["pg_config"][199]["inner"]["key_199"][1] == {"deep": 199}
