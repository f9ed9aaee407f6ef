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
