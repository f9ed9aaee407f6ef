#!/usr/bin/env python3
"""Makes small synthetic JAX profiles of a job with known collectives, one file per host.

    tests/data/make_xplane.py --out DIR [--hosts 4] [--gpus 8] [--steps 2] [--wait-us 20]

Every step of the module jit_step: a fusion, an all-gather in each host (1.5 MiB a rank), an all-reduce
between the GPUs of one number of all hosts (4 KiB), a ring of collective-permutes through all GPUs
(64 bytes). The all-gather of host h takes ALL_GATHER_US[h] on its last rank, FASTEST[h], and --wait-us
more on each rank before it; all leave together. Other collectives take 10 us on every rank. The clocks
of the hosts count from moments of their own. Same arguments, same bytes.
"""
import argparse
import pathlib

ALL_GATHER_US = (412.785, 426.891, 467.234, 478.912)
FASTEST = (3, 2, 0, 3)
F32, BF16 = 11, 16


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """A field of a message: an integer, or text, bytes or a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def packed(number, values):
    return field(number, b"".join(varint(value) for value in values))


# --- the HLO of the module: numbers of fields are those of xla/service/hlo.proto ---

def shape(element, *dims):
    return field(2, element) + packed(3, dims)


def instruction(number, name, opcode, result, operands=(), more=b""):
    return field(2, field(1, name) + field(2, opcode) + field(3, result) + field(35, number) +
                 (packed(36, operands) if operands else b"") + more)


def iota(groups, size, dims=(), axes=()):
    """iota_collective_device_list"""
    return field(92, field(1, groups) + field(2, size) + (packed(3, dims) if dims else b"") +
                 (packed(4, axes) if axes else b""))


def module(hosts, gpus):
    ranks = hosts * gpus
    pairs = b"".join(field(52, field(1, rank) + field(2, (rank + 1) % ranks))
                     for rank in range(ranks))
    instructions = [
        instruction(1, "p", "parameter", shape(F32, 16)),
        instruction(2, "loop_fusion", "fusion", shape(BF16, 768, 1024), (1,)),
        instruction(3, "all-gather-start.1", "all-gather-start", shape(BF16, 768, 1024), (2,),
                    iota(hosts, gpus)),
        instruction(4, "grad", "bitcast", shape(F32, 1024), (1,)),
        instruction(5, "all-reduce.2", "all-reduce", shape(F32, 1024), (4,),
                    iota(gpus, hosts, (hosts, gpus), (1, 0))),
        instruction(6, "collective-permute.3", "collective-permute", shape(F32, 16), (1,), pairs),
    ]
    entry = b"".join(instructions) + field(1, "main") + field(5, 1) + field(6, 6)
    return field(1, field(1, "jit_step") + field(3, entry) + field(5, 7) + field(6, 1))


# --- the profile: numbers of fields are those of tsl/profiler/protobuf/xplane.proto ---

class Plane:
    def __init__(self, name, number):
        self.head = field(1, number) + field(2, name)
        self.lines, self.kinds, self.stats = [], {}, {}

    def stat_id(self, name):
        return self.stats.setdefault(name, len(self.stats) + 1)

    def event(self, name, start_ns, dur_ns, **stats):
        kind = self.kinds.setdefault(name, len(self.kinds) + 1)
        out = field(1, kind) + field(2, start_ns * 1000) + field(3, dur_ns * 1000)
        for key, value in stats.items():
            own = field(1, self.stat_id(key))
            own += field(3, value) if isinstance(value, int) else field(7, self.stat_id(value))
            out += field(4, own)
        return field(4, out)

    def line(self, number, name, start_ns, events):
        self.lines.append(field(3, field(1, number) + field(2, name) + field(3, start_ns) +
                                b"".join(events)))

    def bytes(self):
        kinds = b"".join(field(4, field(1, i) + field(2, field(2, name)))
                         for name, i in self.kinds.items())
        stats = b"".join(field(5, field(1, i) + field(2, field(2, name)))
                         for name, i in self.stats.items())
        return field(1, self.head + b"".join(self.lines) + kinds + stats)


def metadata_plane(hlo):
    plane = field(2, "/host:metadata")
    plane += field(4, field(1, 7) + field(2, field(2, "jit_step(7)") +
                                          field(5, field(1, 1) + field(6, hlo))))
    return field(1, plane + field(5, field(1, 1) + field(2, field(2, "Hlo Proto"))))


def gpu_plane(host, gpu, options, start_ns):
    plane = Plane(f"/device:GPU:{gpu}", gpu)
    events, launch = [], gpu * 1000
    for step in range(options.steps):
        end = (step + 1) * 2_000_000

        def kernel(name, op, start, dur):
            nonlocal launch
            launch += 1
            events.append(plane.event(name, start, dur, correlation_id=launch, hlo_op=op,
                                      hlo_module="jit_step", program_id=7,
                                      kernel_details="grid:1,1,1"))

        before = (FASTEST[host % 4] - gpu) % options.gpus  # how many came later
        gather = round(1000 * (ALL_GATHER_US[host % 4] + options.wait_us * before))
        kernel("loop_fusion", "loop_fusion", end - gather - 100_000, 90_000)
        kernel("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
               "all-gather-start.1", end - gather, gather)
        kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
               "all-reduce.2", end + 20_000, 10_000)
        kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
               "collective-permute.3", end + 40_000, 10_000)
    plane.line(14, "Stream #14(Compute)", start_ns, events)
    return plane.bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder to write")
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--gpus", type=int, default=8, help="of each host")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--wait-us", type=int, default=20)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    hlo = module(options.hosts, options.gpus)
    for host in range(options.hosts):
        start_ns = 1_000_000_000 + host * 5_000
        planes = [gpu_plane(host, gpu, options, start_ns) for gpu in range(options.gpus)]
        # Not in the order of the text: node10 comes after node9.
        path = options.out / f"node{host + 8}.xplane.pb"
        path.write_bytes(b"".join(planes) + metadata_plane(hlo))


if __name__ == "__main__":
    main()
