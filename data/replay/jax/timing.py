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
