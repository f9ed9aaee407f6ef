"""Values that mean nothing are refused with a sentence, before anything is read or changed."""

import pickle

import numpy as np
import pytest

import tracelens as tl


@pytest.mark.parametrize("threads", ["a", -1, 10**9, 1.5, None, True])
def test_threads(demo, data, threads):
    for call in (tl.report, tl.diagnose):
        with pytest.raises(tl.UsageError, match="threads: expected 0 .one per core. to 1024"):
            call(demo, threads=threads)
    with pytest.raises(tl.UsageError, match="threads"):
        tl.read(data / "h200_ops_zoo.json.gz", threads=threads)
    with pytest.raises(tl.UsageError, match="threads"):
        tl.collectives([data / "h200_ops_zoo.json.gz"], threads=threads)


@pytest.mark.parametrize("uid", [-1, 10**30, "a", 1.5, [1, "a"], None])
def test_replay_of_no_event(demo, uid):
    with pytest.raises(tl.UsageError, match="replay: expected the number of an event"):
        tl.replay(demo, uid)


def test_replay_of_numbers_of_any_kind(demo):
    uid = demo.tree.find(name="aten::mm")[0].uid
    assert tl.replay(demo, np.int64(uid)) == tl.replay(demo, uid) == tl.replay(demo, np.array([uid]))
    assert "aten::mm" in tl.replay(demo, names="aten::mm")
    with pytest.raises(tl.UsageError, match="top: expected"):
        tl.replay(demo, top=-1)


@pytest.mark.parametrize("rows", [slice(1, 3), np.array([1, 2]), [1, 2], 1.5, None])
def test_one_event_at_a_time(demo, rows):
    with pytest.raises(TypeError, match="the row of one event, not .*; of several rows take a column"):
        demo.events[rows]
    assert demo.events[np.int64(3)] == demo.events[3]


def test_edits_of_wrong_types_are_refused(demo):
    edit = demo.edit()
    for wrong in (lambda: edit.rename(0, None), lambda: edit.rename("0", "x"), lambda: edit.rename(-1, "x"),
                  lambda: edit.set(0, name=3), lambda: edit.set(0, category=None), lambda: edit.set(0, ts_ns="1"),
                  lambda: edit.set(0, dur_ns=-5), lambda: edit.set(0, dur_ns=None),
                  lambda: edit.insert_op(above=0, name=None), lambda: edit.insert_op(above=0, name="x", dims=3),
                  lambda: edit.insert_op(above=0, name="x", types="float"),
                  lambda: edit.insert_op(above=0, name="x", types=[1])):
        with pytest.raises(tl.UsageError):
            wrong()
    assert len(edit.trace()) == len(demo)


def test_what_comes_back_from_a_pickle_is_of_the_same_trace(demo, data):
    node, event = demo.tree.find(name="aten::mm")[0], demo.events[20]
    assert pickle.loads(pickle.dumps(node)) == node and pickle.loads(pickle.dumps(event)) == event
    lonely = tl.read((data / "h200_ops_zoo.json.gz").read_bytes()).tree.roots[0]
    assert pickle.loads(pickle.dumps(lonely)) == lonely


def test_a_trace_has_one_tree(demo):
    assert demo.tree is demo.tree is demo.build_tree()
    assert demo.build_tree(python_frames=True) is not demo.tree
    assert tl.from_events([]).tree is not None


def test_numbers_of_no_event_are_not_in_the_tree(demo):
    for uid in (-1, 10**9, 10**30):
        assert uid not in demo.tree
        with pytest.raises(IndexError):
            demo.tree[uid]
