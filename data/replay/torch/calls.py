# ---------------------------------------------------------------- the call of an operator

RESHAPES_IN_PLACE = {"squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_", "swapdims_", "as_strided_"}


class Call:
    """One operator with its inputs, ready to run any number of times."""

    def __init__(self, overload, positional, keywords, notes, around=(), is_fresh=False):
        self.overload, self.positional, self.keywords, self.notes = overload, positional, keywords, notes
        self.around = around  # makers of contexts
        self.reshapes = str(overload).split(".")[1] in RESHAPES_IN_PLACE
        self.is_fresh = is_fresh  # what it writes to is memory that nobody has touched

    def __call__(self):
        return self.inside(self.run)

    def inside(self, work):
        """Does it in the contexts that the call ran in."""
        if not self.around:
            return work()
        with contextlib.ExitStack() as stack:
            for context in self.around:
                stack.enter_context(context())
            return work()

    def by_name(self):
        """The arguments that are passed, by their names in the schema."""
        names = [argument.name for argument in self.overload._schema.arguments]
        return {**dict(zip(names, self.positional)), **self.keywords}

    def changed(self, changes):
        """The same call with other values for some arguments."""
        names = [argument.name for argument in self.overload._schema.arguments]
        positional = [changes.get(name, each) for name, each in zip(names, self.positional)]
        keywords = {name: changes.get(name, each) for name, each in self.keywords.items()}
        return Call(self.overload, positional, keywords, [], self.around, self.is_fresh)

    def run(self):
        if not self.reshapes and not self.is_fresh:
            return self.overload(*self.positional, **self.keywords)
        first, *others = self.positional
        # The next call needs the shape as it was.
        first = torch.empty_like(first) if self.is_fresh else first.view(first.shape)
        return self.overload(first, *others, **self.keywords)

    def tensors(self):
        for value in [*self.positional, *self.keywords.values()]:
            yield from (each for each in (value if isinstance(value, list) else [value])
                        if torch.is_tensor(each))


class Inputs:
    """Makes the tensors of a call, in the order of its arguments, with values that fit the op."""

    def __init__(self, record, values, options):
        self.record, self.values, self.options = record, dict(values), options
        self.base = base_name(record["op"])
        self.copies = record.get("copy", "")
        self.has_array = any(isinstance(each, Described) and each.shape for each in values.values())

    def make_all(self, positional, keywords, names):
        # Integers last: their range depends on the shapes of the others.
        order = sorted(self.values, key=lambda name: self.depends_on_others(self.values[name]))
        made = {}
        for name in order:
            made[name] = self.values[name] = self.make(name, self.values[name])
        positional = [made.get(name, value) for name, value in zip(names, positional)]
        return positional, {name: made.get(name, value) for name, value in keywords.items()}

    @staticmethod
    def depends_on_others(value):
        each = value[0] if isinstance(value, list) and value else value
        return isinstance(each, Described) and not (each.dtype.is_floating_point or
                                                    each.dtype.is_complex)

    def make(self, name, value):
        if isinstance(value, list):
            return [self.listed(name, i, each) for i, each in enumerate(value)]
        if not isinstance(value, Described):
            return value
        device = self.device_of(name, value)
        special = self.special(name, value, device)
        if special is not None:
            return special
        tensor = make_tensor(value.shape, value.strides, value.dtype, device, self.fill(name, value),
                             value.least)
        if device == "cpu" and "pinned" in self.copies and torch.cuda.is_available():
            tensor = tensor.pin_memory()
        return tensor

    def listed(self, name, i, value):
        if not isinstance(value, Described):
            return value
        fill = "normal"
        if name == "indices":  # aten::index: the i-th list entry indexes the i-th dimension
            shape = list(self.values["self"].shape)
            if len(self.values[name]) == 1 and self.is_mask(value, shape):
                return self.mask(value)
            fill = ("range", shape[i] if i < len(shape) else 1)
        return make_tensor(value.shape, value.strides, value.dtype, self.options.device, fill)

    def is_mask(self, value, shape):
        """An index as large as what it indexes may pick elements, which takes more than one kernel."""
        launches = self.record.get("trace", {}).get("launches")
        return value.shape == shape[:len(value.shape)] and (
            len(value.shape) > 1 if launches is None else launches > 1)

    def mask(self, value):
        """True as often as there are values."""
        values, count = self.values.get("values"), count_of(value)
        picked = values.shape[0] if values is not None and len(values.shape) > 0 else count // 2
        return (torch.arange(count, device=self.options.device) < picked).reshape(value.shape)

    def device_of(self, name, value):
        if self.options.device == "cpu":
            return "cpu"
        if value.is_plain_number() and self.has_array and name in PLAIN_NUMBERS:
            return "cpu"
        if self.base in ("pin_memory", "_pin_memory", "is_pinned") or (self.base, name) in ON_HOST:
            return "cpu"
        if "HtoD" in self.copies and name in ("src", "self") and not (
                self.base == "copy" and name == "self"):
            return "cpu"
        if "DtoH" in self.copies and self.base == "copy" and name == "self":
            return "cpu"
        return self.options.device

    def fill(self, name, value):
        if (self.base, name) in NOT_READ or name == "out" or name in ZERO:
            return None
        if (self.base, name) in PROBABILITIES:
            return "probability"
        if value.dtype.is_floating_point or value.dtype.is_complex or value.dtype == torch.bool:
            return "normal"
        limit = LIMITS.get((self.base, name))
        if limit is None and name == "index" and ALONG_DIM.match(self.base):
            limit = size_along_dim
        if limit is not None:
            try:
                return ("range", int(limit(self.values)))
            except (KeyError, IndexError, AttributeError, TypeError):
                return ("range", 1)
        return ("range", self.options.int_max) if self.options.int_max > 1 else "normal"

    def meaning(self, name):
        """(how, number) of an argument whose meaning is known by its name; nothing else."""
        how, limit = VALUES.get((self.base, name), (None, None))
        if how is None and "::" in self.record["op"] and not self.record["op"].startswith("aten::"):
            how, limit = next(((how, limit) for pattern, how, limit in MEANINGS if pattern.match(name)),
                              (None, None))
        if how is None:
            return None
        try:
            return how, max(int(limit(self.values)), 0)
        except (KeyError, IndexError, AttributeError, TypeError):
            return "all", 0

    def meant(self, name, value, device):
        """The tensor for such an argument, else nothing."""
        found = self.meaning(name)
        if found is None:
            return None
        (how, number), count = found, count_of(value)
        if how == "all":
            return make_tensor(value.shape, value.strides, value.dtype, device, found)
        if how == "cycle":
            values = torch.arange(count, device=device) % max(number, 1)
        elif how == "upto":
            values = torch.arange(count, device=device).clamp(max=number)
        else:
            values = torch.arange(count, device=device) * max(number, 1) // max(count, 1)
        return values.to(value.dtype).reshape(value.shape)

    def regions(self, value, device):
        """Regions of images: (number of the image, left, top, right, bottom)."""
        corners = torch.rand((value.shape[0], 2), device=device) * 8
        image = torch.zeros((value.shape[0], 1), device=device)
        return torch.cat([image, corners, corners + 8], dim=1).to(value.dtype)

    def special(self, name, value, device):
        """A tensor whose values matter to the op; nothing when any will do."""
        if name == "rois" and len(value.shape) == 2 and value.shape[1] == 5:
            return self.regions(value, device)
        if value.dtype.is_floating_point or value.dtype.is_complex:
            return None
        meant = self.meant(name, value, device)
        if meant is not None:
            return meant
        if value.dtype not in (torch.int32, torch.int64) or len(value.shape) != 1:
            return None
        count = value.shape[0]
        if CUMULATIVE.match(name):
            return even_offsets(count, rows_for_offsets(name, self.values), value.dtype, device,
                                with_zero=name != "offs")
        fill = self.fill(name, value)
        if isinstance(fill, tuple) and fill[1] == count:  # positions: each row once, in order
            return torch.arange(count, dtype=value.dtype, device=device)
        if self.base == "index_copy" and isinstance(fill, tuple) and count <= fill[1]:
            return torch.randperm(fill[1], device=device)[:count].to(value.dtype)
        return None


# What to import for the operators of a namespace, where that has another name.
LIBRARIES = {"_C": "vllm", "_C_cache_ops": "vllm", "_moe_C": "vllm", "_rocm_C": "vllm", "_vllm_fa2_C": "vllm",
             "_vllm_fa3_C": "vllm", "fbgemm": "fbgemm_gpu", "tex": "transformer_engine",
             "flash_attn_2_cuda": "flash_attn", "sglang_profiler": "sglang"}
PYTORCHS_OWN = ("aten", "prim", "prims", "quantized", "profiler", "inductor", "rngprims", "c10d",
                "_c10d_functional", "symm_mem")


def overloads_of(op):
    namespace, separator, name = op.partition("::") if "::" in op else ("aten", "", op)  # "detach"
    if re.fullmatch(r"\w+", namespace) and re.fullmatch(r"\w+", name):
        try:
            packet = getattr(getattr(torch.ops, namespace), name)
            return [getattr(packet, overload) for overload in packet.overloads()]
        except (AttributeError, RuntimeError):
            pass
    if not separator or not re.fullmatch(r"\w+::\w+", op):
        raise Skip("not the name of an operator: code of the model, of a library or of PyTorch itself")
    if namespace in PYTORCHS_OWN:
        raise Skip("no operator of this name in this PyTorch")
    raise Skip(f"needs the library {LIBRARIES.get(namespace, namespace)}, which registers it: see --import")


COLLECTIVE = re.compile(r"^(c10d|_c10d_functional|symm_mem)::|record_param_comms|^nccl:|all_?reduce|"
                        r"all_?gather|reduce_?scatter|all_?to_?all")


def vendor_missing(record):
    """Ops of another vendor's libraries, of which PyTorch has the names but not the code."""
    op, is_rocm = record["op"], getattr(torch.version, "hip", None) is not None
    if not is_rocm and "miopen" in op:
        return "needs MIOpen, which only PyTorch for ROCm has"
    if not is_rocm and "_mm" in op and any(text.endswith("fnuz") for text in record["Input type"]):
        return "multiplies an 8-bit type that only AMD GPUs have"
    if is_rocm and "cudnn" in op:
        return "needs cuDNN, which only PyTorch for CUDA has"
    return None


def reason_to_skip(record):
    op = record["op"]
    if COLLECTIVE.search(op):
        return "a collective"
    if op in ("aten::set_", "aten::set"):
        return "it takes a storage, which traces do not record"
    if vendor_missing(record):
        return vendor_missing(record)
    if op.startswith("triton_") and not record.get("source"):
        return "a Triton kernel whose source the trace does not name"
    return None


def resolve(record, options):
    """(overload, positional, keywords, names, values, notes) of the first overload that fits."""
    reason = reason_to_skip(record)
    if reason:
        raise Skip(reason)
    reasons = []
    recorded = len(record["Input type"])
    candidates = overloads_of(record["op"])
    # Those that take exactly what was recorded first.
    candidates.sort(key=lambda each: len(each._schema.arguments) != recorded)
    for overload in candidates:
        arguments = Arguments(record, options)
        try:
            positional, keywords, values = arguments.convert(overload._schema)
        except Reject as reject:
            reasons.append(f"{overload}: {reject}")
            continue
        names = [argument.name for argument in overload._schema.arguments if not argument.kwarg_only]
        return overload, positional, keywords, names, values, arguments.notes
    raise Skip("no overload fits: " + "; ".join(reasons[:4]))


def free_bytes(options):
    if options.max_gib:
        return options.max_gib * 2**30
    if options.device == "cuda":
        return torch.cuda.mem_get_info()[0] * 0.8
    return 16 * 2**30


def build(record, options):
    overload, positional, keywords, names, values, notes = resolve(record, options)
    described = [each for value in values.values()
                 for each in (value if isinstance(value, list) else [value])
                 if isinstance(each, Described)]
    if base_name(record["op"]).startswith("as_strided") and isinstance(values.get("self"), Described):
        # It may reach beyond its input, from which it takes the memory only.
        values["self"].least = max((values.get("storage_offset") or 0) +
                                   storage_size(values["size"], values["stride"]), 1)
    total = sum(each.bytes() for each in described)
    if total > free_bytes(options):
        raise Skip(f"inputs need {total / 2**30:.1f} GiB")
    positional, keywords = Inputs(record, values, options).make_all(positional, keywords, names)
    return Call(overload, positional, keywords, notes, surroundings(record, options, notes),
                is_fresh="fresh" in record.get("copy", ""))


def surroundings(record, options, notes):
    """Contexts that a call ran in and its arguments do not show."""
    found = []
    # Under autocast an op is recorded with the types it was called with, not those it worked in.
    if record.get("autocast"):
        dtype = dtype_of(record["autocast"])
        notes.append(f"under autocast to {str(dtype)[6:]}")
        found.append(lambda: torch.autocast(options.device, dtype=dtype))
    if record.get("attention"):
        try:
            from torch.nn.attention import SDPBackend, sdpa_kernel
            backend = getattr(SDPBackend, ATTENTION[record["attention"]])
            notes.append(f"back-end of attention: {record['attention']}")
            found.append(lambda: sdpa_kernel(backend))
        except (ImportError, AttributeError, KeyError):
            notes.append("its back-end of attention cannot be chosen in this PyTorch")
    return found


ATTENTION = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION",
             "math": "MATH"}
