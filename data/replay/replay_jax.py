#!/usr/bin/env python3
# @HEADER@
#
# Inputs are random. No model code, no weights, no names of functions, files or hosts are in here: only
# the HLO instructions of each op with their shapes, layouts and attributes, and recorded GPU times.
#
#   python replay.py                 run everything, each op timed and compared with the recording
#   python replay.py --list          what would run
#   python replay.py --kernels       also which kernels ran, and their time alone
#   python replay.py --json out.json results for a machine; --csv for a table
#
# Needs JAX and nothing else. Exit status: 0 all ran (or were skipped), 1 some failed, 2 wrong usage,
# 3 no JAX.

import glob
import json
import math
import os
import re
import statistics
import sys
import tempfile
import time

try:
    import jax
    import jax.numpy as jnp
    from jax import lax
except ImportError:
    jax = None

from common import (Skip, argument_parser, beside, chosen, finish, outcome, print_result, recorded_us,
                    repeat, run_all, say, summary, work)

DATA = json.loads(r'''{"records": []}''')

DTYPES = {
    "pred": "bool_", "s4": "int4", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64",
    "u4": "uint4", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "float16",
    "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
    "f8e5m2": "float8_e5m2", "f8e4m3fn": "float8_e4m3fn", "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2fnuz": "float8_e5m2fnuz", "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e4m3": "float8_e4m3",
    "f8e3m4": "float8_e3m4", "f8e8m0fnu": "float8_e8m0fnu", "f4e2m1fn": "float4_e2m1fn",
}


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


# ---------------------------------------------------------------- one rule per opcode

UNARY = {
    "abs": "abs", "cbrt": "cbrt", "ceil": "ceil", "cosine": "cos", "count-leading-zeros": "clz",
    "erf": "erf", "exponential": "exp", "exponential-minus-one": "expm1", "floor": "floor",
    "imag": "imag", "is-finite": "is_finite", "log": "log", "log-plus-one": "log1p",
    "logistic": "logistic", "negate": "neg", "not": "bitwise_not", "popcnt": "population_count",
    "real": "real", "rsqrt": "rsqrt", "sign": "sign", "sine": "sin", "sqrt": "sqrt", "tan": "tan",
    "tanh": "tanh",
}
BINARY = {
    "add": "add", "and": "bitwise_and", "atan2": "atan2", "complex": "complex", "divide": "div",
    "maximum": "max", "minimum": "min", "multiply": "mul", "or": "bitwise_or", "power": "pow",
    "remainder": "rem", "shift-left": "shift_left", "shift-right-arithmetic": "shift_right_arithmetic",
    "shift-right-logical": "shift_right_logical", "subtract": "sub", "xor": "bitwise_xor",
}
COMPARE = {"EQ": "eq", "NE": "ne", "LT": "lt", "LE": "le", "GT": "gt", "GE": "ge"}
SCATTERS = {"add": "scatter_add", "multiply": "scatter_mul", "minimum": "scatter_min",
            "maximum": "scatter_max", "parameter": "scatter"}
PASSED_ON = {"copy", "copy-start", "copy-done", "async-done", "async-update"}
COLLECTIVES = ("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-", "ragged-all",
               "send", "recv")
PRECISIONS = ("DEFAULT", "HIGH", "HIGHEST")


def scalar(text, shape):
    """A constant; what the script does not know is a number in the middle."""
    if text is None:
        value = 0.5 if shape.type.startswith(("f", "bf", "c")) else 0
    elif text in ("true", "false"):
        value = text == "true"
    else:
        value = float(text) if shape.type.startswith(("f", "bf", "c")) else int(text)
    return jnp.full(shape.dims, value, dtype=shape.dtype)


def precision_of(instruction):
    levels = instruction.get("precision")
    return tuple(getattr(lax.Precision, PRECISIONS[level]) for level in levels[:2]) if levels else None


class Program:
    """The computations of a record, as a function of arrays."""

    def __init__(self, hlo, options):
        if hlo.get("problem"):
            raise Skip(hlo["problem"])
        self.computations, self.options = hlo["computations"], options
        for computation in self.computations:
            body = computation["body"]
            if not 0 <= computation["root"] < len(body):
                raise Skip("a computation has no result")
            if any(not 0 <= each < at for at, instruction in enumerate(body)
                   for each in instruction.get("in", [])):
                raise Skip("the profile lacks an operand")

    @property
    def main(self):
        """The recorded instruction."""
        return self.computations[0]["body"][-1]

    def parameters(self):
        return self.computations[0]["body"][:-1]

    def call(self, number, arguments):
        computation = self.computations[number]
        body, root = computation["body"], computation["root"]
        values = {}
        for at in self.needed(body, root):
            instruction = body[at]
            inputs = [values[each] for each in instruction.get("in", [])]
            values[at] = self.run(instruction, inputs, arguments)
        return values[root]

    @staticmethod
    def needed(body, root):
        """The instructions that the root is made from, operands before users."""
        wanted, todo = set(), [root]
        while todo:
            at = todo.pop()
            if at not in wanted:
                wanted.add(at)
                todo.extend(body[at].get("in", []))
        return sorted(wanted)

    def run(self, instruction, inputs, arguments):
        op = instruction["op"]
        if op in UNARY:
            return getattr(lax, UNARY[op])(*inputs)
        if op in BINARY:
            return getattr(lax, BINARY[op])(*inputs)
        if op in PASSED_ON:
            return inputs[0]
        if op.startswith(COLLECTIVES):
            raise Skip("a collective: needs the other devices")
        rule = getattr(self, "run_" + op.replace("-", "_"), None)
        if rule is None:
            raise Skip(f"no rule for the HLO opcode '{op}'")
        return rule(instruction, inputs, arguments)

    # --- data ---

    def run_parameter(self, instruction, inputs, arguments):
        return arguments[instruction["index"]]

    def run_constant(self, instruction, inputs, arguments):
        return mapped(instruction["shape"], lambda shape: scalar(instruction.get("value"), shape))

    def run_iota(self, instruction, inputs, arguments):
        shape = Shape(instruction["shape"])
        return lax.broadcasted_iota(shape.dtype, shape.dims, (instruction.get("dims") or [0])[0])

    def run_partition_id(self, instruction, inputs, arguments):
        return scalar("0", Shape(instruction["shape"]))

    run_replica_id = run_partition_id

    def run_tuple(self, instruction, inputs, arguments):
        return tuple(inputs)

    def run_get_tuple_element(self, instruction, inputs, arguments):
        return inputs[0][instruction["index"]]

    def run_optimization_barrier(self, instruction, inputs, arguments):
        return lax.optimization_barrier(inputs[0])

    run_opt_barrier = run_optimization_barrier

    # --- shapes ---

    def run_bitcast(self, instruction, inputs, arguments):
        """The same bytes under another shape and layout."""
        shape = Shape(instruction["shape"])
        in_memory = Shape(instruction["from"]).to_memory(inputs[0])
        return shape.from_memory(lax.reshape(in_memory, shape.in_memory()))

    def run_reshape(self, instruction, inputs, arguments):
        return lax.reshape(inputs[0], Shape(instruction["shape"]).dims)

    def run_bitcast_convert(self, instruction, inputs, arguments):
        return lax.bitcast_convert_type(inputs[0], Shape(instruction["shape"]).dtype)

    def run_convert(self, instruction, inputs, arguments):
        return lax.convert_element_type(inputs[0], Shape(instruction["shape"]).dtype)

    def run_reduce_precision(self, instruction, inputs, arguments):
        return lax.reduce_precision(inputs[0], *instruction["bits"])

    def run_broadcast(self, instruction, inputs, arguments):
        return lax.broadcast_in_dim(inputs[0], Shape(instruction["shape"]).dims,
                                    instruction.get("dims", []))

    def run_transpose(self, instruction, inputs, arguments):
        return lax.transpose(inputs[0], instruction["dims"])

    def run_reverse(self, instruction, inputs, arguments):
        return lax.rev(inputs[0], instruction["dims"])

    def run_concatenate(self, instruction, inputs, arguments):
        return lax.concatenate(inputs, instruction["dims"][0])

    def run_slice(self, instruction, inputs, arguments):
        starts, limits, strides = zip(*instruction["slice"]) if "slice" in instruction else ([], [], [])
        return lax.slice(inputs[0], list(starts), list(limits), list(strides))

    def run_dynamic_slice(self, instruction, inputs, arguments):
        return lax.dynamic_slice(inputs[0], inputs[1:], instruction["sizes"])

    def run_dynamic_update_slice(self, instruction, inputs, arguments):
        return lax.dynamic_update_slice(inputs[0], inputs[1], inputs[2:])

    def run_pad(self, instruction, inputs, arguments):
        return lax.pad(inputs[0], inputs[1], [tuple(each) for each in instruction.get("pad", [])])

    # --- elements ---

    def run_compare(self, instruction, inputs, arguments):
        return getattr(lax, COMPARE[instruction["compare"]])(*inputs)

    def run_select(self, instruction, inputs, arguments):
        return lax.select(*inputs)

    def run_clamp(self, instruction, inputs, arguments):
        return lax.clamp(*inputs)

    def run_round_nearest_afz(self, instruction, inputs, arguments):
        return lax.round(inputs[0], lax.RoundingMethod.AWAY_FROM_ZERO)

    def run_round_nearest_even(self, instruction, inputs, arguments):
        return lax.round(inputs[0], lax.RoundingMethod.TO_NEAREST_EVEN)

    # --- calls ---

    def run_fusion(self, instruction, inputs, arguments):
        return self.call(instruction["calls"][0], inputs)

    run_call = run_map = run_async_start = run_fusion

    def reducer(self, instruction, count):
        def reduce(left, right):
            if count == 1:
                return self.call(instruction["calls"][0], [left, right])
            return self.call(instruction["calls"][0], [*left, *right])
        return reduce

    def run_reduce(self, instruction, inputs, arguments):
        count = len(inputs) // 2
        reduce = self.reducer(instruction, count)
        if count == 1:
            return lax.reduce(inputs[0], inputs[1], reduce, instruction.get("dims", []))
        return lax.reduce(tuple(inputs[:count]), tuple(inputs[count:]), reduce,
                          instruction.get("dims", []))

    def run_reduce_window(self, instruction, inputs, arguments):
        if len(inputs) != 2:
            raise Skip("a reduce-window of several arrays")
        window = instruction["window"]
        return lax.reduce_window(inputs[0], inputs[1], self.reducer(instruction, 1),
                                 [size for size, *_ in window], [each[1] for each in window],
                                 [(each[2], each[3]) for each in window], [each[4] for each in window],
                                 [each[5] for each in window])

    def run_sort(self, instruction, inputs, arguments):
        dimension = (instruction.get("dims") or [0])[0]
        if len(inputs) == 1:
            return lax.sort(inputs[0], dimension=dimension)
        return lax.sort(tuple(inputs), dimension=dimension, num_keys=1)

    # --- indices ---

    @staticmethod
    def indices(instruction, value):
        """With the index vectors in the last dimension, where JAX wants them."""
        at = instruction["indexing"]["vector"]
        if at == len(value.shape):
            return lax.reshape(value, [*value.shape, 1])
        order = [dim for dim in range(len(value.shape)) if dim != at]
        return value if at == len(order) else lax.transpose(value, [*order, at])

    def run_gather(self, instruction, inputs, arguments):
        dims = instruction["indexing"]
        numbers = lax.GatherDimensionNumbers(
            offset_dims=tuple(dims["offset"]), collapsed_slice_dims=tuple(dims["collapsed"]),
            start_index_map=tuple(dims["map"]), **self.batching(dims, "operand_batching_dims",
                                                               "start_indices_batching_dims"))
        return lax.gather(inputs[0], self.indices(instruction, inputs[1]), numbers,
                          tuple(instruction["sizes"]), mode=lax.GatherScatterMode.CLIP)

    def run_scatter(self, instruction, inputs, arguments):
        if len(inputs) != 3:
            raise Skip("a scatter into several arrays")
        computation = self.computations[instruction["calls"][0]]
        root = computation["body"][computation["root"]]
        scatter = SCATTERS.get(root["op"])
        if scatter is None:
            raise Skip(f"no rule for a scatter by '{root['op']}'")
        dims = instruction["indexing"]
        numbers = lax.ScatterDimensionNumbers(
            update_window_dims=tuple(dims["offset"]), inserted_window_dims=tuple(dims["collapsed"]),
            scatter_dims_to_operand_dims=tuple(dims["map"]),
            **self.batching(dims, "operand_batching_dims", "scatter_indices_batching_dims"))
        return getattr(lax, scatter)(inputs[0], self.indices(instruction, inputs[1]), inputs[2], numbers,
                                     mode=lax.GatherScatterMode.CLIP)

    @staticmethod
    def batching(dims, of_operand, of_indices):
        if not dims["operand batch"]:
            return {}
        return {of_operand: tuple(dims["operand batch"]), of_indices: tuple(dims["indices batch"])}

    # --- products ---

    def run_dot(self, instruction, inputs, arguments):
        lhs, rhs, lhs_batch, rhs_batch = instruction["dot"]
        return lax.dot_general(inputs[0], inputs[1], ((lhs, rhs), (lhs_batch, rhs_batch)),
                               precision=precision_of(instruction),
                               preferred_element_type=Shape(instruction["shape"]).dtype)

    def run_convolution(self, instruction, inputs, arguments):
        return convolution(instruction, inputs[0], inputs[1], Shape(instruction["shape"]).dtype)

    def run_custom_call(self, instruction, inputs, arguments):
        target = instruction.get("target", "")
        if target.startswith("__cublas"):
            return self.cublas(instruction, inputs)
        if target == "__cudnn$convForward" and len(inputs) == 2:
            return self.with_rest(instruction, convolution(instruction, *inputs,
                                                           self.result_of(instruction).dtype))
        if target == "__cudnn$convBiasActivationForward":
            return self.with_rest(instruction, self.cudnn_convolution(instruction, inputs))
        if target in ("__cudnn$convBackwardInput", "__cudnn$convBackwardFilter"):
            return self.with_rest(instruction, self.convolution_backward(instruction, inputs))
        if target == "__cudnn$fmhaSoftmax":
            return self.with_rest(instruction, self.attention(instruction, inputs))
        raise Skip(f"no rule for the custom call '{target}'")

    @staticmethod
    def result_of(instruction):
        """The array that a library call is about: what follows it are work space and statistics."""
        return arrays_of(instruction["shape"])[0]

    def with_rest(self, instruction, value):
        """As the tuple that the instruction makes, with work space of no size."""
        parts = parts_of(instruction["shape"])
        if parts is None:
            return value
        return (value, *(jnp.zeros((), Shape(part).dtype) for part in parts[1:]))

    def cublas(self, instruction, inputs):
        if "dot" not in instruction:
            raise Skip("the profile does not say which dimensions are multiplied")
        shape = self.result_of(instruction)
        lhs, rhs, lhs_batch, rhs_batch = instruction["dot"]
        a, b, rest = inputs[0], inputs[1], inputs[2:]
        numbers = ((lhs, rhs), (lhs_batch, rhs_batch))
        if instruction["target"].endswith("$f8"):  # XLA finds the scaled product again in this form
            wide = jnp.bfloat16
            scales = [lax.convert_element_type(lax.reshape(each, ()), wide) for each in rest[:2]]
            a, b = (lax.mul(lax.convert_element_type(each, wide), jnp.broadcast_to(scale, each.shape))
                    for each, scale in zip((a, b), scales))
            rest = []
        out = lax.dot_general(a, b, numbers, preferred_element_type=shape.dtype)
        if instruction.get("scale", 1) != 1:
            out = lax.mul(out, scalar(str(instruction["scale"]), shape))
        if instruction.get("beta", 0) != 0 and rest:
            out = lax.add(out, lax.mul(lax.convert_element_type(rest.pop(0), shape.dtype),
                                       scalar(str(instruction["beta"]), shape)))
        return self.with_rest(instruction, epilogue(instruction, out, rest))

    def cudnn_convolution(self, instruction, inputs):
        out = convolution(instruction, inputs[0], inputs[1], self.result_of(instruction).dtype)
        feature = instruction["conv"][2][1]
        if len(inputs) > 2:
            bias = lax.convert_element_type(lax.reshape(inputs[2], [-1]), out.dtype)
            out = lax.add(out, lax.broadcast_in_dim(bias, out.shape, [feature]))
        if len(inputs) > 3:
            out = lax.add(out, lax.convert_element_type(inputs[3], out.dtype))
        return epilogue(instruction, out, [])

    def convolution_backward(self, instruction, inputs):
        """A convolution is linear in each of its inputs; its gradient is the transpose of that."""
        result = self.result_of(instruction)
        wanted = jax.ShapeDtypeStruct(tuple(result.dims), result.dtype)
        if instruction["target"].endswith("Input"):
            gradient, kernel = inputs
            forward = lambda image: convolution(instruction, image, kernel, gradient.dtype)
        else:
            image, gradient = inputs
            forward = lambda kernel: convolution(instruction, image, kernel, gradient.dtype)
        return jax.linear_transpose(forward, wanted)(gradient)[0]

    def attention(self, instruction, inputs):
        out = attention_of(instruction, len(inputs), 3, self.options)(*inputs)
        # As the library has it: heads before positions.
        return out if list(out.shape) == self.result_of(instruction).dims else jnp.swapaxes(out, 1, 2)


def convolution(instruction, image, kernel, dtype):
    window = instruction.get("window", [])
    image_spec, kernel_spec, out_spec = (tuple(each) for each in instruction["conv"])
    reversed_dims = [dim for dim, each in zip(kernel_spec[2:], window) if each[6]]
    if reversed_dims:
        kernel = lax.rev(kernel, reversed_dims)
    features, batches = instruction["groups"]
    return lax.conv_general_dilated(
        image, kernel, [each[1] for each in window], [(each[2], each[3]) for each in window],
        [each[4] for each in window], [each[5] for each in window],
        lax.ConvDimensionNumbers(image_spec, kernel_spec, out_spec), feature_group_count=features,
        batch_group_count=batches, precision=precision_of(instruction), preferred_element_type=dtype)


def epilogue(instruction, out, rest):
    """What a library does to a result before it writes it."""
    name = instruction.get("epilogue", "").upper()
    if "BIAS" in name and rest:
        bias = lax.convert_element_type(rest[0], out.dtype)
        out = lax.add(out, lax.broadcast_in_dim(bias, out.shape, [len(out.shape) - 1]))
    if "RELU" in name:
        out = jax.nn.relu(out)
    if "GELU" in name:
        out = jax.nn.gelu(out)
    return out


def attention_of(instruction, inputs, expected, options):
    """The function of q, k and v."""
    if inputs != expected or instruction.get("dropout") or instruction.get("mask") not in (
            "NO_MASK", "CAUSAL"):
        raise Skip("attention with bias, dropout, ragged or paged inputs")
    implementation = None if options.device == "cpu" else "cudnn"

    def attention(q, k, v):
        return jax.nn.dot_product_attention(q, k, v, scale=instruction["scale"],
                                            is_causal=instruction["mask"] == "CAUSAL",
                                            implementation=implementation)
    return attention


# ---------------------------------------------------------------- from the record to a call

def index_limit(program):
    """Integers below this are valid wherever the op takes them for indices."""
    limits = []
    for computation in program.computations:
        body = computation["body"]
        for instruction in body:
            if "indexing" in instruction:
                dims = Shape(body[instruction["in"][0]]["shape"]).dims
                limits.extend(dims[dim] for dim in instruction["indexing"]["map"])
    return max(min(limits, default=128), 1)


class Inputs:
    """Random arrays, laid out in memory as they were."""

    def __init__(self, program, options):
        self.key = jax.random.PRNGKey(options.seed)
        self.limit = index_limit(program)

    def make(self, parameter):
        """In the order of memory: no layout has to be asked for."""
        return mapped(parameter["shape"], lambda shape: self.array(shape, parameter.get("value")))

    def array(self, shape, value):
        if value is not None:
            return shape.to_memory(scalar(value, shape))
        self.key, key = jax.random.split(self.key)
        dims = tuple(shape.in_memory())
        if shape.type == "pred":
            return jax.random.bernoulli(key, shape=dims)
        if shape.type.startswith(("s", "u")):
            bits = int(shape.type[1:])
            limit = max(min(self.limit, 2**(bits - 1) - 1), 1)
            return jax.random.randint(key, dims, 0, limit, jnp.int32).astype(shape.dtype)
        return jax.random.normal(key, dims, jnp.float32).astype(shape.dtype)


def annotated(program):
    """Gives each bitcast the shape it comes from, whose layout it depends on."""
    for computation in program.computations:
        body = computation["body"]
        for instruction in body:
            if instruction["op"] == "bitcast":
                instruction["from"] = body[instruction["in"][0]]["shape"]
    return program


def updated_in_place(program):
    """(parameter, output) pairs of arrays that the op changes without copying them."""
    main, body, roots = program.main, None, []
    if main["op"] == "fusion":
        computation = program.computations[main["calls"][0]]
        body, root = computation["body"], computation["root"]
        roots = body[root].get("in", []) if body[root]["op"] == "tuple" else [root]
    pairs = []
    for output, at in enumerate(roots):
        while body[at]["op"] in ("bitcast", "copy"):
            at = body[at]["in"][0]
        if body[at]["op"] not in ("dynamic-update-slice", "scatter"):
            continue
        source = body[at]["in"][0]
        while body[source]["op"] in ("bitcast", "copy"):
            source = body[source]["in"][0]
        outputs = parts_of(main["shape"]) or [main["shape"]]
        if body[source]["op"] == "parameter":
            number = body[source]["index"]
            if program.parameters()[number]["shape"] == outputs[output]:
                pairs.append((number, output))
    return pairs


class Call:
    """A compiled function with its inputs, ready to run any number of times."""

    def __init__(self, function, arguments, in_place=()):
        self.arguments, self.in_place = list(arguments), list(in_place)
        self.function = jax.jit(function, donate_argnums=tuple(number for number, _ in in_place))
        self.notes = ["updates its input in place"] if in_place else []

    def __call__(self):
        results = self.function(*self.arguments)
        for number, output in self.in_place:  # what was given away comes back as a result
            self.arguments[number] = results[output] if isinstance(results, tuple) else results
        return results


def make_call(record, options):
    program = annotated(Program(record["hlo"], options))
    main, parameters = program.main, program.parameters()
    size = sum(shape.bytes() for each in parameters for shape in arrays_of(each["shape"]))
    if options.max_gib and size > options.max_gib * 2**30:
        raise Skip(f"its inputs need {size / 2**30:.1f} GiB, more than --max-gib")
    inputs = Inputs(program, options)
    arguments = [inputs.make(each) for each in parameters]
    if main.get("target") == "__cudnn$fmhaSoftmaxBackward":
        return attention_backward(main, parameters, arguments, options)

    def replayed(*arrays):
        values = [mapped(each["shape"], lambda shape, value: shape.from_memory(value), array)
                  for each, array in zip(parameters, arrays)]
        result = program.call(0, values)
        text = parameters[0]["shape"] if main["op"] == "copy-start" else main["shape"]
        if any(result is value for value in values):  # JAX would hand it back without any work
            result = jnp.copy(result)
        if main["op"] == "async-start":
            return result
        if main["op"] == "custom-call":  # work space has no layout that matters
            shape = Program.result_of(main)
            return shape.to_memory(result[0] if isinstance(result, tuple) else result)
        return mapped(text, lambda shape, value: shape.to_memory(value), result)

    return Call(replayed, arguments, updated_in_place(program))


def attention_backward(main, parameters, arguments, options):
    """The forward runs once, to save what the backward needs; only the backward is timed."""
    q, k, v = (Shape(each["shape"]).from_memory(array)
               for each, array in zip(parameters[:3], arguments[:3]))
    out, pull = jax.vjp(attention_of(main, len(parameters), 6, options), q, k, v)
    gradient = jnp.ones(out.shape, out.dtype)

    def replayed(pull, gradient):
        return pull(gradient)

    return Call(replayed, [pull, gradient])


# ---------------------------------------------------------------- timing

def seconds_of(work):
    start = time.perf_counter()
    jax.block_until_ready(work())
    return time.perf_counter() - start


def timed(call, options):
    """Microseconds per call: median, least, mean, standard deviation, rounds, calls in a round.
    Calls are queued faster than a GPU runs them, as long as one takes more than some microseconds."""
    began, calls = time.perf_counter(), 0
    while calls < 50 and time.perf_counter() - began < 0.2:
        result = call()
        calls += 1
    jax.block_until_ready(result)
    once = max(seconds_of(repeat(call, 5)) / 5, 1e-7)
    times = min(max(int(2e-3 / once) + 1, 1), 1000)
    samples = [seconds_of(repeat(call, times)) / times * 1e6 for _ in range(options.rounds)]
    return summary(samples, times)


def profiled(call):
    """The kernels of one call, longest first, and their time in microseconds (medians over calls)."""
    if not hasattr(jax.profiler, "ProfileData"):
        raise Skip("this JAX cannot read its own profiles: leave out --kernels")
    rounds = 7
    big = jnp.zeros(2**26, jnp.float32)
    flush = jax.jit(lambda x: x.max())  # what ran before left other things in the cache
    jax.block_until_ready(flush(big))
    settings = jax.profiler.ProfileOptions()
    settings.python_tracer_level = 0
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder, profiler_options=settings):
            for _ in range(rounds):
                jax.block_until_ready(flush(big))
                jax.block_until_ready(call())
        path, = glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)
        found = kernels_of(jax.profiler.ProfileData.from_file(path))
    kernels = {name: statistics.median(each) * len(each) / rounds for name, each in found.items()}
    return sorted(kernels, key=lambda name: -kernels[name]), sum(kernels.values())


def kernels_of(profile):
    """Microseconds of each run, by kernel, of what the replayed function launched."""
    found = {}
    for plane in profile.planes:
        if not plane.name.startswith("/device:GPU"):
            continue
        for line in plane.lines:
            if not line.name.startswith("Stream"):
                continue
            for event in line.events:
                stats = dict(event.stats)
                if "replayed" in str(stats.get("hlo_module", "")):
                    found.setdefault(event.name, []).append(event.duration_ns / 1e3)
    return found


# ---------------------------------------------------------------- running

def run_record(record, options):
    def run(result):
        call = make_call(record, options)
        jax.block_until_ready(call())
        result.update(timed(call, options))
        if options.kernels and options.device == "gpu":
            result["kernels"], result["kernel_us"] = profiled(call)
        result["notes"] = call.notes

    return outcome(record, run, options.verbose)


# ---------------------------------------------------------------- output

def shapes_text(record):
    computations = record["hlo"]["computations"]
    parameters = computations[0]["body"][:-1] if computations else []
    return " ".join(each["shape"] for each in parameters)


def list_records(records):
    for record in records:
        instructions = sum(len(each["body"]) for each in record["hlo"]["computations"])
        say(f"{record['id']:>4}  {record['op']}  {shapes_text(record)}  {instructions} instructions  "
            f"{record['count']} runs  recorded {recorded_us(record):.2f} us")


def main():
    options = argument_parser("Runs recorded HLO ops again, with random inputs.", "gpu").parse_args()
    if jax is None:
        say("replay: JAX is needed: pip install jax", sys.stderr)
        return 3
    records = chosen(DATA["records"], options)
    if options.list:
        list_records(records)
        return 0
    # The child does the work, so the GPU's memory has to be the child's too.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if options.device == "cpu":
        jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)  # types are as recorded, also those of 64 bits
    has_gpu = jax.devices()[0].platform in ("gpu", "cuda", "rocm")
    if options.device == "gpu" and not has_gpu:
        say("replay: no GPU here; use --device cpu", sys.stderr)
        return 2
    options.device = options.device or ("gpu" if has_gpu else "cpu")

    def run(record):
        return run_record(record, options)

    def show(record, result):
        print_result(record, result, shapes_text(record))

    if options.worker:
        return work(DATA["records"], run)
    say(f"seed {options.seed}, device {options.device}, JAX {jax.__version__}")
    results = run_all(records, run, show, options, in_child=options.device == "gpu")
    about = {"jax": jax.__version__, "device": jax.devices()[0].device_kind, "seed": options.seed}
    return finish(records, results, [], about, options)


if __name__ == "__main__":
    sys.exit(main())
