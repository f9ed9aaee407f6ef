"""writing.py: what may stand at the target when writing ends badly, and where nothing may be written."""
import os
import resource
import shutil
import signal
import subprocess

import traces
from lab import LEFT_BY_A_KILL, TIMEOUT, Failure, Skip

FORMATS = ["out.xlsx", "out.json", "out.html", "out.md", "tables/"]
_medium = []


def medium_trace():
    if not _medium:
        _medium.append(traces.matmuls(1500))
    return _medium[0]


def content(path):
    if path.is_dir():
        return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}
    return path.read_bytes() if path.exists() else None


def kills(lab):
    """SIGKILL at any moment: at the target is what was there before, or all of the new, or nothing; a
    folder may hold files of both runs, each of them whole, and hidden ones until the next run."""
    target = lab.random.choice(FORMATS)
    path = lab.path(target)
    lab.write("trace.json", medium_trace())
    lab.write("small.json", traces.small())
    command = ["report", "trace.json", "-o", target]
    lab.run(command, outputs=[target], statuses=(0,))
    new = content(path)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    if lab.random.random() < 0.5:
        lab.run(["report", "small.json", "-o", target], outputs=[target], statuses=(0,))
    old = content(path)
    child = lab.start(command)
    try:
        child.communicate(timeout=lab.random.uniform(0.005, 0.25))
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.communicate()
    found = content(path)
    if isinstance(found, dict):
        # Files are renamed one by one at the end: each is whole, of the old set or of the new one.
        # Those that were not renamed yet hide, and the next run takes them away.
        lab.run(command, outputs=[target], statuses=(0,))
        hidden = [name for name in content(path) if name.endswith(".tmp")]
        if hidden:
            raise Failure(f"{target}{hidden[0]} stays for ever")
        for name in found:
            if LEFT_BY_A_KILL.fullmatch(name):
                continue
            if name not in new and name not in (old or {}):
                raise Failure(f"{target}{name} is of neither run")
            if name.endswith(".csv") and not found[name].endswith(b"\n"):
                raise Failure(f"{target}{name} is half a table")
    elif found not in (old, new):
        raise Failure(f"{target} is neither the old nor the new one")


def full_disks(lab):
    """No file may grow beyond a limit: a sentence, and nothing at the target or beside it."""
    target = lab.random.choice(FORMATS + ["fused.json", "tree.txt", "out.svg"])
    lab.write("trace.json", medium_trace())
    verb = {"fused.json": "fuse", "tree.txt": "tree", "out.svg": "roofline"}.get(target, "report")
    limit = lab.random.choice((0, 1, 100, 4096, 20_000))
    done = lab.run([verb, "trace.json", "-o", target], outputs=[target],
                   limits=[(resource.RLIMIT_FSIZE, limit)])
    if done.status == 2 and lab.path(target).exists():
        raise Failure(f"{target} stays after a failed write")


def tmpfs_full(lab):
    """The same on a disk that is really full."""
    lab.write("trace.json", medium_trace())
    disk = lab.path("disk")
    disk.mkdir()
    target = lab.random.choice(FORMATS)
    # In pages, of which every file takes whole ones: on some machines they have 64 KB.
    page = resource.getpagesize()
    lab.path("whole").mkdir()
    lab.run(["report", "trace.json", "-o", f"whole/{target}"], outputs=["whole"], statuses=(0,))
    needed = sum(-(-path.stat().st_size // page) for path in lab.path("whole").rglob("*") if path.is_file())
    shutil.rmtree(lab.path("whole"))
    if needed < 2:
        return  # the smallest disk holds all of it
    size = min(lab.random.choice((2, 10)), needed - 1) * page // 1024
    script = ('mount -t tmpfs -o size="$2"k tmpfs disk 2>/dev/null || exit 77; "$1" report trace.json '
              '-o disk/"$3"; status=$?; ls -A disk; exit $status')
    if shutil.which("unshare") is None:
        raise Skip("a small disk cannot be mounted here: no unshare")
    run = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    done = subprocess.run([*run, "sh", "-c", script, "sh", lab.program, str(size), target],
                          cwd=lab.folder, capture_output=True, timeout=TIMEOUT, check=False)
    if done.returncode in (1, 77):
        raise Skip("a small disk cannot be mounted here")
    if done.returncode != 2 or b"error:" not in done.stderr:
        raise Failure(f"{target} on a disk of {size} KB: status {done.returncode}, {done.stderr[-200:]!r}")
    left = done.stdout.splitlines()[-3:]
    if any(name in left for name in (target.rstrip("/").encode(),)) or any(
            name.startswith(b".") for name in left):
        raise Failure(f"{left!r} stays on the full disk")


def full_stdout(lab):
    """Standard output that takes nothing."""
    if not os.path.exists("/dev/full"):
        raise Skip("no /dev/full here")
    lab.write("trace.json", traces.small())
    verb = lab.random.choice(("report", "tree", "check", "info"))
    with open("/dev/full", "wb") as full:
        lab.run([verb, "trace.json", *(["-o", "out.json"] if verb == "report" else [])],
                outputs=["out.json"], stdout=full)


def outputs_onto_inputs(lab):
    """No output replaces an input, by whatever name: the same, a link, a way around."""
    a = lab.write("a.json", traces.small())
    lab.write("b.json", traces.small(kernel="other"))
    lab.write("rank0.json", traces.small())
    lab.write("rules.json", "{}")
    os.symlink("a.json", lab.path("soft.json"))
    os.link(a, lab.path("hard.json"))
    lab.path("sub").mkdir()
    alias = lab.random.choice(("a.json", "./a.json", "sub/../a.json", "soft.json", "hard.json"))
    commands = [
        ["report", "a.json", "-o", alias], ["compare", "a.json", "b.json", "-o", alias],
        ["compare", "a.json", "b.json", "--fail-if", "total_time > 500%", "--gate-results", alias],
        ["compare", "b.json", "a.json", "-o", "x.json", "--gate-results", "x.json", "--fail-if",
         "total_time > 500%"],
        ["diff", "a.json", "b.json", "-o", alias], ["fuse", "a.json", "b.json", "-o", alias],
        ["convert", "a.json", "-o", alias], ["tree", "a.json", "-o", alias],
        ["check", "a.json", "-o", alias], ["info", "a.json", "-o", alias],
        ["collectives", "a.json", "b.json", "-o", alias], ["roofline", "a.json", "-o", alias],
        ["report", "b.json", "--gpu-arch", "a.json", "-o", alias],
        ["report", "b.json", "--models", "a.json", "-o", alias],
        ["report", "b.json", "--kernel-rules", "a.json", "-o", alias],
    ]
    command = lab.random.choice(commands)
    done = lab.run(command, statuses=(2,))
    if not done.stderr:
        raise Failure("no sentence")


def pipes(lab):
    """Every verb reads what comes through a pipe as it reads the file."""
    for name in ("a", "b"):
        lab.write(f"{name}.json", traces.small(kernel=f"kernel_{name}"))
    verb = lab.random.choice(("report", "tree", "check", "info", "compare", "diff", "fuse",
                              "collectives", "convert", "roofline"))
    count = 2 if verb in ("compare", "diff", "fuse", "collectives") else 1
    more = {"report": ["-o", "out.json"], "fuse": ["-o", "out.json"], "convert": ["-o", "out.json"],
            "collectives": ["-o", "out.json"], "roofline": ["-o", "out.svg"]}.get(verb, [])
    files = ["a.json", "b.json"][:count]
    statuses = (0, 1, 2)
    plain = lab.run([verb, *files, *more], outputs=["out.json", "out.svg"], statuses=statuses)
    for output in ("out.json", "out.svg"):
        lab.path(output).unlink(missing_ok=True)
    if lab.random.random() < 0.5 and count == 1:
        done = lab.run([verb, "-", *more], outputs=["out.json", "out.svg"], statuses=statuses,
                       stdin=lab.path("a.json").read_bytes())
    else:
        cats, ends = [], []
        for name in files:
            cats.append(subprocess.Popen(["cat", str(lab.path(name))], stdout=subprocess.PIPE))
            ends.append(cats[-1].stdout.fileno())
        try:
            done = lab.run([verb, *(f"/dev/fd/{end}" for end in ends), *more],
                           outputs=["out.json", "out.svg"], statuses=statuses, pass_fds=ends)
        finally:
            for cat in cats:
                cat.stdout.close()
                cat.wait()
    if done.status != plain.status:
        raise Failure(f"{verb}: status {plain.status} from files, {done.status} from pipes: "
                      f"{done.stderr[-300:]!r}")
