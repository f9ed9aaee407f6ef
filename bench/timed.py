"""One run of a program: how long it took, what it computed and how much memory it had."""
import os
import shlex
import sys
import tempfile
import time


def run_once(command, keep_output=False, fine=(0,)):
    """Runs `command` and returns (wall seconds, CPU seconds, peak resident bytes, stdout or b"").

    Ends the benchmark with what the program said when its status is none of `fine`.

    A peak below this interpreter's own, about 15 MB, cannot be seen: Linux lets the child of a
    process start with its parent's peak. Hence nothing large is ever held here.
    """
    with (tempfile.TemporaryFile() if keep_output else open(os.devnull, "r+b")) as output, \
            tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[
            (os.POSIX_SPAWN_DUP2, output.fileno(), 1), (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)])
        _, status, usage = os.wait4(pid, 0)
        wall = time.perf_counter() - start
        if os.waitstatus_to_exitcode(status) not in fine:
            errors.seek(0)
            sys.exit(f"bench: {shlex.join(command)}: {errors.read().decode().strip()}")
        output.seek(0)
        return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output.read()
