"""Databases of other profilers: what tl.read() is told about them, and what is kept when a trace is pickled."""

import pathlib
import pickle
import runpy

import pytest

import tracelens as tl

MAKER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "databases" / "make_databases.py"


@pytest.fixture(scope="module")
def maker():
    return runpy.run_path(str(MAKER))


@pytest.fixture(scope="module")
def run(maker, data):
    return maker["Run"](str(data / "h200_streams_overlap.json.gz"))


@pytest.fixture(scope="module")
def rocpd(maker, run, tmp_path_factory):
    path = tmp_path_factory.mktemp("rocpd") / "run.db"
    maker["write_rocpd"](run, path)
    return path


@pytest.fixture(scope="module")
def nsys(maker, run, tmp_path_factory):
    path = tmp_path_factory.mktemp("nsys") / "run.sqlite"
    maker["write_nsys"](run, path)
    return path


@pytest.fixture(scope="module")
def cut(rocpd, tmp_path_factory):
    path = tmp_path_factory.mktemp("cut") / "cut.db"
    path.write_bytes(rocpd.read_bytes()[:-4096])  # the page that holds the copies
    return path


def test_databases_are_read_like_any_trace(rocpd, run):
    t = tl.read(rocpd, strict=True, time_limit_s=600, command_lines=True, kernel_rename=True)
    assert t.source.format.startswith("rocpd")
    assert len(t.events.where(cat="gpu_memcpy")) == sum(e["cat"] == "gpu_memcpy" for e in run.gpu) > 0


def test_what_is_left_of_a_cut_file_is_read_on_request_and_strict_refuses_it(cut):
    with pytest.raises(tl.ReadError):
        tl.read(cut)
    t = tl.read(cut, salvage=True)
    assert len(t.warnings) > 0 and len(t.events.where(cat="gpu_memcpy")) == 0
    with pytest.raises(tl.ReadError, match="part of the trace could not be read"):
        tl.read(cut, salvage=True, strict=True)


def test_strict_refuses_a_trace_that_was_cut(tmp_path):
    path = tmp_path / "cut.json"
    path.write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2},')
    assert len(tl.read(path)) == 1
    with pytest.raises(tl.ReadError, match="part of the trace could not be read"):
        tl.read(path, strict=True)


def test_a_pickled_trace_is_read_again_as_it_was(cut):
    t = tl.read(cut, salvage=True)
    size, text = len(t), pickle.dumps(t)
    del t  # or it would be found in memory
    assert len(pickle.loads(text)) == size


def test_the_type_that_ranges_do_not_tell_may_be_given(nsys):
    def types(t):
        return {kind for _, _, kinds, _, _ in tl._native.signatures(t._native) for kind in kinds or ()}

    told = types(tl.read(nsys, assume_dtype="bf16"))
    assert told != types(tl.read(nsys))


def test_several_databases_are_one_job(maker, run, rocpd, tmp_path):
    other = tmp_path / "other.db"
    maker["write_rocpd"](run, other, guid="0198-78", pid=run.pid + 1)
    job = tl.read([rocpd, str(other)])
    assert len(job) == 2 * len(tl.read(rocpd))
    assert len(tl.read([rocpd])) == len(tl.read(rocpd))
    with pytest.raises(tl.UsageError):
        tl.read([])


@pytest.mark.parametrize("options", [{"time_limit_s": -1}, {"time_limit_s": "1"}, {"assume_dtype": 16}])
def test_options_are_checked(rocpd, options):
    with pytest.raises(tl.UsageError):
        tl.read(rocpd, **options)
