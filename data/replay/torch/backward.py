# ---------------------------------------------------------------- backward through autograd

class BackwardCall:
    """The backward of an op whose backward has no operator of its own: the node that autograd makes of
    the forward, called with gradients like the recorded ones."""

    def __init__(self, record, options):
        self.op, forward = record["op"], record["forward"]
        self.is_in_place = not forward["op"].endswith("::" + base_name(forward["op"]))
        self.forward = build(forward, options)
        self.overload, self.notes = self.forward.overload, [*self.forward.notes, "a node of autograd"]
        self.gradients = recorded_gradients(record, options)
        everything = frozenset(range(sum(is_float(each) for each in self.forward.tensors())))
        if not everything:
            raise Skip("its forward takes nothing that has a gradient")
        self.node = None
        while self.node is None:
            try:
                self.node = self.node_for(everything)
            except NotDifferentiable as error:
                everything -= {error.number}
        self.take_as_recorded(everything, record, options)

    def node_for(self, needed):
        """The node, when these of the forward's inputs need a gradient."""
        number = -1
        names = [argument.name for argument in self.overload._schema.arguments]
        by_name = {}

        def prepared(name, value):
            nonlocal number
            if isinstance(value, list):
                return [prepared(name, each) for each in value]
            if not is_float(value):
                return value
            number += 1
            by_name[name] = number
            value = value.detach()
            if number not in needed:
                return value
            value.requires_grad_()
            return value.clone() if self.is_in_place else value  # what has a gradient may not be changed

        try:
            with torch.enable_grad():
                result = self.overload(
                    *[prepared(name, each) for name, each in zip(names, self.forward.positional)],
                    **{name: prepared(name, each) for name, each in self.forward.keywords.items()})
        except RuntimeError as error:  # it has no derivative by itself, or not by this argument
            argument = re.search(r"with respect to argument '(\w+)'", str(error))
            if argument and by_name.get(argument[1]) in needed:
                raise NotDifferentiable(by_name[argument[1]]) from None
            raise Skip(f"no gradient through its forward: {first_line(error)}") from None
        return node_named(self.op, result if isinstance(result, (tuple, list)) else [result])

    def take_as_recorded(self, everything, record, options):
        """Which inputs needed gradients is not recorded, but the ops and kernels that made them are. All of
        them did, unless fewer are nearer to that."""
        if len(everything) < 2 or not (record.get("below") or record.get("trace", {}).get("launches")):
            return
        whole = node = self.node
        nearest = unlike(ran_once(self, options), record)
        subsets = [everything - {each} for each in sorted(everything)]
        subsets += [frozenset({each}) for each in sorted(everything)] if len(everything) > 2 else []
        for needed in subsets:
            if nearest == (0, False):
                break
            try:
                self.node = self.node_for(needed)
                distance = unlike(ran_once(self, options), record)
            except (NotDifferentiable, RuntimeError, Skip):
                continue
            if distance < nearest:
                nearest, node = distance, self.node
        self.node = node
        if node is not whole:
            self.notes.append("some inputs of its forward without gradients, as recorded")

    def __call__(self):
        return self.node(*self.gradients)


class AccumulateCall:
    """The last node of a backward: adds a gradient to what is there, or keeps a copy of it."""

    def __init__(self, record, options):
        self.gradients = recorded_gradients(record, options)
        if not self.gradients or self.gradients[0] is None:
            raise Skip("the trace does not record its gradient")
        self.overload, self.notes = "AccumulateGrad", ["a node of autograd"]
        gradient = self.gradients[0]
        like = {"dtype": gradient.dtype, "device": gradient.device}
        self.parameter = torch.zeros(gradient.shape, **like)
        self.parameter.requires_grad_()
        with torch.enable_grad():
            self.node = self.parameter.view_as(self.parameter).grad_fn.next_functions[0][0]
        # The first gradient is taken as it is, or copied where it is laid out differently.
        self.adds = "aten::add_" in record.get("below", {})
        if self.adds:
            self.parameter.grad = torch.zeros(gradient.shape, **like)

    def __call__(self):
        if not self.adds:
            self.parameter.grad = None
        self.node(*self.gradients)


class NotDifferentiable(Exception):
    """One input of the forward has no derivative."""

    def __init__(self, number):
        super().__init__()
        self.number = number


def is_float(value):
    return torch.is_tensor(value) and value.dtype.is_floating_point


def recorded_gradients(record, options):
    """What an autograd node was called with; nothing for outputs that were not used."""
    strides = record.get("Input Strides") or []
    return [make_tensor(dims, strides[i] if i < len(strides) else [], dtype_of(text), options.device)
            if text in DTYPES else None
            for i, (text, dims) in enumerate(zip(record["Input type"], record["Input Dims"]))]


def node_named(name, results):
    """The node of this name among those that lead to the results."""
    nodes = [each.grad_fn for each in results if torch.is_tensor(each) and each.grad_fn is not None]
    if not nodes:
        raise Skip("its forward has no gradient")
    for node in nodes:  # which grows
        if node.name() == name:
            return node
        nodes.extend(each for each, _ in node.next_functions if each is not None and each not in nodes)
    raise Skip(f"its forward leads to {nodes[0].name()} in this PyTorch")


def is_op(event):
    return event is not None and event.name.startswith("aten::")


def ran_once(call, options):
    """What one call runs: how often each op, by name, and the names of all on the GPU."""
    from torch.profiler import ProfilerActivity, profile
    on_gpu = options.device == "cuda"
    call()
    synchronize(options)
    with profile(activities=[ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * on_gpu) as profiler:
        call()
        synchronize(options)
    ops, kernels = {}, []
    for event in profiler.events():
        if "CUDA" in str(event.device_type):
            kernels.append(event.name)
        elif is_op(event) and not is_op(event.cpu_parent):  # not what ops call
            ops[event.name] = ops.get(event.name, 0) + 1
    return ops, kernels


def unlike(ran, record):
    """How far this is from what was recorded, in an order: (ops, whether the kernels are others)."""
    (ops, kernels), recorded = ran, record.get("below", {})
    trace = record.get("trace", {})
    main = trace.get("kernels", [])[:1]
    others = "launches" in trace and (len(kernels) != trace["launches"] or not set(main) <= set(kernels))
    # Of the recorded ops only: another PyTorch may call more.
    return sum(abs(ops.get(name, 0) - count) for name, count in recorded.items()), bool(kernels) and others
