"""Events under hostile use: threads that edit one tree, numbers and texts with code of their own, cycles.

What once ended the interpreter runs in a process of its own, so that a crash is a failed test.
"""

import gc
import os
import pathlib
import subprocess
import sys
import textwrap
import weakref

import pytest

from tracelens import _native

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data"
TRACE = str(DATA / "h200_streams_overlap.json.gz")
PRELUDE = f"""
import random, sys, threading
from tracelens import _native
store = _native.EventStore(_native.read({TRACE!r}))
def new_event(**members):
    return dict(ph="X", cat="cpu_op", name="x", pid=1, tid=2, ts=1.0, dur=2.0, t_end=3.0,
                UID=len(store.events), args=dict(a=1)) | members
def in_threads(work, count):
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


def survives(program, **environment):
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PRELUDE + textwrap.dedent(program)],
        env=os.environ | environment, capture_output=True, text=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


# --- threads ---


def test_threads_may_edit_and_build_one_tree():
    survives("""
        store.events
        def work(k):
            for i in range(100):
                store.events[k]["name"] = f"n{i}"
                store.build()
        in_threads(work, 2)
        assert [e["name"] for e in store.events[:2]] == ["n99", "n99"]
        assert not store.dirty()
    """)


@pytest.mark.parametrize("seed", [1, 11, 21])
def test_threads_may_do_anything_to_one_tree(seed):
    survives(f"""
        def work(k):
            dice = random.Random({seed} + k)
            for i in range(40):
                choice = dice.randrange(6)
                try:
                    if choice == 0: store.build()
                    elif choice == 1: dice.choice(store.events)["name"] = f"n{{i}}"
                    elif choice == 2: store.events.append(new_event())
                    elif choice == 3: store.tree(), store.uids(), store.dirty()
                    elif choice == 4: store.events.pop()
                    else:
                        [e.get("children") for e in store.events]
                        store.events_by_uid, store.name2event_uids, store.pid_tid_event_map
                except (KeyError, IndexError):
                    pass  # of events that another thread took away
        in_threads(work, 4)
    """)


def test_events_may_go_while_a_trace_is_made_of_them():
    survives("""
        def work(k):
            for i in range(100):
                if (i + k) % 3 == 0: store.events.append(new_event())
                elif (i + k) % 3 == 1: store.synced()
                else: store.events.pop()
        in_threads(work, 4)
    """, PYTHONMALLOC="debug")  # fmt: skip


def test_what_reads_the_events_may_not_ask_for_their_tree():
    stores = []

    def category(event):
        if stores:
            with pytest.raises(RuntimeError, match="being read"):
                stores[0].synced()
            with pytest.raises(RuntimeError, match="being read"):
                stores[0].build()
        return event["cat"]

    event = {"ph": "X", "cat": "cpu_op", "name": "x", "pid": 1, "tid": 2, "ts": 1, "dur": 2}
    stores.append(_native.import_events([event], event_to_category=category))
    stores[0].events[0]["name"] = "y"
    assert len(stores[0].synced()) == 1
    stores[0].build()
    assert stores[0].is_built


# --- code of the user's in the middle of it ---


def test_a_number_may_empty_the_list_of_events():
    survives("""
        class Evil:
            def __index__(self):
                store.events.clear(), store.events_by_uid.clear()
                junk = [{i: [i] * 50} for i in range(20000)]
                return 1
        for _ in range(20): store.events.append(new_event(pid=Evil()))
        store.synced()
    """, PYTHONMALLOC="debug")  # fmt: skip


def test_a_category_may_empty_the_list_of_events():
    survives("""
        def category(event):
            if made: made[0].events.clear()
            return event["cat"]
        made = []
        made.append(_native.import_events([new_event() for _ in range(50)],
                                          event_to_category=category))
        made[0].events[0]["name"] = "y"
        made[0].synced()
    """, PYTHONMALLOC="debug")  # fmt: skip


def test_a_number_may_empty_the_list_it_is_in():
    survives("""
        class Evil:
            def __index__(self):
                outer.clear()
                junk = [[i] for i in range(10000)]
                return 1
        outer = [[Evil(), 1, 2, 3, 4, 5] for _ in range(50)]
        _native.import_events([new_event(args={"Input Dims": outer})])
        children = []
        class Child:
            def __index__(self):
                event.clear(), children.clear()
                return 1
        children += [Child() for _ in range(50)]
        event = store.events[5]
        event["children"] = children
        store.synced()
    """, PYTHONMALLOC="debug")  # fmt: skip


def test_a_text_may_not_run_code_when_it_is_looked_at():
    survives("""
        class Evil(str):
            def __hash__(self):
                outer.clear()
                return 1
        outer = [[Evil("x"), 1, 2, 3, 4, 5] for _ in range(50)]
        store.events[5]["args"]["Input Dims"] = outer
        store.synced()
        assert len(outer) == 50
    """, PYTHONMALLOC="debug")  # fmt: skip


def test_classes_made_of_dict_and_int_are_written_as_what_they_hold():
    survives("""
        class Items(dict):
            def items(self): return [1, 2]
        class Number(int):
            def __str__(self): return "1}, {"
            __repr__ = __str__
        made = _native.import_events([new_event(args=Items(a=Number(10**30)))])
        assert len(made.synced()) == 1
    """)


# --- types and memory ---


def test_no_other_class_can_be_assigned_to_an_event():
    store = _native.EventStore(_native.read(TRACE))
    filled, lazy = _native.Event(a=1), store.events[5]
    for event in (filled, lazy):
        for other in (dict, _native.Event, _native.LazyEvent, _native.Args, _native.LazyArgs):
            with pytest.raises(TypeError):
                event.__class__ = other
    assert filled == {"a": 1}
    assert type(lazy) is _native.LazyEvent and lazy["UID"] == 5


def test_events_may_be_nested_deeply():
    survives("""
        event = _native.Event()
        for _ in range(300000):
            event = _native.Event(inner=event)
        del event
    """)


class Mark:
    pass


@pytest.mark.parametrize("where", ["event", "list", "uids", "category"])
def test_a_store_that_its_events_lead_to_is_collected(where):
    mark = Mark()
    if where == "category":
        event = {"ph": "X", "cat": "cpu_op", "name": "x", "pid": 1, "tid": 2, "ts": 1, "dur": 2}
        mark.store = _native.import_events(
            [event], event_to_category=lambda event, own=mark: own and event["cat"])
    else:
        mark.store = _native.EventStore(_native.read(TRACE))
    if where == "event":
        mark.store.event(3)["mark"] = mark
    elif where == "list":
        mark.store.events.append(mark)
    elif where == "uids":
        mark.store.events_by_uid["mark"] = mark
    seen = weakref.ref(mark)
    del mark
    gc.collect()
    assert seen() is None
