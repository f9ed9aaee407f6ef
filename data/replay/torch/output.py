# ---------------------------------------------------------------- output

def shapes_text(record):
    parts = []
    for text, dims in zip(record["Input type"], record["Input Dims"]):
        if text == "TensorList":
            parts.append(f"[{len(dims)} tensors]")
        elif text in DTYPES:
            parts.append(f"{DTYPES[text]}[{','.join(map(str, dims))}]")
    return " ".join(parts)


def show(record, result):
    print_result(record, result, shapes_text(record))
    ours, theirs = result.get("kernels"), record.get("trace", {}).get("kernels")
    if ours and theirs and ours[0] != theirs[0]:
        say(f"      another kernel: {ours[0][:90]}")
        say(f"      recorded:       {theirs[0][:90]}")
    for variant in result.get("variants", []):
        if "error" in variant:
            say(f"      {variant['variant']}: {variant['error']}")
        else:
            verdict = "pays" if variant["speedup"] > 1.05 else "does not pay"
            say(f"      {variant['variant']}: {variant['median_us']:.2f} us, "
                f"x {variant['speedup']:.2f} ({verdict})")


def list_records(records, options):
    for record in records:
        try:
            if is_backward(record):
                what = f"backward of {resolve(record['forward'], options)[0]}"
            elif record["op"].endswith("::AccumulateGrad"):
                what = "a node of autograd"
            else:
                what = record.get("source") or str(resolve(record, options)[0])
        except Skip as skip:
            what = f"skipped: {skip}"
        say(f"{record['id']:>4}  {record['op']}  {shapes_text(record)}  {record['count']} calls  "
            f"recorded {recorded_us(record):.2f} us  {what}")


def name_and_value(text):
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError("NAME=VALUE is expected")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def parse_arguments():
    parser = argument_parser("Runs recorded operators again, with random inputs.", "cuda")
    parser.add_argument("--int-max", type=int, default=1, metavar="K",
                        help="integer inputs without a known meaning are drawn from [0, K)")
    parser.add_argument("--list-dtype", default="bfloat16", metavar="TYPE",
                        help="type of tensors in lists, which traces do not record")
    parser.add_argument("--import", dest="imports", nargs="+", default=[], metavar="MODULE",
                        help="import first: registers custom operators")
    parser.add_argument("--arg", type=name_and_value, action="append", default=[], metavar="NAME=VALUE",
                        help="an argument that traces do not record (strings)")
    parser.add_argument("--triton-source", metavar="FOLDER", help="where torch.compile left its kernels")
    parser.add_argument("--graph", action="store_true", help="as a device graph: no launch overhead")
    parser.add_argument("--flush-cache", action="store_true", help="nothing left in the L2 cache")
    parser.add_argument("--tune", action="store_true", help="also time variants of GEMMs, attention, "
                                                            "convolutions")
    options = parser.parse_args()
    options.arg = dict(options.arg)
    return options


def run_sequences(options):
    results = []
    for sequence in DATA.get("sequences", []):
        try:
            result = run_sequence(sequence, options)
        except Exception as error:  # the results of single ops are worth keeping
            say(f"{sequence['name']}: failed: {first_line(error)}")
            continue
        results.append(result)
        recorded = result["recorded_us"]
        say(f"{result['name']}: {result['ops']} ops in order: {result['median_us']:.2f} us" +
            (f", recorded kernels {recorded:.2f} us" if recorded else ""))
    return results


def main():
    options = parse_arguments()
    if torch is None:
        say("replay: PyTorch is needed: pip install torch", sys.stderr)
        return 3
    options.device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if options.device == "cuda" and not torch.cuda.is_available():
        say("replay: no GPU here; use --device cpu", sys.stderr)
        return 2
    take_fresh_memory()
    for module in options.imports:
        __import__(module)

    def run(record):
        return run_record(record, options)

    if options.worker:
        return work(DATA["records"], run)
    records = chosen(DATA["records"], options)
    if options.list:
        list_records(records, options)
        return 0
    say(f"seed {options.seed}, device {options.device}, PyTorch {torch.__version__}")
    results = run_all(records, run, show, options, in_child=options.device == "cuda")
    is_whole = len(records) == len(DATA["records"])
    sequences = run_sequences(options) if is_whole else []
    device = torch.cuda.get_device_name(0) if options.device == "cuda" else "cpu"
    about = {"torch": torch.__version__, "device": device, "seed": options.seed}
    return finish(records, results, sequences, about, options)


if __name__ == "__main__":
    sys.exit(main())
