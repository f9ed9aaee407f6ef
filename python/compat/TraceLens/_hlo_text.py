"""XLA's modules as text: one instruction per line, read into one record per instruction.

    %gemm.1 = (f32[128,512]{1,0}, s8[64]{0}) custom-call(%a, %b), custom_call_target="__cublas$gemm", ...
"""

import contextlib
import glob
import json
import logging
import math
import os
import re
import threading

from ._hlo_proto import module_text
from ._xplane import refusing_other_files

logger = logging.getLogger("TraceLens.util")

_SHOWS_A_TYPE = ("get-tuple-element", "bf16", "f8", "f16", "f32", "f64", "s32", "s64", "u32", "u64", "pred")
_TYPES = ("bf16", "f16", "f32", "f8", "fp8")
_TYPED_OPERAND = re.compile(r"[bfs][0-9\[\]\{,a-z]*}")
_FIELDS = {
    "metadata": re.compile(r"metadata=\{[a-zA-Z_=\"\(\)\/ @.0-9-]*"),
    "backend_config": re.compile(r"backend_config=\{[a-zA-Z_=\"\(\)\/ @.,:\[\]\{\}0-9-]*"),
    "custom_call_target": re.compile(r"custom_call_target=\"[a-zA-Z_=\"\(\)\/ @.$0-9-]*"),
}
_REPLICA_GROUPS = re.compile(r"replica_groups=(\{\{[\d,]*\}(?:,\{[\d,]*\})*\}|\[[\d,]*\]<=\[[\d,]*\](?:T\([\d,]*\))?)")
_FAMILIES = ("all-to-all", "reduce-scatter", "all-gather")
_NUMBERED = re.compile(r"(all-to-all|reduce-scatter|all-gather)\.(\d+)")
_ARRAY = re.compile(r"([a-z]+[0-9]*[a-z0-9]*)\[([\d,]*)\](?:\{([\d,]*)\})?")
_MOST_DIMENSIONS = 3  # of a factor or a result: matrices, perhaps in batches
_CHATTER = (b"INT_MAX", b"hlo_instruction.cc")


@contextlib.contextmanager
def suppress_native_hlo_logs():
    """Keeps what the converter of profiles says about every instruction off stderr; other lines come after it.

    TRACELENS_VERBOSE_NATIVE_LOGS=1 lets all pass.
    """
    if os.environ.get("TRACELENS_VERBOSE_NATIVE_LOGS") == "1":
        yield
        return
    readable, writable = os.pipe()
    stderr = os.dup(2)
    os.dup2(writable, 2)
    os.close(writable)
    text = bytearray()

    def drain():
        while chunk := os.read(readable, 65536):
            text.extend(chunk)

    reader = threading.Thread(target=drain, daemon=True)
    reader.start()
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        reader.join()
        os.close(readable)
        for line in bytes(text).splitlines(keepends=True):
            if not any(word in line for word in _CHATTER):
                os.write(2, line)


class JaxProfileProcessor:
    # --- One module ------------------------------------------------------------------------------------

    @staticmethod
    def process_xla_file(xla_file_name):
        """The instructions of a text dump: `%name` -> record."""
        with open(xla_file_name, encoding="utf-8", errors="replace") as file:
            return JaxProfileProcessor._process_lines(file)

    @staticmethod
    def process_protobuf_file(protobuf_file_name, module_name):
        """The instructions of a module that ran in a profile: `%name` -> record; {} if there is no such module.

        By JAX users' converter where it is installed, which writes the modules beside the profile; else by ours.
        """
        try:
            from xprof.convert import raw_to_tool_data
        except ImportError:
            raw_to_tool_data = None
        read = _by_converter if raw_to_tool_data else _from_profile
        lines = read(protobuf_file_name, module_name, raw_to_tool_data)
        return {} if lines is None else JaxProfileProcessor._process_lines(lines)

    @staticmethod
    def _process_lines(lines):
        hlo_ops = {}
        for line in lines:
            JaxProfileProcessor.process_line(hlo_ops, line)
        JaxProfileProcessor._resolve_operand_references(hlo_ops)
        return hlo_ops

    @staticmethod
    def process_line(hlo_ops, line):
        """Adds the record of one line; False for a line that is no instruction."""
        if not JaxProfileProcessor._should_parse_hlo_graph_line(line):
            return False
        key, record = JaxProfileProcessor.get_dict(hlo_ops, line.strip())
        hlo_ops[key] = record
        return True

    @staticmethod
    def _should_parse_hlo_graph_line(line):
        line = line.strip()
        if not line or line.startswith(("HloModule ", "ROOT")):
            return False
        if "metadata" in line and not line.endswith(")"):
            return True
        return any(hint in line for hint in _SHOWS_A_TYPE)

    @staticmethod
    def get_dict(hlo_ops, line):
        """(`%name`, record) of an instruction."""
        words = line.replace("),", ")").replace(", ", ",").replace(" %", "%").split(" ")
        record = {"output": words[2] if len(words) > 2 else "",
                  "operands": JaxProfileProcessor.get_operands(words[3]) if len(words) > 3 else [],
                  "computation": "rest"}
        for field, pattern in _FIELDS.items():
            found = pattern.search(line)
            if found:
                record[field] = found.group()
        groups = _REPLICA_GROUPS.search(line)
        if groups:
            record["replica_groups"] = groups.group(1)
        target = record.get("custom_call_target", "")
        if "matmul" in target or "cublas" in target:
            record["computation"] = "gemm"
            record["type"] = "fp8" if "f8" in target else JaxProfileProcessor._common_type(hlo_ops, record["operands"])
        return words[0], record

    @staticmethod
    def _common_type(hlo_ops, operands):
        kinds = [JaxProfileProcessor.get_operand_type(hlo_ops, operand) for operand in operands]
        if any(kind != kinds[0] for kind in kinds):
            raise ValueError(f"the operands of a product have several types: {kinds}")
        return kinds[0]

    @staticmethod
    def get_operands(operands):
        """The operands of `opcode(...)`: their types where they are printed, else their names."""
        inside = operands[operands.index("(") + 1:] if "(" in operands else operands
        inside = inside.split(")", 1)[0]
        return _TYPED_OPERAND.findall(inside) or inside.split(",")

    @staticmethod
    def get_operand_type(hlo_ops, operand):
        """The element type of an operand, by its text or by the instruction it names; None if of no known type."""
        text = operand.strip("fusion,") if "fusion," in operand else operand
        for candidate in (text, hlo_ops.get(text, {}).get("output", "")):
            kind = next((kind for kind in _TYPES if candidate.startswith(kind)), None)
            if kind:
                return kind
        return None

    @staticmethod
    def _resolve_operand_references(hlo_ops):
        """Replaces the names of operands by the shapes of what they name."""
        for record in hlo_ops.values():
            if isinstance(record.get("operands"), list):
                record["operands"] = [JaxProfileProcessor._shape_of(hlo_ops, name) for name in record["operands"]]

    @staticmethod
    def _shape_of(hlo_ops, operand):
        if not operand.startswith("%"):
            return operand
        if operand not in hlo_ops:
            logger.warning("Unable to resolve HLO operand reference %s", operand)
            return operand
        return hlo_ops[operand]["output"]

    # --- Names of ops in a trace -------------------------------------------------------------------------

    @staticmethod
    def _normalize_hlo_op_key(name):
        return name if name.startswith("%") else "%" + name

    @staticmethod
    def _collective_start_keys(module_ops, family):
        starts = sorted(key for key in module_ops if key.startswith(f"%{family}-start"))
        return starts or sorted(key for key in module_ops if key.startswith(f"%{family}-done"))

    @staticmethod
    def build_collective_hlo_aliases(module_ops, trace_ops):
        """Collectives that the trace numbers otherwise than the module: `%all-gather.5` -> `%all-gather-start`."""
        numbers = {family: [] for family in _FAMILIES}
        for name in trace_ops:
            match = _NUMBERED.fullmatch(name.lstrip("%"))
            if match and JaxProfileProcessor._normalize_hlo_op_key(name) not in module_ops:
                numbers[match.group(1)].append(int(match.group(2)))
        aliases = {}
        for family, found in numbers.items():
            keys = JaxProfileProcessor._collective_start_keys(module_ops, family)
            for index, number in enumerate(sorted(found) if keys else ()):
                aliases[f"%{family}.{number}"] = keys[min(index, len(keys) - 1)]
        return aliases

    @staticmethod
    def resolve_hlo_op_key(hlo_op, module_ops, aliases=None):
        """The key of an op of a trace in its module; None if it has none."""
        key = JaxProfileProcessor._normalize_hlo_op_key(hlo_op)
        if key in module_ops:
            return key
        alias = (aliases or {}).get(key)
        if alias in module_ops:
            return alias
        match = _NUMBERED.fullmatch(key[1:])
        keys = JaxProfileProcessor._collective_start_keys(module_ops, match.group(1)) if match else ()
        return keys[0] if keys else None

    # --- Matrix products -----------------------------------------------------------------------------------

    @staticmethod
    def process_gemm_ops(hlo_ops):
        """`%name` -> Batch, M, N, K, Beta, Type of every library product of a module."""
        return {name: _gemm(hlo_ops, op) for name, op in hlo_ops.items() if op["computation"] == "gemm"}


def _from_profile(path, module, _):
    with refusing_other_files(path):
        lines = module_text(path, module)
    if lines is None:
        logger.warning("No module %s in %s", module, path)
    return lines


def _by_converter(path, module, converter):
    pattern = os.path.join(os.path.dirname(path), f"{module}*hlo_proto.pb")
    found = glob.glob(pattern)
    if not found:
        with suppress_native_hlo_logs():
            converter.xspace_to_tool_names([path])  # writes the modules beside the profile
        found = glob.glob(pattern)
    if not found:
        logger.warning("No file of module %s beside %s", module, path)
        return None
    if len(found) > 1:
        logger.warning("Several files of module %s: %s", module, found)
    name = os.path.basename(found[0])[:-len(".hlo_proto.pb")]
    options = {"graph_viewer_options": {"type": "long_txt", "module_name": name}}
    with suppress_native_hlo_logs():
        data, _ = converter.xspace_to_tool_data([path], "graph_viewer", options)
    return (data.decode("utf-8", errors="replace") if isinstance(data, bytes) else data).splitlines()


def _gemm(hlo_ops, op):
    """One product with the sizes that the library gets: it sees a row-major result as the transposed one."""
    config = _product_config(op)
    result, layout = _result(op["output"])
    factors = _factors(hlo_ops, op["operands"], config)
    free, inner = [], set()
    for side, sizes in zip(("lhs", "rhs"), factors):
        summed = _contracted(config, side, sizes)
        inner.add(math.prod(sizes[place] for place in summed))
        free.append([size for place, size in enumerate(sizes) if place not in summed])
    if len(inner) != 1:
        raise ValueError(f"the factors {factors[0]} and {factors[1]} of a product do not share an inner size")
    batch = 1
    if len(result) == _MOST_DIMENSIONS:
        batch = result[0]
        for sizes in free:
            if batch not in sizes:
                raise ValueError(f"a product of {batch} matrices has a factor without that dimension")
            sizes.remove(batch)
    across, down = (sizes[0] if sizes else 1 for sizes in free)
    if "0,1" not in layout:
        across, down = down, across
    return {"Batch": batch, "M": across, "N": down, "K": inner.pop(), "Beta": int(config["beta"]),
            "Type": op["type"], "Computation": "gemm"}


def _product_config(op):
    """What XLA tells the library about a product: a JSON text, of which other values may be cut off."""
    text = op.get("backend_config")
    if text is None:
        raise ValueError("a product without backend_config: its inner dimension is not known")
    config = {name: _member(text, name) for name in
              ("beta", "epilogue", "lhs_contracting_dimensions", "rhs_contracting_dimensions")}
    if config["beta"] not in (0, 1):
        raise ValueError(f"a product's backend_config of an unknown form: {text}")
    return config


def _member(text, name):
    """The value of the first member of this name in a JSON text, however deep; None without one."""
    found = re.search(rf'"{name}"\s*:\s*', text)
    try:
        return json.JSONDecoder().raw_decode(text, found.end())[0] if found else None
    except ValueError:
        return None


def _contracted(config, side, sizes):
    """The places of the dimensions that a product sums over, in one of its factors."""
    places = [int(place) for place in config[f"{side}_contracting_dimensions"] or ()]
    if not places or not all(0 <= place < len(sizes) for place in places):
        raise ValueError(f"a product sums over the dimensions {places} of {list(sizes)}")
    return places


def _factors(hlo_ops, operands, config):
    """The sizes of the two factors; a third operand is added, a fourth is the bias of the epilogue."""
    found = _matrices(hlo_ops, operands)
    if len(found) < 2 or len(found) > 4:
        raise ValueError(f"a product has two to four operands, not {len(found)}: {operands}")
    if len(found) == 4 and config["epilogue"] != "BIAS":
        raise ValueError("a product of four operands whose epilogue adds no bias")
    if config["beta"] == 1 and len(found) == 2:
        logger.warning("A product adds to its result, but has no operand to add: %s", operands)
    return [_no_more_than_batches(sizes) for sizes in found[:2]]


def _no_more_than_batches(sizes):
    if len(sizes) > _MOST_DIMENSIONS:
        raise ValueError(f"a product of more than batches of matrices: {list(sizes)}")
    return sizes


def _result(text):
    """Sizes and layout of the matrix in `(result, workspace, ...)`."""
    if not text.startswith("("):
        raise TypeError(f"a product gives its result and a workspace, but this one gives {text}")
    if not text.endswith(")"):
        raise ValueError(f"a parenthesis is not closed: {text}")
    arrays = ((sizes, layout) for kind, sizes, layout in _ARRAY.findall(text) if sizes and kind.startswith(_TYPES))
    sizes, layout = next(arrays, ("", ""))
    if not sizes:
        raise ValueError(f"no matrix among the results of a product: {text}")
    return _no_more_than_batches([int(size) for size in sizes.split(",")]), layout


def _matrices(hlo_ops, operands):
    """The sizes of operands with dimensions; names are looked up."""
    sizes = []
    for operand in operands:
        text = re.sub(r"/\*index=\d+\*/", "", operand)
        if "[" not in text:
            text = hlo_ops.get(text, {}).get("output", "")
            if not text.startswith(_TYPES):
                continue
        found = _ARRAY.search(text)
        if found and found.group(2):
            sizes.append(tuple(map(int, found.group(2).split(","))))
    return sizes
