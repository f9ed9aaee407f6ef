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
