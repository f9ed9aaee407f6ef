#!/usr/bin/env python3
# @HEADER@
#
# Inputs are random. No model code, no weights, no names of modules, files or hosts are in here: only the
# names of operators (classes of the model are custom_1, ...), the shapes, strides, types and scalars of
# their arguments, and recorded GPU times.
#
#   python replay.py                 run everything, each op timed and compared with the recording
#   python replay.py --list          what would run, and with which overload
#   python replay.py --kernels       also which kernels ran, and their time alone
#   python replay.py --tune          also try variants (padding, layouts, types, back-ends)
#   python replay.py --json out.json results for a machine; --csv for a table
#
# Needs PyTorch 2.0 or newer and nothing else. Exit status: 0 all ran (or were skipped), 1 some failed,
# 2 wrong usage, 3 no PyTorch.

import argparse
import contextlib
import json
import math
import os
import random
import re
import statistics
import sys
import time

try:
    import torch
except ImportError:
    torch = None

from common import (Skip, argument_parser, beside, chosen, finish, first_line, outcome, print_result,
                    recorded_us, repeat, run_all, say, summary, work)

DATA = json.loads(r'''{"records": []}''')
