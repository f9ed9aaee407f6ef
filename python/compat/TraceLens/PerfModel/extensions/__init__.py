"""Models for the ops of serving engines."""

from .attention_perf_model_extensions import *  # noqa: F401,F403
from .custom_collectives_perf_model_extensions import *  # noqa: F401,F403
from .moe_perf_model_extensions import *  # noqa: F401,F403
from .perf_model_extensions import *  # noqa: F401,F403
from .pseudo_ops_perf_utils import get_pseudo_op_category_only_mappings, get_pseudo_op_mappings
from .rmsnorm_perf_model_extensions import *  # noqa: F401,F403
