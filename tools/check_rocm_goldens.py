#!/usr/bin/env python3
"""The drop-in scripts for ROCm traces against tables of the Python TraceLens.

    tools/check_rocm_goldens.py build/check/apps/tracelens/tracelens ../shared

That program prints nanoseconds under headers that say microseconds, and microseconds under ms; here
the headers are true (docs/differences.md). So its tables are compared with ours converted back, a
threshold in microseconds is a thousandth of its number there, and times it reads wrongly from JSON
(fractions cut off, times from 10^10 us on taken for ns, null as the text None) are written into a
copy of the trace. Rows that tie come in any order there.
Every trace that there is as .pftrace too must give the same bytes from both.
"""
import csv
import filecmp
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
import zipfile

from clean_environment import clean_environment

ACTIVITY, API, COPY = "pftrace_hip_activity", "pftrace_hip_api", "pftrace_memory_copy"
PFTRACE_CASES = {  # folder of golden tables: script and flags
    "activity": (ACTIVITY, []),
    "activity_merged": (ACTIVITY, ["--merge_kernels", "--kernel_summary_group", "name"]),
    "activity_rccl_compute": (ACTIVITY, ["--kernel_summary_include_rccl", "--kernel_summary_baseline",
                                         "compute", "--hip_summary_group", "name+stream",
                                         "--min_event_ns", "0", "--top_xla", "5"]),
    "activity_name_op": (ACTIVITY, ["--hip_summary_group", "name+op", "--min_event_ns", "1000",
                                    "--merge_kernels"]),
    "activity_name_stream_op": (ACTIVITY, ["--hip_summary_group", "name+stream+op",
                                           "--no_kernel_summary", "--min_event_ns", "0"]),
    "activity_tid_window": (ACTIVITY, ["--min_tid", "1", "--max_tid", "11", "--min_event_ns", "0"]),
    "api": (API, []),
    "api_multi": (API, ["--allow_multi_kernel_per_api"]),
    "api_nonlaunch": (API, ["--include_nonlaunch_apis"]),
    "api_all": (API, ["--include_nonlaunch_apis", "--allow_multi_kernel_per_api",
                      "--exclude_kernel_regex", ""]),
    "memory_copy": (COPY, []),
}
ROCPROF_CASES = {
    "908": ("rocprof/908_results.json.gz", ["--kernel_details", "--topk_kernels", "400",
                                            "--short_kernel_study", "--short_kernel_threshold_us",
                                            "4"]),
    "small": ("rocprof_synth/small_results.json", ["--kernel_details", "--short_kernel_study",
                                                   "--short_kernel_threshold_us", "0.01"]),
    "small_options": ("rocprof_synth/small_results.json",
                      ["--disable_kernel_summary", "--kernel_details", "--topk_kernels", "20",
                       "--short_kernel_study", "--short_kernel_threshold_us", "20",
                       "--short_kernel_histogram_bins", "7"]),
    "no_kernels": ("rocprof_synth/no_kernels_results.json", ["--kernel_details",
                                                             "--short_kernel_study"]),
}
IN_NS = re.compile(r"\(µs\)(?!.*percent)|^bin_(start|end)$")
IN_US = re.compile(r"Total Kernel Time \(ms\)|total_direct_kernel_time_ms")


class Checker:
    def __init__(self, program, shared, work):
        self.program, self.shared, self.work = program, shared, work
        self.cases = self.failed = 0

    def run(self, script, flags):
        command = [self.program, "compat", f"TraceLens_generate_perf_report_{script}", *flags]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"FAIL  {' '.join(map(str, command))}\n      {done.stderr.strip()}")
        return done.returncode == 0

    def compare(self, name, ours, golden, ok=True):
        self.cases += 1
        done = subprocess.run([sys.executable, self.shared / "tools/compare_golden.py", ours, golden,
                               "--min", "0.999", "--show", "2"], capture_output=True, text=True)
        ok = ok and done.returncode == 0
        print(f"{'ok' if ok else 'FAIL'}    {name}: {done.stdout.strip().splitlines()[-1]}")
        if not ok:
            print(done.stdout)
        self.failed += not ok

    def require(self, name, holds):
        self.cases += 1
        self.failed += not holds
        print(f"{'ok' if holds else 'FAIL'}    {name}")


def convert(path, columns):
    """Multiplies the columns whose names `columns` finds by 1000."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    for i, column in enumerate(rows[0] if rows else []):
        if columns.search(column):
            for row in rows[1:]:
                value = float(row[i]) * 1000 if row[i] else 0.0
                whole = abs(value - round(value)) < 1e-6  # durations are whole there
                row[i] = (str(round(value)) if whole else repr(value)) if row[i] else ""
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def misread(trace, into):
    """The trace with the times the Python TraceLens takes it to have."""
    document = json.loads(trace.read_text(encoding="utf-8"))
    for event in document["traceEvents"]:
        arguments = event.get("args") or {}
        if "name" in event and event["name"] is None:
            event["name"] = "None"
        if "ts" not in event or {"begin_ns", "delta_ns"} <= arguments.keys():
            continue
        if event["ts"] >= 10**10 and event.get("ph") == "X" and "agent" in arguments:
            event["ts"], event["dur"] = event["ts"] / 1000, event.get("dur", 0) / 1000
        else:
            event["ts"], event["dur"] = int(event["ts"]), int(event.get("dur", 0))
    into.write_text(json.dumps(document), encoding="utf-8")
    return into


def collapsed(path):
    """Markdown lines without the padding; in no order, as rows that tie come in any."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return sorted(re.sub(r"-+", "-", re.sub(r"\s+", " ", line)).strip() for line in lines)


def check_pftrace(checker):
    for golden in sorted((checker.shared / "golden/pftrace").iterdir()):
        trace = checker.shared / "traces/pftrace" / f"{golden.name}.json"
        if not trace.exists():
            continue
        native = trace.with_suffix(".pftrace")
        if not native.exists():
            trace = misread(trace, checker.work / trace.name)
        for case, (script, flags) in PFTRACE_CASES.items():
            if not (golden / case).is_dir():
                continue
            out = checker.work / "pftrace" / golden.name / case
            page = out.with_suffix(".md")
            more = ["--output_md_path", page] if script == ACTIVITY else []
            ok = checker.run(script, ["--trace_path", trace, "--output_csvs_dir", out, *flags, *more])
            checker.compare(f"{golden.name}/{case}", out, golden / case, ok)
            if (golden / case / "report.md").exists():
                checker.require(f"{golden.name}/{case}/report.md",
                                collapsed(page) == collapsed(golden / case / "report.md"))
            if native.exists():
                twin = checker.work / "native" / golden.name / case
                ok = checker.run(script, ["--trace_path", native, "--output_csvs_dir", twin, *flags])
                names = [path.name for path in sorted(out.iterdir())] if ok else []
                same = ok and filecmp.cmpfiles(out, twin, names, shallow=False)[0] == names
                checker.require(f"{golden.name}/{case}: the same from .pftrace", same)


def check_rocprof(checker):
    for case, (trace, flags) in ROCPROF_CASES.items():
        golden = checker.shared / "golden/rocprof" / case
        path = checker.shared / "traces" / trace
        if not golden.is_dir() or not path.exists():
            continue
        out = checker.work / "rocprof" / case
        ok = checker.run("rocprof", ["--profile_json_path", path, "--output_csvs_dir", out, *flags])
        for table in out.glob("*.csv"):
            convert(table, IN_NS)
            convert(table, IN_US)
        checker.compare(f"rocprof/{case}", out, golden, ok)


def sheets_of(workbook, folder):
    """Writes every sheet of a workbook as CSV; returns their names in order."""
    space = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(workbook) as parts:
        texts = []
        if "xl/sharedStrings.xml" in parts.namelist():
            for item in ElementTree.fromstring(parts.read("xl/sharedStrings.xml")):
                texts.append("".join(part.text or "" for part in item.iter(f"{{{space['m']}}}t")))
        book = ElementTree.fromstring(parts.read("xl/workbook.xml"))
        names = [sheet.get("name") for sheet in book.iterfind("m:sheets/m:sheet", space)]
        for number, name in enumerate(names, 1):
            sheet = ElementTree.fromstring(parts.read(f"xl/worksheets/sheet{number}.xml"))
            rows = []
            for row in sheet.iterfind("m:sheetData/m:row", space):
                cells = {}
                for cell in row.iterfind("m:c", space):
                    column = 0
                    for letter in re.match(r"[A-Z]+", cell.get("r")).group():
                        column = column * 26 + ord(letter) - 64
                    value = cell.find("m:v", space)
                    text = "".join(part.text or "" for part in cell.iter(f"{{{space['m']}}}t"))
                    if value is not None:
                        text = texts[int(value.text)] if cell.get("t") == "s" else value.text
                    cells[column] = text
                rows.append([cells.get(i, "") for i in range(1, max(cells, default=0) + 1)])
            with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
    return names


def check_genesis(checker):
    for golden in sorted((checker.shared / "golden/genesis").iterdir()):
        capture = checker.shared / "traces/genesis" / golden.name
        if not capture.is_dir():
            continue
        out = checker.work / "genesis" / golden.name
        ok = checker.run("genesis", ["--capture-dir", capture, "--output-dir", out, "--kernel-details",
                                     "--include-api", "--short-kernel-threshold-us", "0.01"])
        names = sheets_of(out / "genesis_perf_report.xlsx", out) if ok else []
        # There, the mean and the sums of the kernel tables were corrected, and nothing else.
        for table in out.glob("*.csv"):
            if not table.name.startswith("pftrace_"):
                convert(table, re.compile(f"(?!Mean )(?:{IN_NS.pattern})" if table.stem != "kernel_summary"
                                          else r"^(Median|Std|Min|Max) "))
        checker.compare(f"genesis/{golden.name}", out, golden, ok)
        checker.require(f"genesis/{golden.name}: sheets",
                        names == (golden / "sheets.txt").read_text(encoding="utf-8").split())
        if (capture / "kernel_trace").is_dir():  # without a kernel CSV ours says "full trace"
            checker.require(f"genesis/{golden.name}/genesis_summary.md",
                            collapsed(out / "genesis_summary.md") ==
                            collapsed(golden / "genesis_summary.md"))


def main():
    clean_environment()
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1].strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as work:
        checker = Checker(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(work))
        check_pftrace(checker)
        check_rocprof(checker)
        check_genesis(checker)
        print(f"\n{checker.cases} checks, {checker.failed} failed")
        return 1 if checker.failed or checker.cases == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
