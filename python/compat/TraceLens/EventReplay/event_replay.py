"""An op of a trace, called again: which overload it was, its arguments, the call."""

import ast
import re
import warnings
from dataclasses import asdict

from .utils import DTYPES, ENUMS, TensorCfg, _get_torch_or_raise, build_argument

_SCHEMA = re.compile(r"^([^\(]+)\((.*)\)\s*->\s*(.*)$", re.DOTALL)
_ARGUMENT = re.compile(r"^(\S.*?)\s+([A-Za-z_][A-Za-z0-9_]*)(?:=(.*))?$", re.DOTALL)
_ALIAS = re.compile(r"\([^)]*\)")  # (a), (a!), (a -> *)
_INTEGER = re.compile(r"-*\d+")

# Written before they are read, so that nothing needs to be in them.
_NOT_READ = {"aten::fill_": lambda name: True, "aten::copy_": lambda name: name != "src"}


class NoMatch(Exception):
    """The recorded arguments do not fit this overload."""


class EventReplayer:
    """`EventReplayer(event).replay()` calls the op of an event with made-up inputs.

    The event needs its `name` and, in `args`, the lists `Input Dims`, `Input type`, `Input Strides` and
    `Concrete Inputs`; a row of a report has them too.
    """

    def __init__(self, event, device="cuda", lazy=False, verbose=False):
        _get_torch_or_raise()
        self.event = event
        self.device = device
        self.lazy = lazy
        self.verbose = verbose
        self.matched_schema = self._find_schema()
        self.event_replay_IR = self._make_ir(self.matched_schema)
        if not lazy:
            self.args, self.kwargs = self._make_arguments()

    def replay(self):
        """Calls the op and gives its result. Lazy: the inputs are made anew."""
        if self.lazy:
            self.args, self.kwargs = self._make_arguments()
        torch = _get_torch_or_raise()
        function, _ = torch._C._jit_get_operation(self.event["name"])
        return function(*self.args, **self.kwargs)

    def get_repro_info(self):
        """The call as plain data that JSON can hold: {op_name, replay_ir: {list_pos_args, list_kwargs}}."""

        def plain(value):
            if isinstance(value, list):
                return [plain(item) for item in value]
            return asdict(value) if isinstance(value, TensorCfg) else value

        return {"op_name": self.event["name"],
                "replay_ir": {key: [{**argument, "value": plain(argument["value"])} for argument in arguments]
                              for key, arguments in self.event_replay_IR.items()}}

    @staticmethod
    def parse_schema_string(schema):
        """`name(type arg=default, *, type arg) -> returns`, taken apart."""
        match = _SCHEMA.match(schema.strip())
        if not match:
            raise ValueError(f"Cannot parse schema: {schema}")
        name, inside, returns = match.groups()
        arguments, keyword_only = [], False
        for item in _split(inside):
            if item == "*":
                keyword_only = True
                continue
            found = _ARGUMENT.match(item)
            if not found:
                raise ValueError(f"Cannot parse argument {item!r} of schema: {schema}")
            kind, argument, default = found.groups()
            arguments.append({"arg_name": argument, "arg_type": kind, "default": default,
                              "keyword_only": keyword_only})
        return {"name": name, "args": [a for a in arguments if not a["keyword_only"]],
                "kwargs": [a for a in arguments if a["keyword_only"]], "returns": returns}

    # --- The overload ------------------------------------------------------------------------------------

    def _find_schema(self):
        """The first overload whose arguments fit what was recorded."""
        reasons = []
        for text in _schemas(self.event["name"]):
            schema = EventReplayer.parse_schema_string(text)
            try:
                self._make_ir(schema)
            except NoMatch as reason:
                reasons.append(f"{text}: {reason}")
                continue
            if self.verbose:
                print(f"{self.event['name']}: {text}")
            return schema
        tried = "".join(f"\n  {reason}" for reason in reasons)
        raise ValueError(f"Cannot find matching schema for {self.event['name']}. Tried:{tried or ' nothing'}")

    def _make_ir(self, schema):
        """Every argument as {arg_name, arg_type, value}; NoMatch where one does not fit."""
        recorded = self._recorded()
        expected = schema["args"] + schema["kwargs"]
        if len(recorded) > len(expected):
            raise NoMatch(f"{len(recorded)} arguments were recorded, {len(expected)} are expected")
        for argument in expected[len(recorded):]:
            if argument["default"] is None:
                raise NoMatch(f"{argument['arg_name']} was not recorded")
        ir = {"list_pos_args": [], "list_kwargs": []}
        list_type = next((kind for kind, *_ in recorded if kind in _FLOATING), "c10::BFloat16")
        by_name = False
        for argument, values in zip(expected, recorded):
            value = _value(self.event["name"], argument, list_type, *values)
            if value is _DEFAULT:
                value = _default(argument["default"])
            if value is _DEFAULT:
                by_name = True  # left out, so that what follows has lost its place
                continue
            key = "list_kwargs" if by_name or argument["keyword_only"] else "list_pos_args"
            ir[key].append({"arg_name": argument["arg_name"], "arg_type": argument["arg_type"], "value": value})
        return ir

    def _recorded(self):
        """(type, shape, strides, text) of every recorded argument."""
        args = self.event["args"]
        kinds = args["Input type"]
        shapes, strides, texts = (args.get(key) or () for key in ("Input Dims", "Input Strides", "Concrete Inputs"))

        def at(items, index, default):
            return items[index] if index < len(items) else default

        return [(kind, at(shapes, i, ()), at(strides, i, None), at(texts, i, "")) for i, kind in enumerate(kinds)]

    # --- The arguments -----------------------------------------------------------------------------------

    def _make_arguments(self):
        def make(argument):
            return build_argument(argument["arg_type"], argument["value"], self.device)

        return ([make(argument) for argument in self.event_replay_IR["list_pos_args"]],
                {argument["arg_name"]: make(argument) for argument in self.event_replay_IR["list_kwargs"]})


_FLOATING = ("double", "float", "c10::Half", "c10::BFloat16")
_DEFAULT = object()  # nothing was recorded: whatever the op takes by itself


def _schemas(name):
    """The texts of all overloads of an op that are registered in this process."""
    torch = _get_torch_or_raise()
    return [str(schema) for schema in torch._C._jit_get_schemas_for_operator(name)]


def _split(text):
    """At commas outside of brackets and quotes."""
    items, depth, quote, start = [], 0, None, 0
    for i, char in enumerate(text):
        if quote:
            quote = None if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            items.append(text[start:i].strip())
            start = i + 1
    return [item for item in [*items, text[start:].strip()] if item]


def _default(text):
    """The default of a schema as a value, where it is one that can be passed."""
    if text is None or text == "None":
        return None
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return _DEFAULT


def _value(op, argument, list_type, kind, shape, strides, text):
    """A recorded argument as a value of the type that the schema wants.

    The types of tensors in lists are not recorded; `list_type` is taken for them.
    """
    wanted = _ALIAS.sub("", argument["arg_type"])
    optional = wanted.endswith("?")
    wanted = wanted.rstrip("?")
    if kind == "" and not shape and text == "":
        if argument["default"] is not None:
            return _DEFAULT
        if optional:
            return None
        raise NoMatch(f"{argument['arg_name']} was not recorded")
    if optional and kind == "ScalarList" and text == "[]":
        return []
    if wanted == "Tensor":
        if kind not in DTYPES:
            raise NoMatch(f"{argument['arg_name']} is of type {kind!r}, a tensor is wanted")
        uninitialised = op in _NOT_READ and _NOT_READ[op](argument["arg_name"])
        return TensorCfg(list(shape), kind, None if strides is None else list(strides),
                         None if uninitialised else "normal")
    if wanted.startswith("Tensor"):
        if kind != "TensorList":
            raise NoMatch(f"{argument['arg_name']} is of type {kind!r}, a list of tensors is wanted")
        steps = strides if strides and len(strides) == len(shape) else [None] * len(shape)
        return [TensorCfg(list(sizes), list_type, step and list(step)) for sizes, step in zip(shape, steps)]
    if wanted.endswith("]"):
        return _list(argument, wanted[:wanted.index("[")].rstrip("?"), kind, text)
    return _scalar(argument, wanted, kind, text)


def _list(argument, wanted, kind, text):
    if kind != "ScalarList" or not text.startswith("["):
        raise NoMatch(f"{argument['arg_name']} is {text!r}, a list is wanted")
    items = [item.strip() for item in text[1:-1].split(",") if item.strip()]
    return [_scalar(argument, wanted, "Scalar", item) for item in items]


def _scalar(argument, wanted, kind, text):
    def wrong():
        return NoMatch(f"{argument['arg_name']} is {text!r}, {wanted} is wanted")

    if wanted == "bool":
        if text.lower() not in ("true", "false"):
            raise wrong()
        return text.lower() == "true"
    if wanted == "Device":
        return text
    if wanted in ENUMS:
        if not _INTEGER.fullmatch(text) or int(text) not in ENUMS[wanted]:
            raise wrong()
        return int(text)
    if wanted not in ("int", "SymInt", "float", "Scalar"):
        warnings.warn(f"Unknown schema type: {wanted}. Skipping this case.")
        raise wrong()
    if kind != "Scalar":
        raise wrong()
    if wanted in ("int", "SymInt"):
        if not _INTEGER.fullmatch(text):
            raise wrong()
        return int(text)
    if wanted == "Scalar":
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        if _INTEGER.fullmatch(text):
            return int(text)
    try:
        return float(text)
    except ValueError:
        raise wrong() from None
