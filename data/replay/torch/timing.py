# ---------------------------------------------------------------- timing

def synchronize(options):
    if options.device == "cuda":
        torch.cuda.synchronize()


class Stopwatch:
    """Time between two points of the device's queue, in microseconds."""

    def __init__(self, options):
        self.on_gpu = options.device == "cuda"

    def measure(self, work):
        if not self.on_gpu:
            start = time.perf_counter()
            work()
            return (time.perf_counter() - start) * 1e6
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e3


def flush_buffer(options):
    size = 2 * 2**26
    if options.device == "cuda":
        size = 2 * getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 2**26)
    return torch.zeros(size // 4, dtype=torch.int32, device=options.device)


def flush(buffer):
    """Reads the buffer: what it leaves in the cache need not be written back during the next op."""
    buffer.max()


def captured(call, times, notes):
    """The calls as one graph, so that launching them does not count."""
    try:
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            for _ in range(times):
                call()
        return graph.replay
    except RuntimeError as error:
        torch.cuda.synchronize()
        notes.append(f"no graph: {first_line(error)}")
        return None


def timed(call, options, notes):
    """Microseconds per call: median, least, mean, standard deviation, rounds, calls in a round."""
    watch = Stopwatch(options)
    began, calls = time.perf_counter(), 0
    while calls < 50 and time.perf_counter() - began < 0.2:
        call()
        calls += 1
    synchronize(options)
    if options.flush_cache:
        buffer = flush_buffer(options)
        samples = []
        for _ in range(options.rounds):
            flush(buffer)
            samples.append(watch.measure(call))
        return summary(samples, 1)
    once = max(watch.measure(repeat(call, 5)) / 5, 0.1)
    times = min(max(int(1000 / once) + 1, 1), 1000)
    work = captured(call, times, notes) if options.graph and options.device == "cuda" else None
    work = work or repeat(call, times)
    work()
    synchronize(options)
    return summary([watch.measure(work) / times for _ in range(options.rounds)], times)


def profiled(call, record, options):
    """The kernels of one call, longest first, and their time in microseconds (medians over calls). What the
    cache held is not recorded: where a cold one does not explain the recorded time, one with the inputs and
    one that must be written back first are tried. The nearest is taken, and all are told."""
    buffer, recorded = flush_buffer(options), recorded_us(record)
    found, kernels = {}, []
    for cache, before in (("cold", lambda: flush(buffer)), ("warm", lambda: None),
                          ("written", lambda: buffer.add_(1))):
        names, found[cache] = kernels_of_calls(call, before)
        kernels = kernels or names
        if not recorded or not names or abs(found[cache] - recorded) < 0.1 * recorded:
            break
    nearest = min(found, key=lambda cache: abs(found[cache] - recorded))
    return {"kernels": kernels, "kernel_us": found[nearest], "cache": nearest, "kernel_us_by_cache": found}


def kernels_of_calls(call, before):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for _ in range(7):
            before()
            with torch.profiler.record_function("replayed"):
                call()
        torch.cuda.synchronize()
    return kernels_by_call(profiler.events())


# Calls of the runtime have numbers of their own, which may be those of ops: their kernels are others'.
RUNTIME_CALL = re.compile(r"(cuda|cu|hip)[A-Z]")


def kernels_by_call(events):
    spans = sorted((event.time_range.start, event.time_range.end) for event in events
                   if event.name == "replayed" and "CPU" in str(event.device_type))
    by_call = [{} for _ in spans]
    for event in events:
        for kernel in [] if RUNTIME_CALL.match(event.name) else getattr(event, "kernels", []):
            at = next((i for i, (start, end) in enumerate(spans)
                       if start <= event.time_range.start <= end), None)
            if at is not None:
                by_call[at][kernel.name] = by_call[at].get(kernel.name, 0.0) + kernel.duration
    if not by_call:
        return [], 0.0
    names = {name for kernels in by_call for name in kernels}
    medians = {name: statistics.median(kernels.get(name, 0.0) for kernels in by_call) for name in names}
    return (sorted(medians, key=lambda name: -medians[name]),
            statistics.median(sum(kernels.values()) for kernels in by_call))
