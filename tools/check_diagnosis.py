#!/usr/bin/env python3
"""Holds the findings of `tracelens diagnose` against runs whose cause was really mended.

    tools/check_diagnosis.py build/check/apps/tracelens/tracelens ../shared/traces/diagnosis

The folder has pairs NAME.bad.json.gz and NAME.mended.json.gz, and truth.json with the step times of
both, measured without a profiler, and the saving. The findings that tell the cause of each pair stand
in expected.json of the folder, in truth.json ("rules"), or in diagnosis_expected.json beside this
script; a pair with none is a healthy one. One line per pair: the place of the finding, its saving estimated from the bad trace
alone against the measured one, the predicted step time after it against the mended one, and what the
finding is worth in the mended trace. Exit status 1 when fewer pairs than asked for reach a bar.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

from clean_environment import clean_environment


def diagnose(program, trace, more):
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "findings.json"
        run = subprocess.run([program, "diagnose", str(trace), "-o", str(output), "--quiet", *more],
                             capture_output=True, text=True)
        if run.returncode != 0:
            raise SystemExit(f"{trace.name}: status {run.returncode}: {run.stderr.strip()}")
        return json.loads(output.read_text())


def place_of(found, expected):
    """The place of the first expected finding, from 1 on, and the finding."""
    for place, finding in enumerate(found["findings"], 1):
        if finding["id"] in expected:
            return place, finding
    return None, None


def share_of(finding, found, which="mid"):
    whole = found["window"]["length_corrected_ms"]
    return finding["saving_alone_ms"][which] / whole if finding and whole else 0.0


def main():
    clean_environment()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", help="these pairs")
    parser.add_argument("--first-two", type=int, default=0, help="pairs whose cause must be first or second")
    parser.add_argument("--within", type=int, default=0, help="pairs whose estimate must be within the factor")
    parser.add_argument("--factor", type=float, default=1.5)
    parser.add_argument("--gone", type=int, default=0, help="pairs whose cause must be gone when mended")
    parser.add_argument("--predicted", type=int, default=0, help="pairs whose mended step must be within 20 %%")
    parser.add_argument("--healthy-below", type=float, default=10, help="percent that no finding of a healthy run saves")
    parser.add_argument("--jobs", type=int, default=2)
    args, more = parser.parse_known_args()

    truth = json.loads((args.folder / "truth.json").read_text())
    expected = json.loads(pathlib.Path(__file__).with_name("diagnosis_expected.json").read_text())
    expected.update((name, pair["rules"]) for name, pair in truth.items() if "rules" in pair)
    if (args.folder / "expected.json").exists():
        expected.update(json.loads((args.folder / "expected.json").read_text()))
    pairs = [name for name in sorted(truth) if not args.only or name in args.only]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        sides = {(name, side): pool.submit(diagnose, args.program, args.folder / f"{name}.{side}.json.gz", more)
                 for name in pairs for side in ("bad", "mended")}
    head = (f"{'pair':20} {'measured':>8}  {'place':>5} {'finding':9} {'estimated':>9} {'low..high':>13} {'ratio':>6}"
            f" {'step':>7} {'mended':>7}  {'in mended':10} first findings")
    print(head)
    first_two = within = gone = predicted = ill = healthy = causes = 0
    for name in pairs:
        bad, mended = sides[name, "bad"].result(), sides[name, "mended"].result()
        wanted = expected.get(name, [])
        top = ", ".join(f"{f['id']} {f['saving_pct']:.1f}" for f in bad["findings"][:4]) or "none"
        if not wanted:
            healthy += 1
            worst = max([f["saving_pct"] for run in (bad, mended) for f in run["findings"]], default=0.0)
            ill += worst > args.healthy_below
            print(f"{name:20} {100 * truth[name]['saving_share']:7.1f}%  {'-':>5} {'healthy':9} {worst:8.1f}%"
                  f" {'':13} {'':6} {'':7} {'':7}  {'':10} {top}")
            continue
        causes += 1
        place, finding = place_of(bad, wanted)
        measured, estimated = truth[name]["saving_share"], share_of(finding, bad)
        ratio = estimated / measured
        step = truth[name]["bad_step_ms"] * (1 - estimated)
        left_place, left = place_of(mended, wanted)
        first_two += place is not None and place <= 2
        within += 1 / args.factor <= ratio <= args.factor
        gone += left is None or left["saving_pct"] < 5
        predicted += abs(step / truth[name]["mended_step_ms"] - 1) <= 0.2
        spread = f"{100 * share_of(finding, bad, 'low'):.0f}..{100 * share_of(finding, bad, 'high'):.0f}%"
        print(f"{name:20} {100 * measured:7.1f}%  {place or '-':>5} {finding['id'] if finding else '/'.join(wanted):9}"
              f" {100 * estimated:8.1f}% {spread:>13} {ratio:6.2f} {step:7.2f} {truth[name]['mended_step_ms']:7.2f}"
              f"  {'gone' if left is None else format(left['saving_pct'], '.1f') + '%':10} {top}")
    print(f"{causes} causes: {first_two} first or second, {within} within a factor {args.factor}, {gone} gone when"
          f" mended, {predicted} steps predicted within 20 %; {healthy} healthy, {ill} of them called ill")
    bars = (first_two >= args.first_two, within >= args.within, gone >= args.gone,
            predicted >= args.predicted, ill == 0)
    sys.exit(0 if all(bars) else 1)


if __name__ == "__main__":
    main()
