"""NcclAnalyser, the collective report and fusion, on ranks that the tests write."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from compat_events import event, launch, op, write_trace

from TraceLens import NcclAnalyser, TraceFuse
from TraceLens.Reporting.generate_multi_rank_collective_report_pytorch import generate_collective_report, rank_files

NELEMS = 1 << 20


def collective(name, ts, dur, number, kernel="ncclDevKernel_Generic", nelems=NELEMS, **args):
    described = {"Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Collective name": name, "Group size": 2,
                 "dtype": "Float", "In msg nelems": nelems, "Out msg nelems": nelems, "In split size": "[]",
                 "Out split size": "[]", "stream": 9, "correlation": number, **args}
    return event("kernel", kernel, ts, dur, pid=0, tid=9, **described)


@pytest.fixture
def ranks(tmp_path):
    """Rank 1 comes 30 µs later to the first all-reduce and 10 µs earlier to the second."""
    def of(rank, starts):
        first, second, third = starts
        return write_trace(tmp_path / f"rank{rank}_trace.json.gz", [
            collective("allreduce", first, 100 if rank == 0 else 70, 1),
            collective("allreduce", second, 50, 2),
            collective("all_to_allv", third, 40, 3, nelems=300, **{"In split size": "[100, 200]"}),
        ], deviceProperties=[{"id": 0}, {"id": 1}])
    return [of(0, (0, 1000, 2000)), of(1, (30, 990, 2005))]


def test_the_long_table_counts_the_kernels_of_a_group(ranks):
    long = NcclAnalyser(ranks, 2).build_df_long()
    assert long["collective_id"].tolist() == ["0_0", "0_1", "0_2"] * 2
    assert long["rank"].tolist() == [0] * 3 + [1] * 3
    assert long["In msg size (MB)"].iloc[0] == 4.0 and str(long["Group size"].dtype) == "int64"


def test_who_waits_for_whom(ranks):
    analyser = NcclAnalyser(ranks, 2)
    table = analyser.build_df_nccl_implicit_sync_cat(detailed=True)
    assert table["skew in start time"].tolist() == [30, 10]
    assert table["earliest arrival rank"].tolist() == [0, 1]
    assert table["comm_latency"].tolist() == [70, 50]
    assert table["algo bw (GB/s)"].iloc[1] == pytest.approx(4 / 1024 / 50e-6)
    assert table["bus bw (GB/s)"].iloc[1] == pytest.approx(4 / 1024 / 50e-6)  # 2 (n - 1) / n of two ranks
    assert "rank_0_ts" not in analyser.df_implicit_sync_cat.columns
    late = analyser.build_df_straggler_summary()
    assert late[["rank", "total_wait_time_us", "times_arrived_last"]].values.tolist() == [[1, 10, 1], [0, 30, 1]]


def test_summaries_take_any_aggregate_and_columns(ranks):
    analyser = NcclAnalyser(ranks, 2)
    made = analyser.build_df_summary_nccl_implicit_sync_cat(agg_metrics=["max", "count"])
    assert made["comm_latency_max"].tolist() == [70] and made["count"].tolist() == [2]
    by_name = analyser.build_df_summary_long(agg_metrics=["max"], group_by_cols=["Collective name"])
    assert by_name[["Collective name", "dur_sum", "dur_max", "operation_count"]].values.tolist() == [
        ["allreduce", 270, 100, 4], ["all_to_allv", 80, 40, 2]]


def test_uneven_exchanges(ranks):
    analyser = NcclAnalyser(ranks, 2)
    table = analyser.build_df_nccl_all2allv()
    assert table["total nelems communicated"].tolist() == [600] and table["wall_time (us)"].tolist() == [45]
    heat = analyser.build_df_all2allv_heatmap()
    assert heat[["src_rank", "dst_rank", "count"]].values.tolist() == [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]]
    assert heat["total_sent_MB"].iloc[1] == 800 / 2**20


def test_ranks_that_disagree_are_an_error_or_a_warning(tmp_path):
    paths = [write_trace(tmp_path / f"{rank}.json.gz", [collective("allreduce", 0, 10, 1, nelems=64 + rank)])
             for rank in range(2)]
    with pytest.raises(ValueError, match=r"Metadata mismatch in 'In msg nelems' for collective 0_0: \[64 65\]"):
        NcclAnalyser(paths, 2).build_df_nccl_implicit_sync_cat()
    assert len(NcclAnalyser(paths, 2).build_df_nccl_implicit_sync_cat(strict_metadata_check=False)) == 1


def test_no_collectives_no_columns(tmp_path):
    path = write_trace(tmp_path / "x.json.gz", [op("a", 0, 20), *launch(1, 5, 10, 5)])
    analyser = NcclAnalyser([path], None)
    assert analyser.build_df_long().shape == analyser.build_df_summary_nccl_implicit_sync_cat().shape == (0, 0)
    assert analyser.build_df_nccl_all2allv() is None and analyser.build_df_all2allv_heatmap() is None


def test_kernels_without_groups_are_matched_by_position(tmp_path):
    bare = {"correlation": 1, "stream": 3}
    paths = [write_trace(tmp_path / f"{rank}.json.gz", [
        event("kernel", "void cross_device_reduce_1stage<2>", ts, 5, pid=0, tid=3, **bare) for ts in (20, 10)])
        for rank in range(2)]
    analyser = NcclAnalyser(paths, 2)
    long = analyser.build_df_long()
    assert analyser._simplified_mode and long["collective_id"].tolist() == ["1", "0", "1", "0"]
    assert set(long["Collective name"]) == {"allreduce"} and set(long["Process Group Name"]) == {"all"}
    assert set(NcclAnalyser(paths, 2, custom_collective_patterns=[("reduce_1", "mine")]).build_df_long()["Collective name"]) == {"mine"}


def test_the_report_finds_ranks_and_says_what_is_missing(ranks, tmp_path):
    folder = str(tmp_path)
    sheets = generate_collective_report(trace_dir=folder, world_size=2, output_csvs_dir=folder + "/out")
    assert list(sheets) == ["nccl_summary_implicit_sync", "nccl_summary_long", "nccl_summary_all2allv", "nccl_long",
                            "nccl_implicit_sync", "nccl_all2allv", "straggler_summary"]
    assert sheets["nccl_long"]["node_id"].tolist() == [0] * 6 and set(sheets["nccl_long"]["node_span"]) == {"intra_node"}
    assert pd.read_csv(folder + "/out/nccl_long.csv").shape == sheets["nccl_long"].shape
    with pytest.raises(FileNotFoundError, match="Expected trace file not found"):
        generate_collective_report(trace_dir=folder, world_size=3)
    with pytest.raises(ValueError, match="exactly one of"):
        generate_collective_report(trace_dir=folder, trace_glob="x", world_size=2)
    with pytest.raises(ValueError, match="world_size must be provided"):
        generate_collective_report(trace_dir=folder)
    assert rank_files(None, None, folder + "/*.json.gz", 2, r"rank(\d+)", True) == ranks
    with pytest.raises(FileNotFoundError, match=r"Missing ranks after glob resolution: \[2\]"):
        rank_files(None, None, folder + "/*.json.gz", 3, r"rank(\d+)", True)


def test_fused_ranks_do_not_collide(tmp_path):
    paths = {rank: write_trace(tmp_path / f"{rank}.json.gz", [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
        event("python_function", "main", 0, 90), op("aten::mm", 0, 20), *launch(41, 5, 30, 10)]) for rank in (3, 0)}
    fuser = TraceFuse(paths)
    assert fuser.linking_key == "correlation" and fuser.offset_multiplier == {"pid": 100, "correlation": 1000, "id": 1000}
    merged = fuser.merge()
    kernels = [each for each in merged if each.get("cat") == "kernel"]
    assert [each["args"]["correlation"] for each in kernels] == [3041, 41]
    assert kernels[0]["pid"] == 300 and kernels[0]["args"]["pid_raw"] == 0 and kernels[0]["args"]["rank"] == 3
    assert not any(each.get("cat") == "python_function" for each in merged)
    assert merged[-1] == {"name": "process_sort_index", "ph": "M", "pid": 301, "tid": 0, "args": {"sort_index": 6}}
    only = fuser.merge(filter_fn=lambda each: each.get("cat") == "python_function")
    assert [each["name"] for each in only[:2]] == ["main", "main"]
    path = fuser.merge_and_save(str(tmp_path / "out.json"))
    with gzip.open(path) as file:
        assert len(json.load(file)["traceEvents"]) == len(merged) and path.endswith("out.json.gz")


def test_fusion_needs_a_file():
    with pytest.raises(ValueError, match="at least one"):
        TraceFuse([])


def test_ways_to_aggregate_may_be_functions(ranks):
    analyser = NcclAnalyser(ranks, 2)
    words = analyser.build_df_summary_long(agg_metrics=["mean", "max"])
    functions = analyser.build_df_summary_long(agg_metrics=[np.mean, "max"])
    assert functions.equals(words)
    exchanges = analyser.build_df_summary_nccl_all2allv(agg_metrics=[np.mean])
    assert "wall_time (us)_mean" in exchanges.columns
