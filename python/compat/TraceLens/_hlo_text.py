"""XLA's modules as text: one instruction per line, read into one record per instruction.

    %gemm.1 = (f32[128,512]{1,0}, s8[64]{0}) custom-call(%a, %b), custom_call_target="__cublas$gemm", ...
"""

import contextlib
import glob
import logging
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
_BETA = re.compile(r'"beta":\s*([01])\s*[,}]')
_CONTRACTING = {side: re.compile(rf'"{side}_contracting_dimensions":\["(\d+)"\]') for side in ("lhs", "rhs")}
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
            raise ValueError(f"Input operand type mismatch: {kinds}")
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
        logger.warning("No matching hlo_filenames for module %s beside %s", module, path)
        return None
    if len(found) > 1:
        logger.warning("Multiple matching hlo_filenames for module %s: %s", module, found)
    name = os.path.basename(found[0])[:-len(".hlo_proto.pb")]
    options = {"graph_viewer_options": {"type": "long_txt", "module_name": name}}
    with suppress_native_hlo_logs():
        data, _ = converter.xspace_to_tool_data([path], "graph_viewer", options)
    return (data.decode("utf-8", errors="replace") if isinstance(data, bytes) else data).splitlines()


def _gemm(hlo_ops, op):
    if "backend_config" not in op:
        raise ValueError("Gemm backend config information mentioned incorrectly")
    config = op["backend_config"]
    beta = _BETA.search(config)
    lhs, rhs = (pattern.search(config) for pattern in _CONTRACTING.values())
    if not beta or not lhs or not rhs:
        raise ValueError(f"Gemm backend config of an unknown form: {config}")
    beta, lhs, rhs = int(beta.group(1)), int(lhs.group(1)), int(rhs.group(1))
    output, order = _wide_output(op["output"])
    operands = _matrices(hlo_ops, op["operands"])
    if not 2 <= len(operands) <= 4:
        raise ValueError(f"Invalid operand list: {op['operands']}")
    if beta == 1 and len(operands) < 3:
        print("Bias is set, but onLy two operands found")
    if len(operands) > 3 and '"epilogue":"BIAS"' not in config.replace(" ", ""):
        raise ValueError("more than three operands, but the bias epilogue is nto set")
    a, b = list(operands[0]), list(operands[1])
    if max(map(len, (a, b, output))) > 3:
        raise ValueError("tensor size is more than 3")
    inner = a[lhs]
    if b[rhs] != inner:
        raise ValueError(f"contracting dimension not matching: {inner} and {b[rhs]}")
    a.remove(inner)
    b.remove(inner)
    batch = 1
    if len(output) == 3:
        batch = output[0]
        a.remove(batch)
        b.remove(batch)
    rows, columns = (sizes[0] if sizes else 1 for sizes in (a, b))
    if "0,1" not in order:  # row-major, as XLA writes it: the library sees the transposed product
        rows, columns = columns, rows
    return {"Batch": batch, "M": rows, "N": columns, "K": inner, "Beta": beta, "Type": op["type"],
            "Computation": "gemm"}


def _wide_output(text):
    """Sizes and layout of the result in `(result, workspace, ...)`."""
    if not text.startswith("("):
        raise TypeError(f"expected a tuple of result and workspace, got {text}")
    if not text.endswith(")"):
        raise ValueError(f"Mistmatched parens in the output {text}")
    for kind, sizes, layout in _ARRAY.findall(text):
        if sizes and kind.startswith(_TYPES):
            return list(map(int, sizes.split(","))), layout
    raise ValueError(f"Did not find wide output in {text}")


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
