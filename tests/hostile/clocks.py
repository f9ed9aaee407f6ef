"""clocks.py: ranks whose clocks are hours apart."""
import json
import subprocess
import sys

import traces
from lab import Failure


def clocks_hours_apart(lab):
    """Waits longer than the trace are no waits: the clocks are corrected, or it is said."""
    hours = lab.random.choice((1, 24, 216, -48))
    victim = lab.random.randrange(4)
    offsets = ",".join(str(hours * 3.6e9 if rank == victim else 0) for rank in range(4))
    subprocess.run([sys.executable, str(traces.DATA / "make_ranks.py"), "--out", str(lab.path("run")),
                    "--nodes", "4", f"--offset-us={offsets}", "--seed", str(lab.random.randrange(1000))],
                   check=True, stdout=subprocess.DEVNULL)
    done = lab.run(["collectives", "run", "-o", "out.json"], outputs=["out.json"], statuses=(0,))
    said = b"clock" in done.stdout + done.stderr
    longest = 60_000_000  # µs; the traces take milliseconds
    report = json.loads(lab.path("out.json").read_bytes())
    text = json.dumps(report)
    if not said and "clock" not in text:
        raise Failure(f"clocks {hours} hours apart, and not a word")
    for table in report.get("tables", []):
        for column, cells in columns_of(table):
            if "wait" in column.lower() or "skew" in column.lower():
                for cell in cells:
                    if isinstance(cell, (int, float)) and abs(cell) > longest:
                        raise Failure(f"{table['name']}: {column} of {cell}")


def columns_of(table):
    names = [column["name"] if isinstance(column, dict) else column for column in table["columns"]]
    for i, name in enumerate(names):
        yield name, [row[name] if isinstance(row, dict) else row[i] for row in table["rows"]]
