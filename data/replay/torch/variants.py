# ---------------------------------------------------------------- variants worth trying

def rounded_up(value, step):
    return (value + step - 1) // step * step


# The arguments that are multiplied, and the one that is added.
GEMM_ARGUMENTS = {"mm": ("self", "mat2", None), "addmm": ("mat1", "mat2", "self"),
                  "bmm": ("self", "mat2", None), "baddbmm": ("batch1", "batch2", "self"),
                  "linear": ("input", "weight", "bias"), "matmul": ("self", "other", None)}


def low_types(record):
    """The types worth trying: under autocast, inputs of another type than its own are converted anyway."""
    return [dtype_of(record["autocast"])] if record.get("autocast") else [torch.bfloat16, torch.float16]


def padded_addend(addend, old, new):
    """What is added, for a result of the new (rows, columns); sizes of one stay."""
    shape = list(addend.shape)
    for at in range(1, min(len(shape), 2) + 1):
        if shape[-at] == old[-at]:
            shape[-at] = new[-at]
    return make_tensor(shape, [], addend.dtype, addend.device)


def gemm_variants(record, call, options):
    """Each is the recorded call with other matrices: what is added and how it is scaled stay."""
    base = base_name(record["op"])
    given = call.by_name()
    if base not in GEMM_ARGUMENTS or given.get("out") is not None:
        return
    name_a, name_b, name_c = GEMM_ARGUMENTS[base]
    a, b, c = given.get(name_a), given.get(name_b), given.get(name_c)
    if not all(torch.is_tensor(each) and each.dim() >= 2 for each in (a, b)):  # somebody else's
        return
    turned = base == "linear"  # its weight is stored as the transpose
    if turned:
        b = b.transpose(-1, -2)

    def product(x, y, addend=c):
        changes = {name_a: x, name_b: y.transpose(-1, -2) if turned else y}
        return call.changed(changes if addend is None else {**changes, name_c: addend})

    k, n = b.shape[-2], b.shape[-1]
    batch = list(a.shape[:-2]) if b.dim() > 2 else []  # else all rows are one matrix's
    m = math.prod(a.shape[:-1]) if b.dim() == 2 else a.shape[-2]
    for step in (8, 64, 128, 256):
        rows, depth, columns = (rounded_up(size, step) for size in (m, k, n))
        if (rows, depth, columns) != (m, k, n) and rows * depth * columns <= 1.5 * m * k * n:
            yield f"sizes padded to {step}", product(
                in_shape(a, [*batch, rows, depth]), in_shape(b, [*b.shape[:-2], depth, columns]),
                None if c is None else padded_addend(c, (m, n), (rows, columns)))
    for name, x, y in (("A row-major, B row-major", a.contiguous(), b.contiguous()),
                       ("A row-major, B column-major", a.contiguous(), column_major(b)),
                       ("A column-major, B row-major", column_major(a), b.contiguous())):
        if x.stride() != a.stride() or y.stride() != b.stride():
            yield name, product(x, y)
    for dtype in low_types(record):
        if a.dtype != dtype and a.dtype.is_floating_point:
            yield f"in {str(dtype)[6:]}", product(a.to(dtype), b.to(dtype),
                                                  None if c is None else c.to(dtype))
    if a.dtype == torch.float32 and not record.get("autocast"):
        yield "with TF32", lambda: with_tf32(call)


def in_shape(matrix, shape):
    """Another matrix that lies in memory in the same order."""
    made = make_tensor(shape, [], matrix.dtype, matrix.device)
    return column_major(made) if matrix.stride()[-2] == 1 != matrix.stride()[-1] else made


def column_major(matrix):
    return matrix.transpose(-1, -2).contiguous().transpose(-1, -2)


def with_tf32(work):
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return work()
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def attention_variants(record, call, options):
    if "scaled_dot_product" not in record["op"] or "backward" in record["op"]:
        return
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        return
    given = call.by_name()
    if not all(torch.is_tensor(given.get(name)) for name in ("query", "key", "value")):
        return
    query, keywords, needs_grad = attention_arguments(given)

    def attention(backend):
        # Within the recorded back-end, which the inner choice replaces.
        with sdpa_kernel(backend), torch.set_grad_enabled(needs_grad):
            return torch.nn.functional.scaled_dot_product_attention(query, **keywords)

    for name in ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH"):
        backend = getattr(SDPBackend, name, None)
        if backend is not None:
            yield f"SDPA {name.lower()}", lambda backend=backend: call.inside(lambda: attention(backend))


def attention_arguments(given):
    """(query, the other arguments of SDPA, whether a backward is to follow) of any op of attention."""
    keywords = {"key": given["key"], "value": given["value"], "is_causal": bool(given.get("is_causal")),
                "dropout_p": given.get("dropout_p") or 0.0,
                "attn_mask": first_of(given, "attn_mask", "attn_bias")}
    query, scale = given["query"], given.get("scale")
    if scale is not None:  # PyTorch 2.0 has no such argument
        keywords["scale"] = scale
    # Back-ends share heads without being told.
    if given.get("enable_gqa") or (query.dim() > 3 and query.shape[-3] != given["key"].shape[-3]):
        keywords["enable_gqa"] = True
    needs_grad = bool(given.get("compute_log_sumexp"))  # which is kept for the backward
    if needs_grad:
        query = query.detach()
        query.requires_grad_()
    return query, keywords, needs_grad


def convolution_variants(record, call, options):
    if base_name(record["op"]) not in ("convolution", "conv2d", "cudnn_convolution",
                                       "miopen_convolution", "_convolution"):
        return
    tensors = [each for each in call.positional if torch.is_tensor(each)]
    if len(tensors) < 2 or tensors[0].dim() != 4:
        return

    def with_tensors(change):
        return call.changed({name: change(each) for name, each in call.by_name().items()
                             if torch.is_tensor(each)})

    def last(each):
        return each.contiguous(memory_format=torch.channels_last) if each.dim() == 4 else each

    if not tensors[0].is_contiguous(memory_format=torch.channels_last):
        yield "channels_last", with_tensors(last)
    for dtype in low_types(record):
        if tensors[0].dtype == torch.float32:
            yield f"in {str(dtype)[6:]}", with_tensors(lambda each, dtype=dtype: each.to(dtype))
            yield f"in {str(dtype)[6:]}, channels_last", with_tensors(
                lambda each, dtype=dtype: last(each.to(dtype)))


def compiled_variant(record, call, options):
    if isinstance(call, Call) and hasattr(torch, "compile"):
        compiled = torch.compile(lambda *tensors: call.overload(*tensors, **call.keywords),
                                 mode="max-autotune-no-cudagraphs")
        yield "torch.compile", lambda: call.inside(lambda: compiled(*call.positional))


def tuned(record, call, measured, options):
    """Measured variants of the op, fastest first."""
    found = []
    if not isinstance(call, Call):
        return found
    for variants in (gemm_variants, attention_variants, convolution_variants):
        tried = list(variants(record, call, options))
        for name, work in tried + (list(compiled_variant(record, call, options)) if tried else []):
            try:
                work()
                us = timed(work, options, [])["median_us"]
            except Exception as error:  # a variant that this GPU or this PyTorch does not have
                found.append({"variant": name, "error": first_line(error)})
                continue
            found.append({"variant": name, "median_us": us, "speedup": measured["median_us"] / us})
    return sorted(found, key=lambda each: -each.get("speedup", 0))
