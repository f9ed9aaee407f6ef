# ---------------------------------------------------------------- running

def run_record(record, options):
    def run(result):
        seed(options)
        with torch.no_grad():
            call = make_call(record, options)
            result["overload"] = str(call.overload)
            call_first(call, options)
            synchronize(options)
            result.update(timed(call, options, call.notes))
            if options.device == "cuda" and options.kernels:
                result.update(profiled(call, record, options))
            if options.tune:
                result["variants"] = tuned(record, call, result, options)
        result["notes"] = call.notes

    return outcome(record, run, options.verbose)


def call_first(call, options):
    """The call that shows whether this GPU and this PyTorch have what the recorded ones had."""
    try:
        call()
    except RuntimeError as error:
        if "No available kernel" in str(error) and getattr(call, "around", None):
            call.around.pop()  # the last one: see surroundings
            call.notes.append("its back-end of attention does not take this here: left to PyTorch")
            call()
        elif isinstance(error, NotImplementedError) or "only supports head dimension" in str(error):
            raise Skip(f"not for {options.device} in this PyTorch: {first_line(error)}") from None
        else:
            raise


def take_fresh_memory():
    """Large blocks on the host come from the system each time: those that were used before are faster."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes
        ctypes.CDLL(None).mallopt(-3, 128 * 1024)  # M_MMAP_THRESHOLD
    except (ImportError, OSError, AttributeError):  # another C library
        pass


def seed(options):
    random.seed(options.seed)
    torch.manual_seed(options.seed)


# ---------------------------------------------------------------- sequences

def run_sequence(sequence, options):
    """All ops of a subtree in order: launching and caches as in the workload, not op by op."""
    by_id = {record["id"]: record for record in DATA["records"]}
    calls, left_out = {}, {}
    with torch.no_grad():
        for number in dict.fromkeys(sequence["ids"]):
            try:
                seed(options)
                calls[number] = make_call(by_id[number], options)
                calls[number]()
            except Exception as error:
                left_out[by_id[number]["op"]] = first_line(error)
        synchronize(options)
        ready = [calls[number] for number in sequence["ids"] if number in calls]

        def everything():
            for call in ready:
                call()

        notes = []
        result = timed(everything, options, notes)
    result.update(name=sequence["name"], ops=len(ready), notes=notes, left_out=left_out,
                  recorded_us=sequence.get("kernel_time_us"))
    return result
