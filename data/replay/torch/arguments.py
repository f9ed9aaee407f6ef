# ---------------------------------------------------------------- from the record to a call

def kind_of(argument):
    """(base type, is a list, is optional) of a schema argument; the enums keep their names."""
    kind = str(getattr(argument, "real_type", argument.type))
    optional = kind.startswith("Optional[") or kind.endswith("?")
    kind = kind[len("Optional["):-1] if kind.startswith("Optional[") else kind.rstrip("?")
    is_list = kind.startswith("List[") or kind.endswith("]")
    if is_list:
        kind = kind[len("List["):-1] if kind.startswith("List[") else kind[:kind.rindex("[")]
        kind = kind[len("Optional["):-1] if kind.startswith("Optional[") else kind.rstrip("?")
    return kind, is_list, optional


def list_items(text):
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        raise Reject(f"'{text}' is no list")
    return [item.strip() for item in text[1:-1].split(",") if item.strip()]


def to_bool(text):
    if text.lower() not in ("true", "false"):
        raise Reject(f"'{text}' is no bool")
    return text.lower() == "true"


def to_int(text):
    if not re.fullmatch(r"[+-]?\d+", text):
        raise Reject(f"'{text}' is no integer")
    return int(text)


def to_float(text):
    try:
        return float(text)
    except ValueError:
        raise Reject(f"'{text}' is no number") from None


def to_number(text):
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    pair = re.fullmatch(r"\(([^,]+),([^,]+)\)", text)
    if pair:
        return complex(float(pair[1]), float(pair[2]))
    if text.endswith("j"):
        return complex(text.replace(" ", ""))
    return to_float(text)


def to_enum(names, text, what):
    number = to_int(text)
    name = names.get(number) if isinstance(names, dict) else (
        names[number] if 0 <= number < len(names) else None)
    value = getattr(torch, name, None) if name else None
    if value is None:
        raise Reject(f"{what} {number} is unknown")
    return value


SCALARS = {
    "int": to_int, "SymInt": to_int, "float": to_float, "bool": to_bool, "number": to_number,
    "Scalar": to_number,
    "ScalarType": lambda text: to_enum(SCALAR_TYPES, text, "type number"),
    "MemoryFormat": lambda text: to_enum(MEMORY_FORMATS, text, "memory format"),
    "Layout": lambda text: to_enum(LAYOUTS, text, "layout"),
}


class Arguments:
    """Converts the recorded entries of one call to what one overload takes."""

    def __init__(self, record, options):
        self.record, self.options = record, options
        self.types = record["Input type"]
        self.dims = record["Input Dims"]
        self.strides = record.get("Input Strides") or []
        self.concrete = record.get("Concrete Inputs") or []
        self.base = base_name(record["op"])
        self.notes = []

    def entry(self, items, i, default):
        return items[i] if i < len(items) else default

    def nothing_recorded(self, i):
        return (not self.types[i] and not self.entry(self.dims, i, []) and
                self.entry(self.concrete, i, "") == "")

    def convert(self, schema):
        """(positional, keywords, by name), or Reject."""
        values = {"op": self.record["op"]}
        positional, keywords, tensors = [], {}, []
        if len(schema.arguments) < len(self.types):
            raise Reject(f"takes {len(schema.arguments)} arguments, {len(self.types)} were recorded")
        for i, argument in enumerate(schema.arguments):
            given = self.options.arg.get(argument.name)
            if given is not None:
                value = given
            elif i >= len(self.types):
                if not argument.has_default_value():
                    raise Reject(f"'{argument.name}' was not recorded and has no default")
                continue
            elif self.nothing_recorded(i):
                value = self.unrecorded(argument)
            else:
                value = self.recorded(argument, i)
            values[argument.name] = value
            if isinstance(value, Described):
                tensors.append((argument.name, value))
            elif isinstance(value, list) and value and isinstance(value[0], Described):
                tensors.extend((argument.name, each) for each in value)
            if argument.kwarg_only:
                keywords[argument.name] = value
            else:
                # An argument left out before this one is passed by its default.
                for skipped in schema.arguments[len(positional):i]:
                    positional.append(skipped.default_value)
                positional.append(value)
        self.name_list_types(tensors)
        return positional, keywords, values

    def makes_on_gpu(self):
        """Whether this makes a tensor out of nothing, on the GPU: a kernel fills it, or nothing does."""
        if any(text in DTYPES or text == "TensorList" for text in self.types):
            return False
        launches = self.record.get("trace", {}).get("launches", 1)
        return (launches > 0 or self.base.startswith("empty")) and "True" not in self.concrete  # pinned

    def unrecorded(self, argument):
        kind, is_list, optional = kind_of(argument)
        if argument.name == "device" and self.record.get("copy"):
            return torch.device("cpu" if "DtoH" in self.record["copy"] else self.options.device)
        if argument.name == "device" and self.makes_on_gpu():
            return torch.device(self.options.device)
        if argument.has_default_value():
            return argument.default_value
        if optional or (kind == "Tensor" and not is_list):
            return None  # PyTorch takes None for a tensor that is not defined
        if kind in ("Device", "device"):
            return torch.device(self.options.device)
        raise Reject(f"'{argument.name}' ({kind}) was not recorded")

    def recorded(self, argument, i):
        kind, is_list, optional = kind_of(argument)
        text, concrete = self.types[i], str(self.entry(self.concrete, i, ""))
        dims, strides = self.entry(self.dims, i, []), self.entry(self.strides, i, [])
        if kind == "Tensor" and is_list:
            if text != "TensorList":
                raise Reject(f"'{argument.name}' is a list of tensors")
            if not dims:
                raise Skip("the trace does not record which tensors its lists hold")
            strides = strides if len(strides) == len(dims) else [[]] * len(dims)
            return [Described(shape, stride, None) for shape, stride in zip(dims, strides)]
        if kind == "Tensor":
            if text in ("Scalar", "ScalarList", "TensorList", ""):
                raise Reject(f"'{argument.name}' is a tensor")
            return Described(dims, strides, dtype_of(text))
        if is_list:
            if text != "ScalarList":
                raise Reject(f"'{argument.name}' is a list")
            convert = SCALARS.get(kind)
            if convert is None:
                raise Reject(f"'{argument.name}': lists of {kind} are not recorded")
            return [convert(item) for item in list_items(concrete)]
        if kind in ("Device", "device"):
            return torch.device(self.options.device)
        if kind in SCALARS:
            if text != "Scalar" and not (text == "" and concrete):
                raise Reject(f"'{argument.name}' is a {kind}")
            return SCALARS[kind](concrete)
        if argument.has_default_value():
            return argument.default_value
        if optional:
            return None
        raise Reject(f"'{argument.name}' ({kind}) is not recorded in traces")

    def name_list_types(self, tensors):
        """Traces do not record the types of tensors in lists."""
        unknown = [each for _, each in tensors if each.dtype is None]
        if not unknown:
            return
        hint = self.record.get("list type")
        known = [each.dtype for _, each in tensors if each.dtype is not None and
                 each.dtype.is_floating_point]
        if hint in DTYPES:
            dtype = dtype_of(hint)
        elif known:
            dtype = known[0]
        else:
            dtype = getattr(torch, self.options.list_dtype)
            self.notes.append(f"type of listed tensors assumed: {self.options.list_dtype}")
        for name, each in tensors:
            if each.dtype is None:
                each.dtype = torch.int64 if name == "indices" else dtype


class Described:
    """A tensor that is not made yet: an overload may still be rejected."""

    def __init__(self, shape, strides, dtype):
        self.shape, self.strides, self.dtype = shape, strides, dtype
        self.least = 1  # elements behind it

    def bytes(self):
        strides = self.strides
        if len(strides) != len(self.shape):
            strides = contiguous_strides(self.shape)
        return max(storage_size(self.shape, strides), self.least) * self.dtype.itemsize

    def is_plain_number(self):
        """A Python number that became a tensor: no dimensions, of Python's own types."""
        return not self.shape and self.dtype in (torch.float64, torch.int64, torch.bool)
