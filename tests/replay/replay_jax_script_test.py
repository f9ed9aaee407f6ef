#!/usr/bin/env python3
"""replay_jax_script_test.py --tracelens PROGRAM: what the script makes of recorded HLO.

Scripts are generated from profiles of ours and run against a stub of JAX that works out shapes: each
instruction must give the shape and type that the profile has for it.
"""

import argparse
import json
import subprocess
import unittest

import generated
from generated import DATA, ScriptTest, loaded, template

import jax  # noqa: E402  the stub

replay = template("jax")
OPTIONS = argparse.Namespace(device="cpu", seed=0, rounds=1, kernels=False, verbose=True, max_gib=0)


def run(body, parameters=(), calls=()):
    """The value of the last instruction, whose operands are the parameters."""
    parameters = [{"op": "parameter", "index": i, "shape": each} for i, each in enumerate(parameters)]
    main = {"in": list(range(len(parameters))), **body}
    record = {"id": 0, "op": main["op"], "count": 1,
              "hlo": {"computations": [{"root": len(parameters), "body": [*parameters, main]}, *calls]}}
    jax.calls.clear()
    return replay.make_call(record, OPTIONS)()


def checked(rule):
    """The rule of an instruction, whose result must have the shape and type that the profile says."""
    def run(self, instruction, inputs, arguments):
        def check(shape, each):
            assert list(each.shape) == shape.dims and each.dtype == shape.dtype, (
                instruction, each.shape, each.dtype)

        value = rule(self, instruction, inputs, arguments)
        if instruction["op"] not in ("custom-call", "async-start", "async-done"):
            replay.mapped(instruction["shape"], check, value)
        return value
    return run


class Rules(unittest.TestCase):
    def test_layouts_are_orders_of_memory(self):
        made = run({"op": "negate", "shape": "bf16[8,4]{0,1}"}, ["bf16[8,4]{0,1}"])
        self.assertEqual(made.shape, (4, 8))
        self.assertIn(("transpose", [1, 0]), jax.calls)

    def test_a_copy_is_no_view(self):
        self.assertEqual(run({"op": "copy", "shape": "f32[8]{0}"}, ["f32[8]{0}"]).about, {"fill": "copy"})

    def test_bitcast_goes_through_memory(self):
        made = run({"op": "bitcast", "shape": "f32[16,2]{1,0}"}, ["f32[8,4]{0,1}"])
        self.assertEqual(made.shape, (16, 2))

    def test_products(self):
        made = run({"op": "dot", "shape": "f32[3,8,16]{2,1,0}", "dot": [[2], [1], [0], [0]]},
                   ["bf16[3,8,4]{2,1,0}", "bf16[3,4,16]{2,1,0}"])
        self.assertEqual((made.shape, made.dtype), ((3, 8, 16), "float32"))

    def test_library_products_without_work_space(self):
        made = run({"op": "custom-call", "target": "__cublas$lt$matmul", "epilogue": "BIAS", "scale": 0.5,
                    "beta": 1, "shape": "(f32[8,16]{1,0}, s8[33554432]{0})", "dot": [[1], [0], [], []]},
                   ["f32[8,4]{1,0}", "f32[4,16]{1,0}", "f32[8,16]{1,0}", "f32[16]{0}"])
        self.assertEqual(made.shape, (8, 16))

    def test_gather_with_indices_in_range(self):
        body = {"op": "gather", "shape": "f32[7,5]{1,0}", "sizes": [1, 5],
                "indexing": {"offset": [1], "collapsed": [0], "map": [0], "operand batch": [],
                             "indices batch": [], "vector": 1}}
        made = run(body, ["f32[100,5]{1,0}", "s32[7]{0}"])
        self.assertEqual(made.shape, (7, 5))
        parameters = [{"op": "parameter", "shape": "f32[100,5]{1,0}"}]
        program = replay.Program({"computations": [{"root": 0, "body": [*parameters, {**body, "in": [0]}]}]},
                                 OPTIONS)
        self.assertEqual(replay.index_limit(program), 100)

    def test_an_update_in_place_gives_its_input_away(self):
        inside = [{"op": "parameter", "index": 0, "shape": "f32[8,4]{1,0}"},
                  {"op": "parameter", "index": 1, "shape": "f32[1,4]{1,0}"},
                  {"op": "parameter", "index": 2, "shape": "s32[]"},
                  {"op": "dynamic-update-slice", "shape": "f32[8,4]{1,0}", "in": [0, 1, 2, 2]}]
        run({"op": "fusion", "shape": "f32[8,4]{1,0}", "calls": [1]},
            ["f32[8,4]{1,0}", "f32[1,4]{1,0}", "s32[]"], [{"root": 3, "body": inside}])
        self.assertIn(("jit", (0,)), jax.calls)

    def test_reasons_to_skip(self):
        for body, words in (({"op": "all-reduce"}, "collective"), ({"op": "while"}, "no rule"),
                            ({"op": "custom-call", "target": "mine"}, "'mine'"),
                            ({"op": "custom-call", "target": "__cudnn$fmhaSoftmax", "scale": 1,
                              "dropout": 0.1, "mask": "CAUSAL"}, "dropout")):
            with self.assertRaisesRegex(replay.Skip, words):
                run({"shape": "f32[8]{0}", **body}, ["f32[8]{0}"])
        with self.assertRaisesRegex(replay.Skip, "too large"):
            replay.make_call({"hlo": {"computations": [], "problem": "too large"}}, OPTIONS)
        with self.assertRaisesRegex(replay.Skip, "operand"):
            run({"op": "negate", "shape": "f32[8]{0}", "in": [-1]}, ["f32[8]{0}"])

    def test_constants(self):
        for text, kind, value in (("-inf", "f32", float("-inf")), ("true", "pred", True),
                                  ("18446744073709551615", "u64", 2**64 - 1)):
            made = replay.scalar(text, replay.Shape(f"{kind}[]"))
            self.assertEqual(made.about["value"], value)

    def test_kernels_of_the_replayed_function_alone(self):
        class Named:
            def __init__(self, name, **about):
                self.name = name
                self.__dict__.update(about)

        def event(name, us, module):
            return Named(name, duration_ns=1000 * us, stats=[("hlo_module", module), (None, 1)])

        stream = Named("Stream #13", events=[event("a", 2, "jit_replayed"), event("a", 4, "jit_replayed"),
                                             event("max", 9, "jit__lambda")])
        modules = Named("XLA Modules", events=[event("jit_replayed", 7, "jit_replayed")])
        planes = [Named("/device:GPU:0", lines=[stream, modules]), Named("/host:CPU", lines=[stream])]
        self.assertEqual(replay.kernels_of(Named("", planes=planes)), {"a": [2, 4]})

    def test_tuples_within_tuples(self):
        self.assertEqual(replay.parts_of("((f32[2,3]{1,0}, s32[]), u8[0]{0})"),
                         ["(f32[2,3]{1,0}, s32[])", "u8[0]{0}"])


def profile_of(name):
    return f"jax_{name}.xplane.pb.gz"


class Profiles(ScriptTest):
    def test_every_instruction_gives_the_shape_it_has(self):
        kinds = set()
        for profile in ("gemm", "conv", "fp8", "attention", "scan", "scan_eager", "shard_map",
                        "transformer_xla"):
            script = loaded(self.generate(profile_of(profile), "--all-unique"))
            script.Program.run = checked(script.Program.run)
            for record in script.DATA["records"]:
                with self.subTest(profile=profile, op=record["op"], id=record["id"]):
                    script.make_call(record, OPTIONS)()
                    kinds.add(record["op"])
        for kind in ("fusion(dot)", "fusion(reduce)", "__cublas$lt$matmul", "__cublas$lt$matmul$f8",
                     "__cudnn$convBackwardFilter", "__cudnn$fmhaSoftmaxBackward", "copy"):
            self.assertIn(kind, kinds)


class Script(ScriptTest):
    def test_runs_and_its_results_are_verified(self):
        self.generate(profile_of("conv"))
        results = self.path.with_suffix(".json")
        ran = self.run_script("--rounds", "1", "--json", results, "--csv", results.with_suffix(".csv"))
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("8 attempted, 8 ran", ran.stdout)
        self.assertEqual(len(json.loads(results.read_text())["results"]), 8)
        self.assertEqual(len(results.with_suffix(".csv").read_text().splitlines()), 9)
        verified = subprocess.run([generated.PROGRAM, "replay", DATA / profile_of("conv"), "--verify",
                                   results], capture_output=True, text=True)
        self.assertEqual(verified.returncode, 0, verified.stderr)
        self.assertIn("8 of 8 ops ran", verified.stdout)

    def test_lists_without_running(self):
        self.generate(profile_of("fp8"))
        ran = self.run_script("--list")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("__cublas$lt$matmul$f8  f8e4m3fn[", ran.stdout)

    def test_wrong_usage(self):
        self.generate(profile_of("fp8"))
        self.check_usage("gpu")

    def test_hostile_names_are_printed_escaped(self):
        self.generate(profile_of("fp8"))
        self.rewrite_records(lambda each: each.update(op=generated.HOSTILE))
        for arguments in (["--list"], ["--rounds", "1"]):
            self.check_hostile(self.run_script(*arguments))

    def test_says_so_without_jax(self):
        self.generate(profile_of("fp8"))
        self.check_without("jax", "JAX")


if __name__ == "__main__":
    generated.main()
