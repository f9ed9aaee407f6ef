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
