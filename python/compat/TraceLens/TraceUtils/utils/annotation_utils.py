"""See `TraceLens.TraceUtils.annotation_utils`."""

from ..annotation_utils import *  # noqa: F401,F403
