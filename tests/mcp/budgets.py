"""How long answers about a large trace take: figures, no verdict."""
import subprocess
import time

from client import MODERN, Server


def seconds(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


def measure(program, trace):
    report = [program, "report", trace, "-o", "/dev/shm/tracelens-budget.json", "--quiet"]
    print(f"report into JSON: {1e3 * min(seconds(lambda: subprocess.run(report, check=True)) for _ in range(3)):.0f} ms")
    start = time.monotonic()
    with Server(program, [trace.parent], MODERN) as server:
        server.request("server/discover")
        print(f"start to the answer of server/discover: {1e3 * (time.monotonic() - start):.0f} ms")
        print(f"idle memory: {server.memory_mb():.1f} MB")
        name = trace.name
        print(f"first summary: {1e3 * seconds(lambda: server.call('summary', trace=name)):.0f} ms")
        print(f"second summary: {1e3 * seconds(lambda: server.call('summary', trace=name)):.1f} ms")
        ask = lambda: server.call("table", trace=name, table="kernel_summary")
        print(f"first table: {1e3 * seconds(ask):.1f} ms, then {1e3 * seconds(ask):.1f} ms")
        print(f"diagnose: {1e3 * seconds(lambda: server.call('diagnose', trace=name)):.0f} ms")
        print(f"memory: {server.memory_mb():.0f} MB")
    return 0
