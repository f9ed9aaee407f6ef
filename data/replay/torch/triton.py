# ---------------------------------------------------------------- Triton kernels of torch.compile

def hashed(name):
    """What stands for a name that is not told: see --no-kernel-names of tracelens."""
    number = 14695981039346656037
    for byte in name.encode():
        number = (number ^ byte) * 1099511628211 % 2**64
    return f"{number:016x}"


class TritonCall:
    """A kernel that torch.compile made, from the source file that the trace names."""

    def __init__(self, record, options):
        if not options.triton_source:
            raise Skip(f"a Triton kernel: give the folder of {record['source']} with --triton-source")
        path = next((os.path.join(folder, name) for folder, _, files in os.walk(options.triton_source)
                     for name in files if record["source"] in (name, hashed(name) + ".py")), None)
        if path is None:
            raise Skip(f"{record['source']} is not below {options.triton_source}")
        from torch._inductor.codecache import PyCodeCache
        module = PyCodeCache.load_by_key_path(os.path.basename(path)[:-len(".py")], path)
        self.kernel = next((getattr(module, name) for name in dir(module)
                            if record["op"] in (name, "triton_" + hashed(name))), None)
        self.kernel = self.kernel or getattr(module, "triton_")
        self.notes, self.overload = [], record["source"]
        self.arguments = []
        for text, dims, strides, concrete in zip(record["Input type"], record["Input Dims"],
                                                 record["Input Strides"], record["Concrete Inputs"]):
            if text in DTYPES:
                self.arguments.append(make_tensor(dims, strides, dtype_of(text), options.device))
            elif concrete != "":
                self.arguments.append(to_number(str(concrete)))

    def __call__(self):
        # Asked for each time: a graph is captured on a stream of its own.
        return self.kernel.run(*self.arguments, stream=torch.cuda.current_stream().cuda_stream)

    def tensors(self):
        return (each for each in self.arguments if torch.is_tensor(each))


def is_backward(record):
    return record.get("forward") is not None and "::" not in record["op"]


def make_call(record, options):
    if record.get("source"):
        return TritonCall(record, options)
    if record["op"].endswith("::AccumulateGrad"):
        return AccumulateCall(record, options)
    if is_backward(record):
        return BackwardCall(record, options)
    return build(record, options)
