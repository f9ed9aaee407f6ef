# What the scripts for PyTorch and for JAX share. A script is one file: the parts in torch/ or jax/, joined in the
# order of order.txt there, with this text in place of the lines that import it.

import argparse
import csv
import json
import os
import queue
import re
import statistics
import subprocess
import sys
import threading
import time
import traceback


class Skip(Exception):
    """This record cannot be replayed here; the text says why."""


def beside(name):
    """The path of a file that lies in this script's folder."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def first_line(error):
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]


def escaped(text):
    """Names in a trace may hold anything: codes of terminals, marks that turn the reading direction, line
    breaks, what CI systems take for a command. Here they are printable ASCII."""
    text = re.sub(r"[^ -~]", lambda found: ascii(found[0])[1:-1], str(text))
    return re.sub(r"##(?=\[|vso\[)", "# #", re.sub(r"^(\s*):(?=:)", r"\1: ", text))


def say(text, file=None):
    """All that a script prints, line by line."""
    print(escaped(text), file=file)


def repeat(call, times):
    def run():
        for _ in range(times):
            result = call()
        return result
    return run


def summary(samples, times):
    """Microseconds per call, from one sample per round."""
    return {"median_us": statistics.median(samples), "min_us": min(samples),
            "mean_us": statistics.fmean(samples),
            "std_us": statistics.stdev(samples) if len(samples) > 1 else 0.0,
            "rounds": len(samples), "calls_per_round": times}


# ---------------------------------------------------------------- running

def outcome(record, run, verbose):
    """What became of a record: {"id", "status": ok | skipped | failed, ...}. `run` fills it in."""
    result = {"id": record["id"], "uid": record.get("uid"), "op": record["op"]}
    try:
        run(result)
        result["status"] = "ok"
    except Skip as skip:
        result.update(status="skipped", reason=str(skip))
    except Exception as error:
        result.update(status="failed", reason=f"{type(error).__name__}: {first_line(error)}")
        if verbose:
            for line in traceback.format_exc().splitlines():
                say(line, sys.stderr)
    return result


class Worker:
    """A child process that runs records until one of them ruins its GPU context, or never ends."""

    def __init__(self, arguments, options):
        self.arguments, self.options, self.process = arguments, options, None

    def start(self):
        self.process = subprocess.Popen([sys.executable, sys.argv[0], "--worker", *self.arguments],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        encoding="utf-8", errors="replace",
                                        stderr=None if self.options.verbose else subprocess.DEVNULL)
        self.lines = queue.Queue()
        threading.Thread(target=pass_on, args=(self.process.stdout, self.lines), daemon=True).start()

    def run(self, record):
        if self.process is None:
            self.start()
        failed = {"id": record["id"], "uid": record.get("uid"), "op": record["op"], "status": "failed"}
        try:
            self.process.stdin.write(f"{record['id']}\n")
            self.process.stdin.flush()
            result = self.result_of(record["id"])
        except BrokenPipeError:
            result = None
        except queue.Empty:
            self.process.kill()
            self.close()
            return {**failed, "reason": f"not run: timed out after {self.options.timeout:g} s (--timeout)"}
        if result is None:
            return {**failed, "reason": f"the process ended with status {self.close()}"}
        if result["status"] == "failed":  # what a failed kernel leaves behind may fail the next one
            self.close()
        return result

    def result_of(self, number):
        """What the child says about a record; nothing when it ended. Other lines are what libraries print."""
        end = time.monotonic() + self.options.timeout
        while True:
            line = self.lines.get(timeout=max(end - time.monotonic(), 0))
            if line is None:
                return None
            try:
                result = json.loads(line)
            except ValueError:
                continue
            if isinstance(result, dict) and result.get("id") == number and "status" in result:
                return result

    def close(self):
        if self.process is None:
            return 0
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            status = self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:  # hung on its way out
            self.process.kill()
            status = "unknown"
        self.process = None
        return status


def pass_on(stream, lines):
    """Puts the lines of a stream into a queue, and None at its end."""
    with stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


def work(records, run):
    """The child's side: ids in, results out."""
    # What libraries print must not get in between, those in C neither: they write to number 1.
    sys.stdout.flush()
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    results.write("\n")  # ends what was printed until now
    by_id = {record["id"]: record for record in records}
    for line in sys.stdin:
        print(json.dumps(run(by_id[int(line)])), file=results, flush=True)
    return 0


def run_all(records, run, show, options, in_child):
    """The results of all records, each shown when it is there."""
    worker = Worker(sys.argv[1:], options) if in_child and not options.in_process else None
    results = []
    for record in records:
        result = worker.run(record) if worker else run(record)
        results.append(result)
        show(record, result)
        sys.stdout.flush()
        if options.stop_on_error and result["status"] == "failed":
            break
    if worker:
        worker.close()
    return results


# ---------------------------------------------------------------- output

def recorded_us(record):
    return record.get("trace", {}).get("kernel_time_us_mean") or 0.0


def compared_us(result):
    return result.get("kernel_us") or result.get("median_us") or 0.0


def print_result(record, result, shapes):
    head = f"{record['id']:>4}  {record['op']}"
    if result["status"] != "ok":
        say(f"{head}: {result['status']}: {result['reason']}")
        return
    recorded, now = recorded_us(record), compared_us(result)
    against = f"  recorded {recorded:.2f} us, x {now / recorded:.2f}" if recorded else ""
    say(f"{head}  {shapes}  {now:.2f} us{against}"
        f"  {record['count']} calls, {now * record['count'] / 1000:.3f} ms in all")
    for note in result["notes"]:
        say(f"      note: {note}")


def print_totals(records, results):
    by_status = {"ok": [], "failed": [], "skipped": []}
    for result in results:
        by_status[result["status"]].append(result)
    by_id = {record["id"]: record for record in records}
    ran, failed, skipped = by_status["ok"], by_status["failed"], by_status["skipped"]
    total = sum(compared_us(result) * by_id[result["id"]]["count"] for result in ran)
    say("")
    say(f"{len(ran) + len(failed)} attempted, {len(ran)} ran, {len(failed)} failed, "
        f"{len(skipped)} skipped; {total / 1000:.3f} ms in the workload")
    reasons = {}
    for result in skipped:
        reasons[result["reason"]] = reasons.get(result["reason"], 0) + 1
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        say(f"  skipped {count}: {reason}")


def write_json(path, results, sequences, about):
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"format": "tracelens replay results 1", **about, "results": results,
                   "sequences": sequences}, out, indent=1)
        out.write("\n")


def write_csv(path, records, results):
    columns = ["id", "op", "overload", "status", "reason", "count", "median_us", "min_us", "mean_us",
               "std_us", "kernel_us", "recorded_us", "ratio"]
    by_id = {record["id"]: record for record in records}
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, columns, extrasaction="ignore")
        writer.writeheader()
        for result in results:
            record = by_id[result["id"]]
            recorded = recorded_us(record)
            ratio = compared_us(result) / recorded if recorded and result["status"] == "ok" else ""
            texts = {key: escaped(result[key]) for key in ("op", "overload", "reason") if key in result}
            writer.writerow({**result, **texts, "count": record["count"], "recorded_us": recorded or "",
                             "ratio": ratio})


def finish(records, results, sequences, about, options):
    """Totals and files; the exit status."""
    print_totals(records, results)
    if options.json:
        write_json(options.json, results, sequences, about)
    if options.csv:
        write_csv(options.csv, records, results)
    return 1 if any(result["status"] == "failed" for result in results) else 0


# ---------------------------------------------------------------- options

def argument_parser(description, gpu):
    """The options that all scripts have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--device", choices=(gpu, "cpu"), help=f"default: {gpu} where there is a GPU")
    parser.add_argument("--filter", default="", metavar="TEXT", help="only ops whose name has this text")
    parser.add_argument("--ids", type=int, nargs="+", default=[], metavar="ID", help="only these records")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N")
    parser.add_argument("--list", action="store_true", help="say what would run, and run nothing")
    parser.add_argument("--stop-on-error", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-gib", type=float, default=0, help="largest inputs of one op")
    parser.add_argument("--rounds", type=int, default=20, help="measurements per op")
    parser.add_argument("--kernels", action="store_true", help="which kernels ran, and their time alone")
    parser.add_argument("--in-process", action="store_true", help="no child process")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS",
                        help="ends a child process whose op takes longer; default: %(default)g")
    parser.add_argument("--csv", metavar="FILE")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser


def chosen(records, options):
    """The records that were asked for; wrong usage when there are none, or results could not be written."""
    known = {record["id"] for record in records}
    for number in options.ids:
        if number not in known:
            wrong_usage(f"--ids: there is no record {number}: see --list")
    found = [record for record in records if options.filter in record["op"] and
             (not options.ids or record["id"] in options.ids)][:options.limit]
    if records and not found:
        wrong_usage(f"--filter: no op that is left has '{options.filter}' in its name: see --list"
                    if options.filter else "--limit leaves nothing to run")
    for path in filter(None, [] if options.list else [options.json, options.csv]):
        try:
            open(path, "a", encoding="utf-8").close()
        except OSError as error:  # better now than after all has run
            wrong_usage(f"cannot write {path}: {error.strerror}")
    return found


def wrong_usage(problem):
    say(f"replay: {problem}", sys.stderr)
    sys.exit(2)
