"""The compiled modules that a JAX profile carries, printed as XLA prints them: one instruction per line."""

from ._xplane import _fields, _last, _signed, _text, _varint, planes_of

_TYPES = ("invalid pred s8 s16 s32 s64 u8 u16 u32 u64 f16 f32 f64 tuple opaque c64 bf16 token c128 f8e5m2 f8e4m3fn s4 "
          "u4 f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz s2 u2 f8e4m3 f8e3m4 s1 u1 f4e2m1fn f8e8m0fnu buffer f6e3m2fn "
          "f6e2m3fn").split()
_TUPLE = 13


def module_text(path, name):
    """The lines of a module; None if the profile has no such module.

    A name is that of the module alone or with its number, `jit_step(7)`; of several the lowest number counts.
    """
    found = []
    for plane in planes_of(path):
        if plane.name != "/host:metadata":
            continue
        for key, body in plane.raw_types:
            full = _text(_last(body, 2, b""))
            if name in (full, full.rsplit("(", 1)[0]):
                found.append((key, body))
    if not found:
        return None
    _, body = min(found, key=lambda pair: pair[0])
    for number, stat in _fields(body):
        proto = _last(stat, 6, None) if number == 5 else None
        if proto:
            return list(_module_lines(_last(proto, 1, b"")))
    return None


def _module_lines(module):
    for number, computation in _fields(module):
        if number == 3:
            yield from _computation_lines(computation)


def _computation_lines(computation):
    instructions = [_Instruction(body) for number, body in _fields(computation) if number == 2]
    names = {instruction.id: instruction.name for instruction in instructions}
    for instruction in instructions:
        yield instruction.line(names)


class _Instruction:
    def __init__(self, data):
        self.id = self.parameter = 0
        self.name = self.opcode = self.target = self.config = ""
        self.shape = self.metadata = b""
        self.operands, self.groups = [], []
        for number, value in _fields(data):
            if number == 1:
                self.name = _text(value)
            elif number == 2:
                self.opcode = _text(value)
            elif number == 3:
                self.shape = value
            elif number == 7:
                self.metadata = value
            elif number == 9:
                self.parameter = value
            elif number == 28:
                self.target = _text(value)
            elif number == 35:
                self.id = _signed(value)
            elif number == 36:
                self.operands += _numbers(value)
            elif number == 43:
                self.config = _text(value)
            elif number == 49:
                self.groups.append(value)
            elif number == 87:
                self.groups += [group for inner, group in _fields(value) if inner == 1]

    def line(self, names):
        inside = [f"%{names.get(operand, operand)}" for operand in self.operands]
        if self.opcode == "parameter":
            inside = [str(self.parameter)]
        parts = [f"%{self.name} = {_shape(self.shape)} {self.opcode}({_listed(inside)})"]
        if self.target:
            parts.append(f'custom_call_target="{self.target}"')
        if self.groups:
            groups = (",".join(str(n) for number, value in _fields(group) if number == 1 for n in _numbers(value))
                      for group in self.groups)
            parts.append("replica_groups={" + ",".join("{" + group + "}" for group in groups) + "}")
        about = _about(self.metadata)
        if about:
            parts.append("metadata={" + about + "}")
        if self.config.startswith("{"):
            parts.append(f"backend_config={self.config}")
        return ", ".join(parts)


def _about(metadata):
    """What is known of where an instruction comes from."""
    texts = {1: "op_type", 2: "op_name", 3: "source_file", 4: "source_line"}
    known = {texts[number]: value for number, value in _fields(metadata) if number in texts and value}
    return " ".join(f"{name}={value}" if isinstance(value, int) else f'{name}="{_text(value)}"'
                    for name, value in sorted(known.items(), key=lambda item: list(texts.values()).index(item[0])))


def _shape(data):
    """`bf16[4,8]{1,0}`, `f32[]`, `(f32[2]{0}, s8[16]{0})`"""
    kind, sizes, parts, layout = 0, [], [], None
    for number, value in _fields(data):
        if number == 2:
            kind = value
        elif number == 3:
            sizes += _numbers(value)
        elif number == 4:
            parts.append(value)
        elif number == 5:
            layout = [n for inner, numbers in _fields(value) if inner == 1 for n in _numbers(numbers)]
    if kind == _TUPLE:
        return f"({_listed([_shape(part) for part in parts])})"
    name = _TYPES[kind] if kind < len(_TYPES) else "opaque"
    text = f"{name}[{','.join(map(str, sizes))}]"
    return text + "{" + ",".join(map(str, layout)) + "}" if sizes and layout is not None else text


def _listed(items):
    """Every fifth element says its number."""
    return ", ".join(f"/*index={i}*/{item}" if i and i % 5 == 0 else item for i, item in enumerate(items))


def _numbers(value):
    """A repeated field of whole numbers, packed or one at a time."""
    if isinstance(value, int):
        return [_signed(value)]
    numbers, position = [], 0
    while position < len(value):
        number, position = _varint(value, position)
        numbers.append(_signed(number))
    return numbers
