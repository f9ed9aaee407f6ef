"""Times from a simulator: an external program for matrix products, and what follows for attention."""

import math
import os
import re
import subprocess
import sys

from ..utils import name2bpe

_TIME = re.compile(r"Time=(\d+\.\d+)")
_BLOCK = 128  # rows of a tile of flash attention


def gemm_command(simulator, python, arch, sizes, dtype, num_cus, force_to_l1):
    b, m, n, k = sizes
    command = [python, os.path.basename(simulator), "-b", b, "-m", m, "-n", n, "-k", k,
               "--dtype", dtype, "-d", 1, "-a", arch["name"]]
    if "freq_mhz" in arch:
        command += ["--freq_mhz", arch["freq_mhz"]]
    if num_cus:
        command += ["--cus", num_cus]
    bandwidth = arch.get("l1_bw_gbps" if force_to_l1 else "mem_bw_gbps")
    if bandwidth is not None:
        if num_cus and not force_to_l1:
            bandwidth = round(bandwidth * num_cus / arch["num_cus"])
        command += ["--hbm_bw", bandwidth]
    return [str(word) for word in command]


def gemm_time(arch, sizes, dtype, python_path, force_to_l1, num_cus, cache):
    """(microseconds, command) of the program that GEMM_SIMULATOR_PATH names; (None, None) without."""
    simulator = os.environ.get("GEMM_SIMULATOR_PATH")
    if not simulator:
        return None, None
    if not os.path.exists(simulator):
        raise ValueError(f"GEMM_SIMULATOR_PATH: {simulator} does not exist")
    batch, M, N, K = sizes
    given = {"M": M, "N": N, "K": K, "dtype": dtype, "arch['name']": (arch or {}).get("name")}
    missing = [name for name, value in given.items() if value is None]
    assert not missing, f"Invalid inputs: {', '.join(missing)} must be given"
    assert os.name != "nt" or python_path, "Windows needs the path of a Python interpreter"
    command = gemm_command(simulator, python_path or sys.executable, arch, (batch or 1, M, N, K), dtype, num_cus,
                           force_to_l1)
    key = " ".join(command)
    if key not in cache:
        done = subprocess.run(command, cwd=os.path.dirname(simulator) or ".", capture_output=True, text=True,
                              check=False)
        found = _TIME.search(done.stdout)
        assert found, f"Failed to simulate: {key}\n{done.stderr}"
        cache[key] = float(found.group(1))
    return cache[key], key


def softmax_time(arch, flops, bytes_moved, force_to_l1, num_cus):
    if not arch:
        raise ValueError("a softmax time needs the figures of a GPU")
    units = (num_cus or arch["num_cus"]) * arch["gemm_units_per_cu"] * 256
    bandwidth = arch["l1_bw_gbps" if force_to_l1 else "mem_bw_gbps"]
    return max(flops / units / arch["freq_mhz"], bytes_moved / (bandwidth * 1000))


class _Tiles:
    """One attention call cut into tiles that run in waves over the compute units."""

    def __init__(self, gemm, softmax, arch, dtype, python_path, tensor_type, shape, fa, options):
        self.gemm, self.softmax, self.arch, self.fa = gemm, softmax, arch, fa
        self.dtype, self.python_path, self.options = dtype, python_path, options
        self.tensor_type = tensor_type
        self.batch, self.heads, self.n_q, self.n_kv, self.head = shape
        self.block_q, self.block_kv = self.n_q, self.n_kv

    def waves(self, length, block):
        return math.ceil(math.ceil(length / block) * self.batch * self.heads / self.arch["num_cus"])

    def product(self, n, k):
        return self.gemm(self.arch, self.block_q, n, k, 1, self.dtype, python_path=self.python_path,
                         force_to_l1=self.fa, num_cus=1, **self.options)[0]

    def products(self):
        """Times of Q*K' and of P*V on one unit; None where the simulator has none."""
        first = self.product(self.block_kv, self.head)
        second = None if first is None else self.product(self.head, self.block_kv)
        return (first, second) if second is not None else None

    def softmax_time(self):
        return self.softmax(self.arch, self.block_q, self.block_kv, name2bpe(self.tensor_type) or 2,
                            force_to_l1=self.fa, num_cus=1)

    def memory_time(self, bytes_moved, waves):
        per_tile = bytes_moved / self.n_q / self.n_kv * self.block_q * self.block_kv
        return per_tile / (self.arch["mem_bw_gbps"] * 1000) * waves


def attention_time(bytes_moved, fa, *tiles):
    call = _Tiles(*tiles)
    if fa:
        call.block_q = min(_BLOCK, call.n_q)
    times = call.products()
    if times is None:
        return None
    waves = call.waves(call.n_q, call.block_q)
    return waves * (sum(times) + call.softmax_time()) + call.memory_time(bytes_moved, waves)


def attention_time_bwd(bytes_moved, fa, *tiles):
    call = _Tiles(*tiles)
    if fa:
        call.block_kv = min(_BLOCK, call.n_kv)
    times = call.products()
    if times is None:
        return None
    waves = call.waves(call.n_kv, call.block_kv)
    q, p = (waves * time for time in times)
    columns = math.ceil(call.head / 64)
    atomics = (400 * columns * waves + 40 * call.block_kv * columns * waves) / 1000
    recomputed = q + p if fa else 0
    return (recomputed + q + 3 * p + waves * call.softmax_time() + atomics
            + call.memory_time(bytes_moved, waves))
