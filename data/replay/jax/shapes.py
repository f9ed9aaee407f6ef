# ---------------------------------------------------------------- shapes and layouts

class Shape:
    """An array: type, dimensions, and the order in which these lie in memory."""

    def __init__(self, text):
        found = re.fullmatch(r"(\w+)\[([\d,]*)\](?:\{([\d,]*)\})?", text)
        if not found:
            raise Skip(f"'{text}' is no array")
        self.text, self.type = text, found[1]
        self.dims = [int(size) for size in found[2].split(",") if size]
        minor_to_major = [int(dim) for dim in (found[3] or "").split(",") if dim]
        self.major_to_minor = minor_to_major[::-1] or list(range(len(self.dims)))
        if sorted(self.major_to_minor) != list(range(len(self.dims))):
            raise Skip(f"'{text}' has no known layout")

    @property
    def dtype(self):
        dtype = getattr(jnp, DTYPES.get(self.type, ""), None)
        if dtype is None:
            raise Skip(f"this JAX has no type {self.type}")
        return dtype

    def is_plain(self):
        return self.major_to_minor == sorted(self.major_to_minor)

    def in_memory(self):
        """The dimensions in the order of memory."""
        return [self.dims[dim] for dim in self.major_to_minor]

    def to_memory(self, value):
        """The array with its dimensions in the order of memory; XLA makes this a view."""
        return value if self.is_plain() else lax.transpose(value, self.major_to_minor)

    def from_memory(self, value):
        if self.is_plain():
            return value
        return lax.transpose(value, [self.major_to_minor.index(dim) for dim in range(len(self.dims))])

    def bytes(self):
        bits = re.search(r"\d+", self.type)
        return math.prod(self.dims) * (int(bits[0]) if bits else 8) // 8


def parts_of(text):
    """The shapes of a tuple, as texts; none for an array."""
    if not text.startswith("("):
        return None
    parts, depth, start = [], 0, 1
    for at, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        if (char == "," and depth == 1) or depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in parts if part]


def mapped(text, function, *values):
    """function(shape, value) for every array of a shape, as a tuple of the same form."""
    parts = parts_of(text)
    if parts is None:
        return function(Shape(text), *values)
    return tuple(mapped(part, function, *(value[i] for value in values)) for i, part in enumerate(parts))


def arrays_of(text):
    parts = parts_of(text)
    return [Shape(text)] if parts is None else [each for part in parts for each in arrays_of(part)]
