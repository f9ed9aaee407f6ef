#!/usr/bin/env python3
# @HEADER@
#
# Inputs are random. No model code, no weights, no names of functions, files or hosts are in here: only
# the HLO instructions of each op with their shapes, layouts and attributes, and recorded GPU times.
#
#   python replay.py                 run everything, each op timed and compared with the recording
#   python replay.py --list          what would run
#   python replay.py --kernels       also which kernels ran, and their time alone
#   python replay.py --json out.json results for a machine; --csv for a table
#
# Needs JAX and nothing else. Exit status: 0 all ran (or were skipped), 1 some failed, 2 wrong usage,
# 3 no JAX.

import glob
import json
import math
import os
import re
import statistics
import sys
import tempfile
import time

try:
    import jax
    import jax.numpy as jnp
    from jax import lax
except ImportError:
    jax = None

from common import (Skip, argument_parser, beside, chosen, finish, outcome, print_result, recorded_us,
                    repeat, run_all, say, summary, work)

DATA = json.loads(r'''{"records": []}''')

DTYPES = {
    "pred": "bool_", "s4": "int4", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64",
    "u4": "uint4", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "float16",
    "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
    "f8e5m2": "float8_e5m2", "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2fnuz": "float8_e5m2fnuz", "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e4m3": "float8_e4m3",
    "f8e3m4": "float8_e3m4", "f8e8m0fnu": "float8_e8m0fnu", "f4e2m1fn": "float4_e2m1fn",
}
