"""check_databases.py: the same run through several doors gives the same figures, and a database of a stranger
does no harm.

    check_databases.py --tracelens PROGRAM [--trace TRACE]
"""
import argparse
import collections
import csv
import gzip
import hashlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from clean_environment import clean_environment  # noqa: E402

import make_databases

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Failure(Exception):
    pass


class Check:
    def __init__(self, program, trace, folder):
        self.program, self.trace, self.folder = program, trace, pathlib.Path(folder)
        self.done = 0

    def run(self, *arguments, status=0):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, check=False)
        if done.returncode != status:
            raise Failure(f"{arguments}: status {done.returncode}, expected {status}\n{done.stderr}")
        return done

    def tables(self, *traces):
        out = self.folder / "tables"
        shutil.rmtree(out, ignore_errors=True)
        self.run("report", *traces, "--include-unlinked", "-q", "-o", f"{out}/")
        return {path.stem: list(csv.DictReader(path.open(encoding="utf-8"))) for path in out.glob("*.csv")}

    def expect(self, what, found, wanted):
        self.done += 1
        if found != wanted:
            raise Failure(f"{what}: {str(found)[:600]}\nexpected {str(wanted)[:600]}")


def timeline(tables):
    return {row["type"]: round(float(row["time ms"]), 6) for row in tables["gpu_timeline"]}


def kernels_of_kineto(run):
    totals = collections.defaultdict(lambda: [0, 0])
    for event in run.gpu:
        if event["cat"] == "kernel":
            totals[event["name"]][0] += 1
            totals[event["name"]][1] += event["end"] - event["start"]
    return {name: tuple(total) for name, total in totals.items()}


def kernels(tables):
    return {row["name"]: (int(row["count"]), int(row["total_ns"])) for row in tables["kernel_summary"]}


def same_figures(check):
    run = make_databases.Run(str(check.trace))
    wanted_timeline = timeline(check.tables(check.trace))
    wanted_kernels = kernels_of_kineto(run)
    check.data = check.folder / "data"
    check.data.mkdir()
    for name, write in (("nsys.sqlite", make_databases.write_nsys), ("rocpd.db", make_databases.write_rocpd),
                        ("rpd.rpd", make_databases.write_rpd)):
        path = check.data / name
        write(run, str(path))
        before = hashlib.sha256(path.read_bytes()).hexdigest()
        tables = check.tables(path)
        check.expect(f"{name}: gpu_timeline", timeline(tables), wanted_timeline)
        found = kernels(tables)
        fills = [event for event in run.gpu if event["cat"] == "gpu_memset"]
        for fill in fills if name == "rocpd.db" else ():  # there a fill is a kernel like any other
            found.pop(fill["name"], None)
        check.expect(f"{name}: kernel_summary", found, wanted_kernels)
        check.expect(f"{name}: the file stays as it was", hashlib.sha256(path.read_bytes()).hexdigest(), before)
        counts = {row["what"]: int(row["count"]) for row in tables["counts"]}
        check.expect(f"{name}: calls", counts["api_calls"], len(run.calls))
        check.expect(f"{name}: ranges", counts["ranges"], len(run.ops))
        with_sizes = {row["name"] for row in tables["op_summary"] if row["sizes"]}
        wanted = {op["name"] for op in run.ops if "Input Dims" in op["args"]}
        check.expect(f"{name}: ops with shapes", with_sizes, wanted)
    check.expect("nothing beside the files", sorted(p.name for p in check.data.iterdir()),
                 ["nsys.sqlite", "rocpd.db", "rpd.rpd"])
    check.run_of = run
    check.small = make_databases.Run(str(check.trace))
    for part in ("gpu", "calls", "ops"):
        setattr(check.small, part, getattr(check.small, part)[:40])


def other_ways_in(check):
    """Packed, through a pipe, out of a log, as a set: the same tables."""
    plain = check.data / "rocpd.db"
    wanted = check.tables(plain)
    packed = check.folder / "packed.db.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes(), 1))
    check.expect("gzip", check.tables(packed), wanted)
    piped = subprocess.run(f"cat {plain} | {check.program} report - --include-unlinked -q -o {check.folder}/piped/",
                           shell=True, capture_output=True, text=True, check=False)
    check.expect("a pipe", piped.returncode, 0)
    # A log beside the file holds what is newer than the file.
    log = check.folder / "log"
    log.mkdir()
    shutil.copy(plain, log / "x.db")
    writer = sqlite3.connect(log / "x.db", isolation_level=None)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("PRAGMA wal_autocheckpoint=0")
    table = next(name for name, in writer.execute("SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_kernel_dispatch_%'"))
    before = len(wanted["kernel_summary"])
    writer.execute(f'DELETE FROM "{table}" WHERE kernel_id <> (SELECT min(kernel_id) FROM "{table}")')
    files = {p.name: p.read_bytes() for p in log.iterdir()}
    check.expect("rows in the log count", len(check.tables(log / "x.db")["kernel_summary"]), 1)
    check.expect("the log stays", {p.name: p.read_bytes() for p in log.iterdir()}, files)
    writer.close()
    assert before > 1
    # Two processes of one job, in either order and as a folder.
    job = check.folder / "job"
    job.mkdir()
    make_databases.write_rocpd(check.run_of, str(job / "a.db"), "0198-aa", 11)
    make_databases.write_rocpd(check.run_of, str(job / "b.db"), "0198-bb", 12)
    both = check.tables(job)
    check.expect("two processes", {name: (2 * n, 2 * t) for name, (n, t) in kernels(wanted).items()}, kernels(both))
    (job / "job.yaml").write_text("rocprofiler-sdk:\n  rocpd:\n    rocpd_package_version: \"1.0\"\n    path: \".\"\n"
                                  "    files:\n      - b.db\n      - a.db\n", encoding="utf-8")
    check.expect("a list of files", kernels(check.tables(job / "job.yaml")), kernels(both))
    # A package: its list decides, not what lies beside it.
    package = check.folder / "run.rpdb"
    (package / "data").mkdir(parents=True)
    shutil.copy(job / "a.db", package / "data" / "a.rocpd")
    shutil.copy(job / "b.db", package / "b.db")
    (package / "metadata.yaml").write_text('rocprofiler-sdk: {"rocpd": {files: "d*/a.*", path: .}}\n', encoding="utf-8")
    check.expect("a package", kernels(check.tables(package)), kernels(wanted))


def operations_without_calls(check):
    """Every GPU operation is some process's, with and without its call."""
    path = check.folder / "two.rpd"
    shutil.copy(check.data / "rpd.rpd", path)
    database = sqlite3.connect(path)
    high = 1 << 32
    for table, columns in (("rocpd_api", "pid = pid + 1, id = id + ?"), ("rocpd_op", "id = id + ?"),
                           ("rocpd_api_ops", "api_id = api_id + ?1, op_id = op_id + ?1, id = id + ?1")):
        database.execute(f"CREATE TEMP TABLE twin AS SELECT * FROM {table}")
        database.execute(f"UPDATE twin SET {columns}", (high,))
        database.execute(f"INSERT INTO {table} SELECT * FROM twin")
        database.execute("DROP TABLE twin")
    database.execute("DELETE FROM rocpd_api_ops WHERE id % 3 = 0")
    database.commit()
    database.close()
    pooled = kernels(check.tables(path))
    out = check.folder / "by_process"
    check.run("report", path, "--include-unlinked", "--by-process", "-q", "-o", f"{out}/")
    sums = collections.defaultdict(lambda: [0, 0])
    names = set()
    for row in csv.DictReader((out / "kernel_summary.csv").open(encoding="utf-8")):
        names.add(row["process"])
        sums[row["name"]][0] += int(row["count"])
        sums[row["name"]][1] += int(row["total_ns"])
    check.expect("processes", len(names), 2)
    check.expect("sums over processes", {name: tuple(total) for name, total in sums.items()}, pooled)


def strangers(check):
    """Code that a file brings is not run; what is no trace gets a sentence."""
    harm = check.folder / "harm.db"
    shutil.copy(check.data / "rpd.rpd", harm)
    database = sqlite3.connect(harm)
    database.execute("ALTER TABLE rocpd_op RENAME TO hidden_op")
    database.execute("CREATE VIEW rocpd_op AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) "
                     "SELECT x AS id, 0 AS gpuId FROM c")
    database.commit()
    database.close()
    done = check.run("report", harm, status=2)
    check.expect("a view is no table", "no trace this program knows" in done.stderr, True)
    cut = check.folder / "cut.db"
    cut.write_bytes((check.data / "rocpd.db").read_bytes()[:61440])
    check.expect("a cut file", "truncated: header says" in check.run("report", cut, status=2).stderr, True)
    empty = check.folder / "empty.db"
    sqlite3.connect(empty).execute("CREATE TABLE notes (a)").connection.commit()
    check.expect("another database", "(tables: notes)" in check.run("report", empty, status=2).stderr, True)
    report = check.folder / "x.nsys-rep"
    report.write_bytes(b"\x00QDREP whatever")
    check.expect("a report to export", "nsys export --type sqlite" in check.run("report", report, status=2).stderr, True)
    for name in ("rocpd.db", "nsys.sqlite", "rpd.rpd"):  # a damaged page costs its rows, not the report
        data = bytearray((check.data / name).read_bytes())
        page = int.from_bytes(data[16:18], "big")
        pages = len(data) // page
        for at in range(pages // 2, pages // 2 + 3):
            data[at * page:at * page + 200] = b"\xa5" * 200
        bad = check.folder / ("bad_" + name)
        bad.write_bytes(data)
        done = subprocess.run([check.program, "report", bad, "-q", "-o", check.folder / "bad"], capture_output=True,
                              text=True, timeout=600, check=False)
        check.expect(f"{name}: a damaged page", done.returncode in (0, 2), True)
    told = check.run("info", check.data / "rocpd.db").stdout
    check.expect("the environment and the command of the job are not told", "SECRET" in told or "train" in told, False)
    told = check.run("info", check.data / "rocpd.db", "--show-command").stdout
    check.expect("the command is told when asked for", "train" in told and "SECRET" not in told, True)


def kernels_read(check, *arguments, status=0):
    out = check.folder / "read"
    shutil.rmtree(out, ignore_errors=True)
    done = check.run("report", *arguments, "-o", f"{out}/", status=status)
    rows = csv.DictReader((out / "counts.csv").open(encoding="utf-8"))
    return {row["what"]: int(row["count"]) for row in rows}["kernels"], done.stderr


def damage(check):
    """A bad page costs its rows, --salvage reads on behind it, --strict makes it an error."""
    sound = check.data / "rocpd.db"
    all_kernels, _ = kernels_read(check, sound, "--strict")
    data = bytearray(sound.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    database = sqlite3.connect(f"file:{sound}?immutable=1", uri=True)
    root, = database.execute("SELECT rootpage FROM sqlite_master WHERE name LIKE 'rocpd_kernel_dispatch_%' AND type='table'").fetchone()
    database.close()
    at = (root - 1) * size
    check.expect("the table has several pages", data[at], 5)
    cells = int.from_bytes(data[at + 3:at + 5], "big")
    cell = int.from_bytes(data[at + 12 + 2 * (cells // 2):at + 14 + 2 * (cells // 2)], "big")
    child = int.from_bytes(data[at + cell:at + cell + 4], "big")
    data[(child - 1) * size:(child - 1) * size + 100] = b"\xa5" * 100
    bad = check.folder / "bad_page.db"
    bad.write_bytes(data)
    before, errors = kernels_read(check, bad)
    check.expect("rows before the bad page", 0 < before < all_kernels, True)
    check.expect("the damage is told", "is damaged behind its row" in errors, True)
    salvaged, errors = kernels_read(check, bad, "--salvage")
    check.expect("rows behind the bad page", before < salvaged < all_kernels, True)
    check.expect("the gap is told", "is damaged in 1 place" in errors, True)
    kernels_read(check, bad, "--strict", status=2)
    for threads in (1, 2, 5):
        check.expect("any number of threads", kernels_read(check, bad, "--threads", threads)[0], before)
    # A cut in the last table that was written leaves the others.
    cut = check.folder / "cut.db"
    cut.write_bytes(sound.read_bytes()[:len(data) - 8 * size])
    kernels, errors = kernels_read(check, cut, "--salvage")
    check.expect("what is left of a cut file", kernels > 0 and "truncated: header says" in errors, True)


def jobs(check):
    """Processes told apart, with their ranks; many files; a folder that cannot be written to."""
    job = check.folder / "job64"
    job.mkdir()
    for rank in range(64):
        make_databases.write_rocpd(check.small, str(job / f"p{rank}.db"), f"0198-{rank:04x}", 500 + rank,
                                   {"RANK": str(rank), "WORLD_SIZE": "64"})
    one = kernels(check.tables(job / "p0.db"))
    check.expect("64 files", kernels(check.tables(job)), {name: (64 * n, 64 * t) for name, (n, t) in one.items()})
    out = check.folder / "by"
    check.run("report", job / "p3.db", job / "p1.db", "--by-process", "-q", "-o", f"{out}/")
    rows = list(csv.DictReader((out / "kernel_summary.csv").open(encoding="utf-8")))
    check.expect("by process", {row["process"]: row["rank"] for row in rows}, {"node-a/501": "1", "node-a/503": "3"})
    for process in ("node-a/501", "node-a/503"):
        check.expect("figures by process", kernels({"kernel_summary": [r for r in rows if r["process"] == process]}), one)
    out = check.folder / "ranks"
    check.run("collectives", job / "p3.db", job / "p1.db", "-q", "-o", f"{out}/")
    listed = list(csv.DictReader((out / "ranks.csv").open(encoding="utf-8")))
    check.expect("ranks of several files", sorted(row["rank"] for row in listed), ["1", "3"])
    job.chmod(0o555)
    before = sorted((p.name, p.stat().st_mtime_ns) for p in job.iterdir())
    check.tables(job / "p0.db")
    check.expect("a folder that is read only", sorted((p.name, p.stat().st_mtime_ns) for p in job.iterdir()), before)
    job.chmod(0o755)


def captured_graphs(check):
    """A kernel of a graph launch belongs to the op under which its node was captured, in its own process."""
    path = check.folder / "graph.sqlite"
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,
            globalPid INTEGER, demangledName INTEGER, graphNodeId INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, domainId INTEGER, globalTid INTEGER);
        CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER, globalTid INTEGER, graphNodeId INTEGER, originalGraphNodeId INTEGER);
        INSERT INTO StringIds VALUES (1, 'cudaGraphLaunch_v10000'), (2, 'gemm'), (3, 'relu');""")
    for process, op in ((7, "aten::mm"), (8, "aten::relu")):
        pid = process << 24
        database.execute("INSERT INTO NVTX_EVENTS VALUES (5, 9, 59, ?, NULL, 0, ?)", (f"{op}, seq = 1", pid | 1))
        database.execute("INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (6, ?, 40, NULL), (20, ?, 50, 40)", (pid | 1, pid | 1))
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (30, 40, 0, ?, 3, 1)", (pid | 1,))
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 60, 0, 1, 7, 3, ?, ?, 50)", (pid, process - 5))
    database.commit()
    database.close()
    rows = check.tables(path)["graph_ops"]
    check.expect("ops of captured nodes", sorted((row["op"], row["name"], row["gpu_ns"]) for row in rows),
                 [("aten::mm", "gemm", "10"), ("aten::relu", "relu", "10")])


def short_names(check):
    """The short name of a kernel says what kind of work it is, where it says anything."""
    path = check.folder / "short.db"
    shutil.copy(check.data / "rocpd.db", path)
    database = sqlite3.connect(path)
    table, = database.execute("SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_info_kernel_symbol_%'").fetchone()
    database.execute(f'ALTER TABLE "{table}" ADD COLUMN extdata')
    for brief, kind in (("softmax_warp_forward", "softmax"), ("Kernel2", "gemm")):
        database.execute(f'UPDATE "{table}" SET display_name = ?, extdata = ?',
                         ("void cutlass::Kernel2<cutlass_80_tensorop_gemm>(int)", f'{{"truncated_kernel_name": "{brief}"}}'))
        database.commit()
        kinds = {row["op category"] for row in check.tables(path)["kernel_summary_by_category"]}
        check.expect(f"the kind of {brief}", kinds, {kind})
    database.close()


def packed_in_a_folder(check):
    """A folder of packed databases is a job, too, whatever their endings."""
    job = check.folder / "packed_job"
    job.mkdir()
    packed = gzip.compress((check.data / "rocpd.db").read_bytes(), 1)
    (job / "a.db.zst").write_bytes(packed)  # what is in a file decides how it is unpacked
    check.expect("a folder of packed files", kernels(check.tables(job)), kernels(check.tables(check.data / "rocpd.db")))
    (job / "b.db.gz").write_bytes(packed)
    check.expect("a process in two files", kernels(check.tables(job)), kernels(check.tables(check.data / "rocpd.db")))


def nothing_is_left(check):
    """Copies of databases with a log are gone, also when the program is killed."""
    temporary = check.folder / "tmp"
    temporary.mkdir()
    database = check.folder / "log" / "x.db"
    writer = sqlite3.connect(database, isolation_level=None)
    writer.execute("PRAGMA wal_autocheckpoint=0")
    writer.execute("CREATE TABLE IF NOT EXISTS more (a)")
    environment = {**os.environ, "TMPDIR": str(temporary)}
    out = check.folder / "left"
    subprocess.run([check.program, "report", database, "-q", "-o", f"{out}/"], env=environment, check=True, capture_output=True)
    check.expect("after a run", list(temporary.iterdir()), [])
    writer.close()


def main():
    clean_environment()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tracelens", required=True)
    parser.add_argument("--trace", default=str(ROOT / "data/h200_ops_zoo.json.gz"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(str(pathlib.Path(options.tracelens).resolve()), options.trace, folder)
        try:
            for part in (same_figures, other_ways_in, operations_without_calls, strangers, damage, jobs, captured_graphs, short_names,
                         packed_in_a_folder, nothing_is_left):
                part(check)
        except Failure as failure:
            sys.exit(f"check_databases: {failure}")
        print(f"{check.done} checks hold")


if __name__ == "__main__":
    main()
