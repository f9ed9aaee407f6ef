"""Tables that are made here rather than by a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tracelens as tl
from tracelens import _native
