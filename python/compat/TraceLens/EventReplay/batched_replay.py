#!/usr/bin/env python3
"""Calls and times the ops of a file that EventReplayer.get_repro_info() filled. Needs PyTorch and utils.py beside it.

    python batched_replay.py event_replay_ir.json [--device cuda] [--op-filter mm] [--op-limit 10]
"""

import argparse
import json
import sys

try:
    from .utils import TensorCfg, _get_torch_or_raise, benchmark_func, build_argument
except ImportError:  # run as a script
    from utils import TensorCfg, _get_torch_or_raise, benchmark_func, build_argument

_TENSOR_KEYS = {"shape", "dtype", "strides", "init"}


def described(value):
    """Tensors in the file as descriptions."""
    if isinstance(value, list):
        return [described(item) for item in value]
    if not isinstance(value, dict):
        return value
    if not {"shape", "dtype", "strides"} <= set(value) <= _TENSOR_KEYS:
        raise ValueError(f"expected a tensor with {sorted(_TENSOR_KEYS)}, got {sorted(value)}")
    return TensorCfg(**value)


def make_argument(argument, device):
    return build_argument(argument["arg_type"], described(argument["value"]), device)


def make_call(entry, device):
    """A function without arguments that calls the op of an entry."""
    torch = _get_torch_or_raise()
    function, _ = torch._C._jit_get_operation(entry["op_name"])
    ir = entry["replay_ir"]
    args = [make_argument(argument, device) for argument in ir["list_pos_args"]]
    kwargs = {argument["arg_name"]: make_argument(argument, device) for argument in ir["list_kwargs"]}
    return lambda: function(*args, **kwargs)


def replay(entry, device):
    call = make_call(entry, device)
    call()
    mean = benchmark_func(call, device)
    print(f"  Average time taken: {mean:.2f} microseconds")
    if "count" in entry:
        print(f"  Count in workload: {entry['count']}")
        print(f"  Est time in workload: {mean * entry['count']:.2f} microseconds")


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description="Calls and times recorded ops again.")
    parser.add_argument("repro_file", help="JSON list of {op_name, replay_ir, count}")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--verbose", "-v", action="store_true", help="print the arguments of every op")
    parser.add_argument("--stop-on-error", action="store_true")
    parser.add_argument("--op-limit", type=int, help="at most so many ops")
    parser.add_argument("--op-filter", help="only ops whose name contains this text")
    return parser.parse_args(argv)


def main(argv=None):
    options = parse_arguments(argv)
    torch = _get_torch_or_raise()
    device = options.device
    if device == "cuda" and not torch.cuda.is_available():
        print("Warning: no GPU is available, the CPU is used", file=sys.stderr)
        device = "cpu"
    with open(options.repro_file, encoding="utf-8") as file:
        entries = json.load(file)
    chosen = [entry for entry in entries if not options.op_filter or options.op_filter in entry["op_name"]]
    chosen = chosen[:options.op_limit]
    attempted = errors = 0
    for number, entry in enumerate(chosen, 1):
        print(f"[{number}/{len(chosen)}] Replaying: {entry['op_name']}")
        if options.verbose:
            print(json.dumps(entry["replay_ir"], indent=2))
        attempted += 1
        try:
            replay(entry, device)
        except Exception as error:  # whatever an op raises, the others still run
            errors += 1
            print(f"  Error: {error}")
            if options.stop_on_error:
                break
    print(f"\nTotal: {len(entries)}  Attempted: {attempted}  Successful: {attempted - errors}  Errors: {errors}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
