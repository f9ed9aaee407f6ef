"""All pseudo ops that the core knows."""

import logging

from ..._chatter import chat

logger = logging.getLogger(__name__)


def apply_pseudo_op_extensions(tree, verbose=False):
    """Puts pseudo ops into a tree where it has work of the kind; a failure is logged, the tree stays."""
    try:
        tree.add_pseudo_ops()
    except Exception as error:  # the recorded ops are worth having
        logger.warning("Pseudo ops were not added: %s", error)
        return
    if verbose:
        chat("Pseudo ops are in the tree")
