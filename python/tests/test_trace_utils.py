"""Annotations of serving engines, and parts of traces along them."""

import gzip
import json
import os
import sys
import types
import zipfile

import pytest

from TraceLens.TraceUtils import match_inference_trace_blocks as match
from TraceLens.TraceUtils import split_inference_trace_annotation as split
from TraceLens.TraceUtils.annotation_utils import (
    ITERATION_PATTERNS,
    CaptureAnnotation,
    IterationAnnotation,
    average_detail,
    classify_phase,
    find_events_by_patterns,
    find_known_annotations,
    find_phase_from_window,
    iteration_details,
)

MIXED = "execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)_generation_3(sq3sk6144sqsq3sqsk6144)"
DECODE = "execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk131072sqsq64sqsk131072)"


@pytest.mark.parametrize("name, kind, fields", [
    (MIXED, "vllm_detailed", dict(batch_size=6147, context_requests=2, generation_requests=3, c_sq=6144, c_sk=7144,
                                  c_sqsq=20971520, c_sqsk=23019520, g_sk=6144, context_sum=6144, generation_sum=3)),
    ("execute_context_0(0)_generation_32(128)", "vllm_native", dict(batch_size=128, generation_requests=32, g_sq=128)),
    ("step[EXTEND bs=2 toks=900 c_sq=900 c_sqsq=5 c_sqsk=6 c_sk=7]", "sglang_detailed",
     dict(batch_size=900, context_requests=2, c_sqsk=6)),
    ("step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=9 g_sk=8]", "sglang_detailed",
     dict(batch_size=128, generation_requests=64, generation_sum=128)),
    ("step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 g_sqsq=1 g_sqsk=12]", "sglang_detailed",
     dict(batch_size=6, context_requests=1, generation_requests=1)),
    ("step[EXTEND bs=2 toks=14721]", "sglang_native", dict(batch_size=14721, context_requests=2, c_sq=14721)),
    ("step[DECODE bs=64]", "sglang_native", dict(batch_size=64, generation_requests=64, g_sq=64)),
    ("step[MIXED bs=2]", "sglang_native", dict(batch_size=2, context_requests=2, c_sq=0)),
    ("prefill[bs=6 tok=17408 ctx=[4096, 4096]...+3]", "atom_native",
     dict(batch_size=17408, context_requests=6, c_sq=17408, meta={"ctx": "[4096, 4096]...+3"})),
    ("decode[bs=117/128 tok=117 d=117 sqsq=117 sqsk=99 sk=98 tbo=1]", "atom_detailed",
     dict(batch_size=117, generation_requests=117, g_sk=98, meta={"d": 117, "tbo": True})),
    ("decode[bs=32 tok=128 d=32 spec=3]", "atom_native", dict(batch_size=128, meta={"d": 32, "spec": 3})),
    ("execute_diffusion_4_512x512", "diffusion_native", dict(batch_size=4, resolution="512x512", num_requests=0)),
])
def test_annotations(name, kind, fields):
    note = IterationAnnotation(name)
    assert note.kind == kind and note.matched
    assert {key: getattr(note, key) for key in fields} == fields
    assert note.has_sqsk == kind.endswith("detailed")
    if note.has_sqsk:
        assert note.chunk_stats()["g_sk"] == note.g_sk
    else:
        with pytest.raises(NotImplementedError):
            note.chunk_stats()


@pytest.mark.parametrize("name", ["ProfilerStep#1", "", "step[WARMUP bs=1]", "step[DECODE 5]", "my step[DECODE bs=1]",
                                  None])
def test_other_names_are_one_decoding_request(name):
    note = IterationAnnotation(name)
    assert not note.matched and note.kind is None
    assert note.iter_details() == {"batch_size": 1, "num_requests": 1, "context_requests": 0, "context_sum": 0,
                                   "generation_requests": 1, "generation_sum": 1}
    assert note.full_details()["num_requests"] == 0


def test_captures():
    note = CaptureAnnotation("capture_256_mixed_prefill")
    assert (note.matched, note.batch_size, note.mode, note.role) == (True, 256, "mixed_prefill", None)
    assert CaptureAnnotation("capture_8_draft_FULL").role == "draft"
    assert not CaptureAnnotation("recapture_1_x").matched


def test_roots_are_detailed_ones_or_else_the_short_ones():
    events = [{"cat": "user_annotation", "name": "step[DECODE bs=1]", "ts": 3},
              {"cat": "user_annotation", "name": DECODE, "ts": 2}, {"cat": "user_annotation", "name": MIXED, "ts": 1},
              {"cat": "gpu_user_annotation", "name": MIXED, "ts": 0}]
    assert [event["ts"] for event in find_known_annotations(events)] == [1, 2]
    assert [event["ts"] for event in find_known_annotations(events[:1])] == [3]
    assert find_events_by_patterns(events[:1], ITERATION_PATTERNS) == []


def test_phases():
    phases = [classify_phase({"context_requests": c, "generation_requests": g})
              for c, g in ((1, 0), (1, 1), (0, 1), (0, 0))]
    assert phases == ["prefill_only", "prefilldecode", "decode_only", None]
    assert find_phase_from_window(iteration_details([{"name": MIXED}, {"name": DECODE}])) == {
        "num_prefill": 0, "num_prefilldecode": 1, "num_decode": 1, "avg_bs": 3105, "avg_conc": 34}
    assert find_phase_from_window([])["avg_bs"] == 0
    assert average_detail([{"x": 1}, {}], "x") == 0.5


def test_ranges_and_archives(tmp_path):
    assert [split.parse_range(text, 10) for text in ("all", "3", "8:20")] == [(0, 10), (3, 4), (8, 10)]
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("readme.txt", "")
        archive.writestr("in/t.json", '{"traceEvents": [1]}')
    assert split.get_filename(str(tmp_path / "t.zip")) == "in/t.json"
    assert split.get_filename("t.json.gz") == "t.json.gz"
    assert split.load_trace(str(tmp_path / "t.zip")) == {"traceEvents": [1]}


def test_the_command_is_the_native_one(tmp_path, monkeypatch, capfd):
    program = tmp_path / "tracelens"
    program.write_text('#!/bin/sh\necho "$@"\nexit 3\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setitem(sys.modules, "tracelens", types.ModuleType("tracelens"))
    assert split.main(["t.json", "-o", "parts"]) == 3
    assert capfd.readouterr().out == "compat TraceLens_split_inference_trace t.json -o parts\n"
    monkeypatch.setenv("PATH", "")
    assert split.main([]) == 1 and "not on the path" in capfd.readouterr().err
    sys.modules["tracelens"].main = lambda words: len(words)
    assert split.main(["a", "b"]) == 4


def step(name, ts):
    return {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 90}


def decode(tokens, cached, ts=0):
    return step(f"execute_1_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq{tokens}sk{cached}sqsq1sqsk1)", ts)


def test_blocks_and_windows():
    roots = [decode(2, 10), decode(2, 11), step(MIXED, 0), step("step[DECODE bs=0]", 0), decode(2, 9),
             *(decode(2, n) for n in range(5))]
    blocks = match.find_blocks(roots)
    assert [(block.phase, block.start_idx, block.end_idx) for block in blocks] == [
        ("decode_only", 0, 2), ("prefilldecode", 2, 3), ("decode_only", 4, 10)]
    assert match.find_blocks(roots[:1]) == []
    windows = match.window_blocks(blocks, 4)
    assert [(window.start_idx, window.num_steps, window.truncated) for window in windows] == [
        (0, 2, False), (2, 1, False), (4, 4, True)]
    assert match.window_blocks(blocks, 0) == blocks


def test_the_closest_blocks_of_a_phase_are_chosen():
    a = match.find_blocks([decode(2, 100), decode(2, 100), step(MIXED, 0), decode(2, 500), decode(2, 500)])
    b = match.find_blocks([decode(2, 480), decode(2, 500)])
    matches, notes = match.select_best_per_phase(a, b, ["decode_only", "prefilldecode"])
    assert [(m["a_block_index"], m["b_block_index"], m["distance"]) for m in matches] == [(2, 0, [0.0, 10.0])]
    assert notes == [{"phase": "prefilldecode",
                      "note": "no eligible (A, B) pair found (A blocks of phase: 1, with same-size B candidate: 0)"}]


def trace(tmp_path, name, cached):
    events = [{"ph": "M", "name": "process_name", "pid": 1, "ts": 0, "args": {"name": "python"}}]
    for number in range(3):
        ts = number * 100
        events += [decode(2, cached, ts),
                   {"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 1, "tid": 1, "ts": ts + 1, "dur": 2,
                    "args": {"correlation": number}},
                   {"ph": "s", "id": number, "ts": ts + 1}, {"ph": "f", "id": number, "ts": ts + 5},
                   {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": ts + 5, "dur": 20,
                    "args": {"correlation": number}}]
    path = tmp_path / f"{name}.pt.trace.json"
    path.write_text(json.dumps({"traceEvents": events, "schemaVersion": 1}))
    return str(path)


def test_two_traces_are_matched_and_their_parts_written(tmp_path):
    out = tmp_path / "out"
    assert match.main([trace(tmp_path, "a", 10), trace(tmp_path, "b", 12), "-o", str(out), "--num-steps", "2"]) == 0
    report, = json.loads((out / "match_report.json").read_text())
    assert report["distance"] == [0.0, 2.0] and report["TraceA"]["original_num_steps"] == 3
    assert report["TraceB"]["steps"][1]["g_sk"] == 12
    path = out / "decode_only/decode_only_best_A0_B0_A_prefill_0_prefilldecode_0_decode_2_bs2_conc2_a.json.gz"
    assert report["TraceA"]["output_path"] == str(path)
    part = json.loads(gzip.open(path).read())
    assert part["schemaVersion"] == 1
    assert [event.get("cat", event["ph"]) for event in part["traceEvents"]] == [
        *["user_annotation", "cuda_runtime", "s", "f", "kernel"] * 2, "M"]
    assert (out / "match_report.csv").read_text().startswith("match_id,phase,num_steps,distance,TraceA_trace,")
    notes = json.loads((out / "match_notes.json").read_text())
    assert [note["phase"] for note in notes] == ["prefilldecode"]


def test_unknown_phases_are_refused_before_anything_is_written(tmp_path, capsys):
    assert match.main(["a", "b", "-o", str(tmp_path / "none"), "--phases", "warmup"]) == 2
    assert "warmup" in capsys.readouterr().err and not (tmp_path / "none").exists()
