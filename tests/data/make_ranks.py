#!/usr/bin/env python3
"""Makes small synthetic traces of a job with known communication: tests compare with what went in.

    tests/data/make_ranks.py --out DIR [--ranks 4] [--steps 2] [--nodes 1] [--offset-us 0,250]
                             [--late-rank 2] [--late-us 300] [--drop RANK:COLLECTIVE] [--shared-p2p]
                             [--no-seq] [--overlap] [--plain] [--seed 1] [--rank-offset-us RANK:US]
                             [--drift-ppm RANK:PPM] [--world-size RANK:SIZE]

Every step: per rank some computing, an allreduce of the world ("0"), computing, an all_gather in
each half of the ranks (both halves call their group "tp"), computing, and sends from the lower to the
upper half. All ranks leave a collective together, `latency` after the last arrival, with a tail of up
to 5 us that the last arrival does not have. --offset-us gives the clock of each node a lead,
--rank-offset-us that of a rank alone, and --drift-ppm lets it run fast. --world-size makes a rank say so.
DIR/truth.json (in no list of events, so no trace) has one entry per collective: name, group, seq, latency_us, skew_us, last_rank, and
per transfer its time. Same arguments, same bytes.
"""
import argparse
import gzip
import json
import pathlib
import random

GIB = 1 << 30


class Job:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.ranks = range(options.ranks)
        self.half = options.ranks // 2
        self.clock = {rank: 1_000_000 + self.random.randrange(20_000) for rank in self.ranks}
        self.events = {rank: [] for rank in self.ranks}
        self.truth = []
        self.seq = {}
        self.ids = {rank: 100 for rank in self.ranks}

    def event(self, rank, category, name, tid, start, dur, args):
        node = rank // (self.options.ranks // self.options.nodes)
        drift = int(start * self.options.drift_ppm.get(rank, 0) / 1e6)
        start += int(1000 * self.options.offset_us[node]) if self.options.offset_us else 0
        start += int(1000 * self.options.rank_offset_us.get(rank, 0)) + drift
        pid = rank % 8 if category in ("kernel", "gpu_user_annotation") else 4000 + rank
        self.events[rank].append({
            "ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
            "ts": start / 1000, "dur": dur / 1000, "args": args})

    def compute(self):
        for rank in self.ranks:
            late = int(1000 * self.options.late_us) if rank == self.options.late_rank else 0
            dur = 200_000 + self.random.randrange(10_000) + late
            op = self.ids[rank] = self.ids[rank] + 1
            self.event(rank, "cpu_op", "aten::mm", 1, self.clock[rank] - 20_000, 9_000,
                       {"External id": op, "Input Dims": [[64, 64], [64, 64]]})
            self.event(rank, "kernel", "gemm_kernel", 7, self.clock[rank], dur,
                       {"External id": op, "correlation": op, "stream": 7})
            self.clock[rank] += dur + 1_000

    def kernel(self, rank, name, stream, start, dur, meta):
        self.ids[rank] += 1
        args = {"External id": self.ids[rank], "correlation": self.ids[rank], "stream": stream, **meta}
        if self.options.no_seq:
            args.pop("Seq", None)
        self.event(rank, "kernel", name, stream, start, dur, args)

    def collective(self, name, kernel, group, members, elements, gathered, stream, bandwidth):
        key = (group, tuple(members))
        self.seq[key] = self.seq.get(key, 0) + 1
        start = {rank: self.clock[rank] + self.random.randrange(2_000, 6_000) for rank in members}
        last = max(members, key=lambda rank: start[rank])
        factor = (len(members) - 1) / len(members) * (1 if gathered else 2)
        full = 2 * elements * (len(members) if gathered else 1)
        latency = int(full / GIB * factor / bandwidth * 1e9)
        meta = {"Collective name": name, "dtype": "BFloat16", "In msg nelems": elements,
                "Out msg nelems": elements * (len(members) if gathered else 1),
                "Group size": len(members), "In split size": "[]", "Out split size": "[]",
                "Process Group Name": group, "Process Group Ranks": str(list(members)),
                "Seq": self.seq[key]}
        for rank in members:
            tail = 0 if rank == last else self.random.randrange(100, 5_000)
            dur = start[last] - start[rank] + latency + tail
            if f"{rank}:{group}:{self.seq[key]}" not in self.options.drop:
                self.kernel(rank, kernel, stream, start[rank], dur, meta)
            if self.options.overlap:
                self.event(rank, "kernel", "gemm_beside", 9, start[rank] - 500, dur + 1_000,
                           {"External id": self.ids[rank], "correlation": 0, "stream": 9})
            self.clock[rank] = start[rank] + dur
        self.truth.append({"name": name, "group": group, "ranks": list(members), "seq": self.seq[key],
                           "latency_us": latency / 1000,
                           "skew_us": (start[last] - min(start.values())) / 1000, "last_rank": last})

    def transfers(self):
        elements = 1 << 20
        for rank in range(self.half):
            peer = rank + self.half
            if self.options.shared_p2p and rank % 2:
                continue
            group, members = ("0", self.ranks) if self.options.shared_p2p else (f"pp{rank}", (rank, peer))
            start = {r: self.clock[r] + self.random.randrange(2_000, 6_000) for r in (rank, peer)}
            latency = int(2 * elements / GIB / 40 * 1e9)
            for own, name, other in ((rank, "send", peer), (peer, "recv", rank)):
                dur = max(start.values()) - start[own] + latency
                self.kernel(own, "ncclDevKernel_SendRecv()", 20 if self.options.shared_p2p else 28,
                            start[own], dur, {
                    "Collective name": name, "dtype": "BFloat16", "In msg nelems": elements,
                    "Out msg nelems": elements, "Group size": len(members), "In split size": "[]",
                    "Out split size": "[]", "Process Group Name": group,
                    "Process Group Ranks": str(list(members)),
                    "Dst Rank" if name == "send" else "Src Rank": other, "Seq": 1})
                self.clock[own] = start[own] + dur
            self.truth.append({"name": "transfer", "from": rank, "to": peer,
                               "latency_us": latency / 1000})

    def run(self):
        for step in range(self.options.steps):
            begin = dict(self.clock)
            for _ in range(2):
                self.compute()
                self.collective("allreduce", "ncclDevKernel_AllReduce()", "0", list(self.ranks),
                                1 << 21, False, 20, 150)
            self.compute()
            for members in (list(range(self.half)), list(range(self.half, self.options.ranks))):
                self.collective("_allgather_base", "ncclDevKernel_AllGather()", "tp", members,
                                1 << 20, True, 24, 120)
            self.transfers()
            for rank in self.ranks:
                self.event(rank, "user_annotation", f"ProfilerStep#{step}", 1, begin[rank] - 30_000,
                           self.clock[rank] - begin[rank] + 10_000, {})

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for rank in self.ranks:
            text = json.dumps({
                "schemaVersion": 1, "baseTimeNanoseconds": 1_767_189_312_000_000_000,
                "deviceProperties": [{"id": i, "name": "Synthetic GPU"}
                                     for i in range(self.options.ranks // self.options.nodes)],
                "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": int(self.options.world_size.get(rank, self.options.ranks))},
                "traceEvents": self.events[rank]})
            name = folder / f"rank{rank}_trace.json"
            if self.options.plain:
                name.write_text(text, encoding="utf-8")
            else:
                name.with_suffix(".json.gz").write_bytes(gzip.compress(text.encode(), 6, mtime=0))
        (folder / "truth.json").write_text(json.dumps({"collectives": self.truth}, indent=0), encoding="utf-8")


class PerRank(argparse.Action):
    """RANK:VALUE, any number of times."""

    def __call__(self, parser, namespace, text, option_string=None):
        rank, value = text.split(":")
        setattr(namespace, self.dest, {**getattr(namespace, self.dest), int(rank): float(value)})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--offset-us", type=lambda text: [float(x) for x in text.split(",")])
    parser.add_argument("--late-rank", type=int, default=2)
    parser.add_argument("--late-us", type=float, default=300)
    parser.add_argument("--drop", action="append", default=[], help="RANK:GROUP:SEQ is not recorded")
    parser.add_argument("--shared-p2p", action="store_true")
    parser.add_argument("--no-seq", action="store_true")
    parser.add_argument("--overlap", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    for flag in ("--rank-offset-us", "--drift-ppm", "--world-size"):
        parser.add_argument(flag, action=PerRank, default={})
    job = Job(parser.parse_args())
    job.run()
    job.write(job.options.out)


if __name__ == "__main__":
    main()
