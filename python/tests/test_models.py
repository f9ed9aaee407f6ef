import json
import threading

import pytest

import tracelens as tl

TRACE = json.dumps({"traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 100 * i, "dur": 50,
     "args": {"External id": i, "Input Dims": [[8, 4], [4, 2]],
              "Input type": ["c10::BFloat16", "c10::BFloat16"]}}
    for i, name in enumerate(["my::gemm", "my::gemm", "my::broken", "my::shy"], 1)
] + [
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
     "ts": 100 * i + 10, "dur": 5, "args": {"correlation": i, "External id": i}} for i in range(1, 5)
] + [
    {"ph": "X", "cat": "kernel", "name": "my_kernel", "pid": 0, "tid": 7, "ts": 100 * i + 20,
     "dur": 10, "args": {"correlation": i, "External id": i, "stream": 7, "device": 0}}
    for i in range(1, 5)
] + [
    {"ph": phase, "cat": "ac2g", "name": "ac2g", "id": i, "pid": pid, "tid": tid, "ts": 100 * i + at,
     "bp": "e"} for i in range(1, 5) for phase, pid, tid, at in (("s", 1, 1, 10), ("f", 0, 7, 20))
]}).encode()


@pytest.fixture(scope="module")
def trace():
    return tl.read(TRACE)


def work(call):
    (m, k), (_, n) = call.dims
    return tl.Work(flops=2 * m * n * k, bytes=call.elem(0) * (m * k + k * n + m * n),
                   compute="matrix", params={"M": m, "N": n, "K": k})


def test_a_model_fills_the_sheet_of_its_op(trace):
    asked = []

    @tl.op_model("my::gemm", category="GEMM")
    def _(call):
        asked.append(call)
        return work(call)

    report = tl.report(trace, gpu="H200")
    gemm = report["GEMM"]
    assert gemm.cells("param: M") == [8] and gemm.cells("param: K") == [4]
    flops = 2 * 8 * 2 * 4
    assert gemm.cells("GFLOPS_first") == [pytest.approx(flops / 1e9)]
    assert len(asked) == 1  # twice in the trace, but with the same arguments
    assert asked[0].dtypes == ("c10::BFloat16", "c10::BFloat16") and asked[0].elem(1) == 2
    assert "GEMM" not in tl.report(trace, models=[])  # those registered were not asked


def test_what_a_model_raises_is_told_and_never_ends_a_report(trace):
    @tl.op_model("my::broken", category="GEMM")
    def _(call):
        return 1 // 0

    @tl.op_model("my::shy", category="GEMM")
    def _(call):
        raise tl.NoModel("the weather is bad")

    report = tl.report(trace)
    warning, = [w for w in report.warnings if "my::broken" in w]
    assert "ZeroDivisionError" in warning and "test_models.py, line" in warning
    assert "((8, 4), (4, 2))" in warning
    assert not [w for w in report.warnings if "my::shy" in w]
    answer = tl.model("my::shy", dims=[(8, 4)], dtypes="bf16")
    assert "the weather is bad" in answer.to_csv()


def test_ctrl_c_in_a_model_comes_out(trace):
    @tl.op_model("my::gemm", category="GEMM")
    def _(call):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tl.report(trace)


def test_what_is_no_work_is_a_warning(trace):
    tl.op_model("my::gemm", category="GEMM")(lambda call: "much")
    assert any("AttributeError" in w for w in tl.report(trace).warnings)
    tl.op_model("my::gemm", category="GEMM")(lambda call: tl.Work(flops="x"))
    assert any("ValueError" in w for w in tl.report(trace).warnings)


def test_patterns_and_models_given_with_the_report(trace):
    tl.op_model(pattern="^my::ge", category="GEMM")(work)
    model, = tl.op_model.registry
    tl.op_model.registry.clear()
    assert "GEMM" in tl.report(trace, models=[model])
    for wrong in (lambda: tl.op_model(), lambda: tl.op_model("a", pattern="b")):
        with pytest.raises(tl.UsageError):
            wrong()
    tl.op_model(pattern="(", category="GEMM")(work)
    with pytest.raises(tl.UsageError):
        tl.report(trace)


def test_a_category_by_name_and_kernel_comes_first(trace):
    tl.op_model("my::gemm", category="GEMM")(work)
    asked = []

    def category_of(op, first_kernel):
        asked.append((op, first_kernel))
        return "mine" if op == "my::gemm" else None

    table = tl.report(trace, category_of=category_of, tables=["ops_summary_by_category"])
    categories = table["ops_summary_by_category"].cells("op category")
    assert "mine" in categories and "GEMM" not in categories
    assert ("my::gemm", "my_kernel") in asked
    assert ("my::gemm", None) not in asked
    asked.clear()

    def broken(op, first_kernel):
        asked.append(op)
        return 1 // 0

    with pytest.raises(ZeroDivisionError):
        tl.report(trace, category_of=broken, threads=1)
    assert len(asked) == 1
    with pytest.raises(TypeError, match="str or None"):
        tl.report(trace, category_of=lambda op, kernel: 5)
    with pytest.raises(tl.UsageError):
        tl.report(trace, category_of=5)


def test_the_first_kernel_is_the_one_an_op_launches_first():
    kernels = [("first_mine", 1), ("ampere_sgemm_128x64", 100)]
    events = [{"ph": "X", "cat": "cpu_op", "name": "my::thing", "pid": 1, "tid": 1, "ts": 0, "dur": 100,
               "args": {"External id": 1}}]
    for i, (name, dur) in enumerate(kernels):
        ids = {"correlation": i + 1, "External id": 1}
        events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                    "ts": 10 + 10 * i, "dur": 5, "args": ids},
                   {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 50 + 20 * i,
                    "dur": dur, "args": {**ids, "stream": 7, "device": 0}}]
        events += [{"ph": phase, "cat": "ac2g", "name": "ac2g", "id": i + 1, "pid": pid, "tid": tid, "ts": ts,
                    "bp": "e"} for phase, pid, tid, ts in (("s", 1, 1, 10 + 10 * i), ("f", 0, 7, 50 + 20 * i))]
    two = tl.read(json.dumps({"traceEvents": events}).encode())

    def categories(function):
        report = tl.report(two, category_of=function, tables=["ops_summary", "kernel_summary"])
        assert set(report["ops_summary"].cells("name")) == {"my::thing"}
        return report["ops_summary"].cells("Categories"), report["kernel_summary"].cells("Parent op category")

    usual = categories(None)
    assert "GEMM" in str(usual[0])
    assert categories(lambda op, kernel: "host" if kernel is None else None) == usual
    assert categories(lambda op, kernel: "mine" if "sgemm" in kernel else None) == usual
    mine = categories(lambda op, kernel: "mine" if kernel == "first_mine" else None)
    assert "mine" in str(mine[0]) and "GEMM" not in str(mine[0]) and set(mine[1]) == {"mine"}


def test_models_are_asked_from_many_reports_at_once(trace):
    tl.op_model("my::gemm", category="GEMM")(work)
    reports = []
    threads = [threading.Thread(target=lambda: reports.append(tl.report(trace)["GEMM"].to_csv()))
               for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reports) == 8 and len(set(reports)) == 1


def test_a_table_of_ones_own_stands_where_it_is_told_to(trace):
    @tl.table("mine", columns=[tl.Column("name", "text"), tl.Column("us", "real", "µs")],
              after="gpu_timeline")
    def _(t):
        yield from ((e.name, e.dur_ns / 1000) for e in t.events if e.category == "kernel")

    report = tl.report(trace)
    assert list(report)[:2] == ["gpu_timeline", "mine"]
    assert report["mine"].cells("us") == [10.0] * 4

    @tl.table("broken", columns=[tl.Column("name", "text")])
    def _(t):
        yield 1 // 0

    report = tl.report(trace)
    assert "broken" not in report and "mine" in report
    assert any("the table broken failed: ZeroDivisionError" in w for w in report.warnings)


def test_kernel_rules(trace, tmp_path):
    def kinds(**options):
        return tl.report(trace, also=["kernel_categories"], **options)["kernel_categories"].to_csv()

    assert "my kind" not in kinds()
    tl.kernel_rule("my_kern.*", "my kind")
    assert "my kind" in kinds()
    rules = tmp_path / "rules.json"
    rules.write_text('{"rules": [{"category": "their kind", "pattern": "my_kernel"}]}')
    assert "my kind" in kinds(kernel_rules_file=rules)  # ours come first
    tl.kernel_rule.registry.clear()
    assert "their kind" in kinds(kernel_rules_file=rules)


def test_models_without_a_trace():
    answer = tl.model("aten::mm", dims=[(8, 4), (4, 2)], dtypes=["bf16", "bf16"], gpu="H200")
    assert answer.cells("FLOPs") == [2 * 8 * 4 * 2]
    assert len(tl.known_models()) > len(tl.known_models(family="GEMM")) > 0
    with pytest.raises(tl.UsageError):
        tl.model("aten::mm", dims="nonsense")
