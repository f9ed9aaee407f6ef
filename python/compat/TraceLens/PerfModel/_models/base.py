"""What every model has, and the arguments of an op as the profiler recorded them."""

import ast


class Model:
    """The work of one op. A subclass gives `get_param_details`, `flops` and `bytes`.

    Errors are part of the contract: NotImplementedError says that the model does not cover the
    case; any other exception that the arguments cannot be understood; bytes of None that a data
    type has no known size.
    """

    category = None  # of the op, in tables
    bwd_category = None  # of the op's backward pass, where the model knows its cost

    def __init__(self, event, arch=None, python_path=None):
        self.event = event
        self.arch = arch
        self.python_path = python_path
        self.param_details = self.get_param_details(event)

    @staticmethod
    def get_param_details(event):
        raise NotImplementedError("a model says here what it reads from an event")


def dims(event):
    return event["args"]["Input Dims"]


def types(event):
    return event["args"]["Input type"]


def concrete(event):
    return event["args"]["Concrete Inputs"]


def stride(event, slot):
    """The strides of an argument. KeyError without the list, IndexError where it is too short."""
    return tuple(event["args"]["Input Strides"][slot])


def stride_if_recorded(event, slot):
    """As `stride`, but None where strides were not recorded at all."""
    return stride(event, slot) if "Input Strides" in event["args"] else None


def stride_if_any(event, slot):
    """As `stride`, but None where there is none, for whatever reason."""
    found = at(event["args"].get("Input Strides"), slot)
    return None if found is None else tuple(found)


def at(items, index, default=None):
    """The element of a list, or the default where list or element do not exist."""
    return items[index] if items is not None and index < len(items) else default


def text_at(event, index):
    """A concrete input, "" where it was not recorded."""
    return at(event["args"].get("Concrete Inputs"), index, "")


def is_tensor(event, slot):
    """Whether the slot exists and holds a shape with dimensions."""
    return bool(at(dims(event), slot))


def bool_literal(text):
    """True, False or a whole number, exactly as the profiler prints them."""
    value = ast.literal_eval(text)
    if isinstance(value, int):
        return value
    raise ValueError(f"expected True, False or a number, got {text!r}")


def sdpa_bool(text):
    """True only for the word true, in any case."""
    return text.lower() == "true"


def parse_list(text, kind):
    """`[1, 2, 3]` as a list whose elements are made by `kind` (int, bool)."""
    value = ast.literal_eval(text)
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"expected a list, got {text!r}")
    return [kind(item) for item in value]
