#!/usr/bin/env python3
"""replay_script_test.py --tracelens PROGRAM: what the generated script makes of recorded arguments.

A script is generated from a trace of ours and from records written here, and run against a stub of
PyTorch: overloads, values and statuses are those PyTorch would be called with.
"""

import argparse
import json
import sys
import types
import unittest
from unittest import mock

import generated
from generated import ROOT, ScriptTest, template

import common  # noqa: E402
import torch  # noqa: E402  the stub

replay = template("torch")


def options(**changes):
    values = dict(device="cpu", arg={}, int_max=1, list_dtype="bfloat16", max_gib=1, seed=0, rounds=1,
                  flush_cache=False, graph=False, kernels=False, tune=False, verbose=False,
                  triton_source=None)
    return argparse.Namespace(**{**values, **changes})


def record(op, types, dims, concrete=None, strides=None, **more):
    return {"id": 0, "uid": 5, "op": op, "count": 1, "Input type": types, "Input Dims": dims,
            "Input Strides": strides or [], "Concrete Inputs": concrete or [""] * len(types), **more}


class Resolution(unittest.TestCase):
    def call(self, entry, **changes):
        """(overload, positional, keywords) that the record's op is called with."""
        torch.calls.clear()
        result = replay.run_record(entry, options(**changes))
        self.assertEqual(result["status"], "ok", result)
        return torch.calls[-1]

    def skipped(self, entry, **changes):
        result = replay.run_record(entry, options(**changes))
        self.assertEqual(result["status"], "skipped", result)
        return result["reason"]

    def test_matrices_with_any_strides(self):
        name, (a, b), _ = self.call(record("aten::mm", ["c10::BFloat16"] * 2, [[4, 8], [8, 16]],
                                           strides=[[8, 1], [1, 8]]))
        self.assertEqual(name, "aten::mm.default")
        self.assertEqual((a.shape, a.strides, a.dtype), ((4, 8), (8, 1), torch.bfloat16))
        self.assertEqual(b.strides, (1, 8))

    def test_missing_strides_are_contiguous(self):
        _, (a, _), _ = self.call(record("aten::mm", ["float"] * 2, [[4, 8], [8, 16]]))
        self.assertEqual(a.strides, (8, 1))

    def test_whole_scalars_stay_whole(self):
        name, positional, keywords = self.call(
            record("aten::add", ["long int", "long int", "Scalar"], [[3], [3], []], ["", "", "1"]))
        self.assertEqual(name, "aten::add.Tensor")
        self.assertEqual(keywords, {"alpha": 1})
        self.assertIs(type(keywords["alpha"]), int)

    def test_scalar_overload(self):
        name, positional, _ = self.call(
            record("aten::add", ["float", "Scalar", "Scalar"], [[3], [], []], ["", "2.5", "1"]))
        self.assertEqual(name, "aten::add.Scalar")
        self.assertEqual(positional[1:], (2.5, 1))

    def test_lists_with_overlapping_entries(self):
        _, (tensors, dim), _ = self.call(
            record("aten::cat", ["TensorList", "Scalar"], [[[4, 1, 768], [4, 196, 768]], []], ["", "1"],
                   [[[0, 768, 1], [150528, 1, 196]], []]))
        self.assertEqual(dim, 1)
        self.assertEqual(tensors[0].strides, (0, 768, 1))
        self.assertEqual(tensors[0].dtype, torch.bfloat16)  # not recorded

    def test_type_of_listed_tensors_by_hint(self):
        _, (tensors, _), _ = self.call(
            record("aten::cat", ["TensorList", "Scalar"], [[[4], [4]], []], ["", "0"],
                   **{"list type": "float"}))
        self.assertEqual(tensors[0].dtype, torch.float32)

    def test_indices_stay_in_range(self):
        _, (_, indices, *_), _ = self.call(
            record("aten::embedding", ["float", "long int", "Scalar", "Scalar", "Scalar"],
                   [[100, 8], [4, 7], [], [], []], ["", "", "-1", "False", "False"]))
        self.assertEqual((indices.fill, indices.high), ("range", 100))
        _, (_, _, index), _ = self.call(
            record("aten::index_select", ["float", "Scalar", "long int"], [[5, 9], [], [4]],
                   ["", "1", ""]))
        self.assertEqual(index.high, 9)

    def test_offsets_divide_the_rows(self):
        _, (_, _, offsets), _ = self.call(
            record("aten::_grouped_mm", ["c10::BFloat16", "c10::BFloat16", "int"],
                   [[100, 8], [4, 8, 16], [4]]))
        self.assertEqual(offsets.fill, [25, 50, 75, 100])

    def test_experts_are_shared_evenly(self):
        _, (_, _, _, _, ids), _ = self.call(
            record("engine::moe", ["c10::BFloat16"] * 3 + ["float", "int"],
                   [[64, 32], [8, 128, 32], [8, 32, 64], [64, 2], [64, 2]]))
        self.assertEqual((ids.fill, ids.high, ids.shape), ("cycle", 8, (64, 2)))
        _, (_, _, _, tokens, blocks, total), _ = self.call(
            record("engine::moe_gemm", ["c10::BFloat16"] * 2 + ["int"] * 4,
                   [[64, 32], [8, 128, 32], [64, 2], [256], [16], [1]]))
        self.assertEqual((tokens.fill, tokens.high), ("upto", 128))
        self.assertEqual((blocks.fill, blocks.high), ("spread", 8))
        self.assertEqual((total.fill, total.high), ("all", 256))

    def test_paged_caches_are_pointed_into(self):
        _, (_, _, _, table, lengths, offsets, slots, _), _ = self.call(
            record("engine::attention", ["c10::BFloat16"] * 3 + ["int", "int", "int", "long int", "Scalar"],
                   [[12, 8, 64], [100, 16, 2, 64], [100, 16, 2, 64], [4, 10], [4], [5], [12], []],
                   [""] * 7 + ["150"]))
        self.assertEqual((table.fill, table.high), ("cycle", 100))
        self.assertEqual((lengths.fill, lengths.high), ("all", 150))
        self.assertEqual(offsets.fill, [0, 3, 6, 9, 12])
        self.assertEqual((slots.fill, slots.high), ("cycle", 1600))

    def test_tensors_are_made_where_a_kernel_filled_them(self):
        def device(**more):
            _, _, keywords = self.call(
                record("aten::zeros", ["ScalarList", "Scalar", "", "", "Scalar"], [[]] * 5,
                       ["[4, 4]", "6", "", "", more.pop("pinned", "False")], **more), device="gpu")
            return keywords["device"]

        self.assertEqual(device(trace={"launches": 1}), "gpu")
        self.assertIsNone(device(trace={"launches": 0}))
        self.assertIsNone(device(trace={"launches": 1}, pinned="True"))

    def test_masks_pick_as_many_as_there_are_values(self):
        _, (_, (mask,), *_), _ = self.call(
            record("aten::index_put_", ["float", "TensorList", "float", "Scalar"],
                   [[4, 6, 8], [[4, 6]], [5, 8], []], ["", "", "", "False"]))
        self.assertEqual((mask.dtype, mask.high, mask.shape), (torch.bool, 5, (4, 6)))
        _, (_, (index,), *_), _ = self.call(
            record("aten::index_put_", ["float", "TensorList", "float", "Scalar"],
                   [[4, 6], [[3]], [3, 6], []], ["", "", "", "False"]))
        self.assertEqual((index.dtype, index.high), (torch.int64, 4))

    def test_shapes_changed_in_place_come_back(self):
        _, (tensor, _), _ = self.call(record("aten::unsqueeze_", ["float", "Scalar"], [[4], []], ["", "0"]))
        self.assertEqual(tensor.fill, "view")

    def test_nothing_is_divided_by_zero(self):
        _, (_, other), _ = self.call(record("aten::floor_divide", ["long int"] * 2, [[4], [4]]))
        self.assertEqual((other.fill, other.high), ("all", 1))

    def test_regions_are_of_the_first_image(self):
        _, (_, rois, *_), _ = self.call(
            record("torchvision::roi_align", ["float", "float"] + ["Scalar"] * 5,
                   [[2, 3, 32, 32], [7, 5], [], [], [], [], []], ["", "", "1.0", "7", "7", "2", "True"]))
        self.assertEqual((rois.fill, rois.shape), ("cat", (7, 5)))

    def test_attention_takes_the_recorded_back_end(self):
        entry = record("aten::scaled_dot_product_attention", ["c10::BFloat16"] * 3, [[1, 2, 8, 4]] * 3,
                       attention="math")
        self.call(entry)
        self.assertIn(("sdpa_kernel", ["math"], {}), torch.calls)
        result = replay.run_record({**entry, "attention": "cudnn"}, options())
        self.assertIn("cannot be chosen", result["notes"][0])  # the stub has none

    def test_attention_may_need_another_back_end_here(self):
        entry = record("aten::scaled_dot_product_attention", ["c10::BFloat16"] * 3, [[1, 2, 8, 512]] * 3,
                       attention="flash")
        result = replay.run_record(entry, options())
        self.assertEqual((result["status"], "left to PyTorch" in result["notes"][-1]), ("ok", True), result)

    def backward(self, op, dims, forward, **more):
        return record(op, ["float"], [dims], forward=forward, strides=[[0] * len(dims)], **more)

    def test_backward_is_the_node_with_the_recorded_gradient(self):
        forward = record("aten::addmm", ["float"] * 3, [[16], [4, 8], [8, 16]])
        name, (gradient,), _ = self.call(self.backward("AddmmBackward0", [4, 16], forward))
        self.assertEqual((name, gradient.strides), ("AddmmBackward0", (0, 0)))
        self.assertIn("leads to AddmmBackward0",
                      self.skipped(self.backward("MmBackward0", [4, 16], forward)))

    def test_backward_of_what_changes_its_input(self):
        forward = record("aten::clamp_", ["float", "Scalar", "Scalar"], [[4], [], []], ["", "0", "1"])
        self.assertEqual(self.call(self.backward("ClampBackward0", [4], forward))[0], "ClampBackward0")

    def test_backward_without_what_has_no_derivative(self):
        forward = record("aten::native_batch_norm", ["float"] * 5 + ["Scalar"] * 3,
                         [[2, 3, 4, 4]] + [[3]] * 4 + [[]] * 3, [""] * 5 + ["True", "0.1", "1e-5"])
        self.assertEqual(self.call(self.backward("NativeBatchNormBackward0", [2, 3, 4, 4], forward))[0],
                         "NativeBatchNormBackward0")

    def test_backward_makes_the_recorded_gradients(self):
        forward = record("aten::addmm", ["float"] * 3, [[16], [4, 8], [8, 16]])

        def products(**recorded):
            self.call(self.backward("AddmmBackward0", [4, 16], forward, **recorded))
            nodes = [i for i, (name, _, _) in enumerate(torch.calls) if name == "AddmmBackward0"]
            return [name for name, _, _ in torch.calls[nodes[-2] + 1:nodes[-1]]]

        self.assertEqual(products(below={"aten::mm": 2, "aten::t": 4}), ["aten::mm"] * 2)
        self.assertEqual(products(below={"aten::mm": 1, "aten::t": 2}), ["aten::mm"])
        self.assertEqual(products(trace={"launches": 2}), ["aten::mm"] * 2)

    def test_kernels_tell_gradients_only_where_ops_do_not(self):
        entry = {"below": {"aten::mm": 2}, "trace": {"launches": 2, "kernels": ["a", "b"]}}
        whole = ({"aten::mm": 2, "aten::conj": 4}, ["a", "b"])
        self.assertEqual(replay.unlike(whole, entry), (0, False))
        with_split = ({"aten::mm": 2}, ["a", "b", "reduce"])
        self.assertLess(replay.unlike(with_split, entry), replay.unlike(({"aten::mm": 1}, ["a", "r"]), entry))
        self.assertEqual(replay.unlike(({"aten::mm": 2}, ["other vendor's", "b"]), entry), (0, True))

    def test_gradients_are_accumulated(self):
        entry = record("torch::autograd::AccumulateGrad", ["float"], [[4, 8]], below={"aten::add_": 1})
        name, (gradient,), _ = self.call(entry)
        self.assertEqual((name, gradient.shape), ("torch::autograd::AccumulateGrad", (4, 8)))
        self.assertTrue(replay.AccumulateCall(entry, options()).adds)
        self.assertFalse(replay.AccumulateCall({**entry, "below": {"aten::clone": 1}}, options()).adds)

    def test_the_memory_is_as_large_as_a_view_needs(self):
        _, (tensor, *_), _ = self.call(
            record("aten::as_strided", ["float", "ScalarList", "ScalarList", "Scalar"], [[4, 8], [], [], []],
                   ["", "[4, 7]", "[8, 1]", "100"]))
        self.assertEqual((tensor.shape, tensor.elements), ((4, 8), 100 + 3 * 8 + 7))

    def test_inputs_are_no_views(self):  # which cannot be detached in place
        _, (tensor,), _ = self.call(record("aten::detach_", ["float"], [[4, 8]], strides=[[1, 4]]))
        self.assertEqual((tensor.strides, tensor.is_view), ((1, 4), False))

    def test_copies_to_memory_of_their_own(self):
        entry = record("aten::copy_", ["float", "float", "Scalar"], [[4], [4], []], ["", "", "False"],
                       copy="DtoH fresh")
        self.assertEqual(self.call(entry)[1][0].fill, "empty")
        self.assertEqual(self.call({**entry, "copy": "DtoH"})[1][0].fill, "zeros")

    def test_kernels_of_an_op_count_once(self):
        def event(name, start, kernels=()):
            return types.SimpleNamespace(name=name, device_type="DeviceType.CPU", kernels=kernels,
                                         time_range=types.SimpleNamespace(start=start, end=start + 10))

        gemm = types.SimpleNamespace(name="gemm", duration=5)
        self.assertEqual(replay.kernels_by_call([event("replayed", 0), event("aten::mm", 1, [gemm]),
                                                 event("cudaLaunchKernel", 2, [gemm])]), (["gemm"], 5))

    def test_the_cache_is_as_recorded(self):
        def measured(recorded):
            result = replay.profiled(None, {"trace": {"kernel_time_us_mean": recorded}}, options())
            return result["kernel_us"], result["cache"], len(result["kernel_us_by_cache"])

        found = {"read": (["k"], 12.0), None: (["k"], 8.0), "written": (["k"], 15.0)}
        buffer = types.SimpleNamespace(max=lambda: "read", add_=lambda _: "written")
        with mock.patch.object(replay, "kernels_of_calls", lambda _, before: found[before()]), \
                mock.patch.object(replay, "flush_buffer", lambda _: buffer), \
                mock.patch.object(replay, "flush", lambda buffer: buffer.max()):
            self.assertEqual(measured(11.5), (12, "cold", 1))
            self.assertEqual(measured(8.5), (8, "warm", 2))
            self.assertEqual(measured(17), (15, "written", 3))
            self.assertEqual(measured(0), (12, "cold", 1))  # nothing to compare with

    def test_large_blocks_on_the_host_are_fresh(self):
        with mock.patch("ctypes.CDLL") as library:
            replay.take_fresh_memory()
            if sys.platform.startswith("linux"):
                library.return_value.mallopt.assert_called_once_with(-3, 128 * 1024)
        with mock.patch("ctypes.CDLL", side_effect=OSError):
            replay.take_fresh_memory()

    def test_names_without_a_namespace_are_pytorchs(self):
        self.assertEqual(self.call(record("detach", ["float"], [[2]]))[0], "aten::detach.default")

    def test_convolution_with_lists_and_numbers(self):
        _, positional, _ = self.call(
            record("aten::conv2d", ["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar"],
                   [[1, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], []],
                   ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1"]))
        self.assertEqual(list(positional[2:]), [None, [2, 2], [1, 1], [1, 1], 1])

    def test_types_formats_and_layouts_are_enums(self):
        _, _, keywords = self.call(
            record("aten::_to_copy", ["float", "Scalar", "Scalar", "", "", "Scalar", ""],
                   [[2], [], [], [], [], [], []], ["", "15", "0", "", "", "False", ""]))
        self.assertIs(keywords["dtype"], torch.bfloat16)
        self.assertEqual(keywords["layout"], "torch.strided")
        _, _, keywords = self.call(record("aten::clone", ["float", "Scalar"], [[2], []], ["", "0"]))
        self.assertEqual(keywords["memory_format"], "torch.contiguous_format")

    def test_normalisation(self):
        _, positional, _ = self.call(
            record("aten::native_layer_norm", ["float", "ScalarList", "float", "float", "Scalar"],
                   [[2, 4], [], [4], [4], []], ["", "[4]", "", "", "1e-05"]))
        self.assertEqual(positional[1], [4])
        self.assertEqual(positional[4], 1e-05)

    def test_undefined_tensors_are_none(self):
        _, positional, _ = self.call(
            record("aten::_cudnn_attention_backward", ["float", "", ""], [[2, 2], [], []]))
        self.assertEqual(positional[1:], (None, None))

    def test_autocast_is_on_where_it_was(self):
        torch.calls.clear()
        entry = record("aten::linear", ["float", "float", ""], [[4, 8], [16, 8], []],
                       autocast="c10::BFloat16")
        self.assertEqual(replay.run_record(entry, options())["status"], "ok")
        self.assertIn(("autocast", [torch.bfloat16], {}), torch.calls)

    def variants(self, entry):
        """What each variant calls: {its name: [(op, positional, keywords), ...]}."""
        call, found = replay.make_call(entry, options()), {}
        for variants in (replay.gemm_variants, replay.attention_variants):
            for name, work in variants(entry, call, options()):
                torch.calls.clear()
                work()
                found[name] = list(torch.calls)
        return found

    def test_attention_variants_do_the_same_work(self):
        efficient = record("aten::_scaled_dot_product_efficient_attention",
                           ["c10::BFloat16"] * 4 + ["Scalar"] * 4,
                           [[1, 4, 8, 16], [1, 2, 8, 16], [1, 2, 8, 16], [1, 4, 8, 8], [], [], [], []],
                           [""] * 4 + ["True", "0.1", "False", "0.25"])
        calls = self.variants(efficient)["SDPA math"]
        self.assertIn(("set_grad_enabled", [True], {}), calls)  # the log-sum-exp is for a backward
        _, (query,), keywords = calls[-1]
        self.assertTrue(query.requires_grad)
        self.assertEqual((keywords["is_causal"], keywords["dropout_p"], keywords["scale"],
                          keywords["enable_gqa"], keywords["attn_mask"].shape),
                         (False, 0.1, 0.25, True, (1, 4, 8, 8)))
        top = record("aten::scaled_dot_product_attention", ["c10::BFloat16"] * 3 + [""] + ["Scalar"] * 4,
                     [[1, 2, 8, 4]] * 3 + [[]] * 5, [""] * 4 + ["0.0", "False", "0.5", "True"],
                     autocast="c10::BFloat16", attention="math")
        calls = self.variants(top)["SDPA flash_attention"]
        self.assertEqual([name for name, _, _ in calls],
                         ["autocast", "sdpa_kernel", "sdpa_kernel", "set_grad_enabled", "sdpa"])
        self.assertEqual(calls[2][1], ["flash"])
        self.assertFalse(calls[-1][1][0].requires_grad)
        keywords = calls[-1][2]
        self.assertEqual((keywords["is_causal"], keywords["scale"], keywords["enable_gqa"],
                          keywords["attn_mask"]), (False, 0.5, True, None))
        causal = record("aten::scaled_dot_product_attention", ["float"] * 3 + [""] + ["Scalar"] * 2,
                        [[1, 2, 8, 4]] * 3 + [[]] * 3, [""] * 4 + ["0.0", "True"])
        self.assertTrue(self.variants(causal)["SDPA math"][-1][2]["is_causal"])

    def test_gemm_variants_do_the_same_work(self):
        found = self.variants(record("aten::addmm", ["float"] * 3 + ["Scalar"] * 2,
                                     [[100], [60, 63], [63, 100], [], []], ["", "", "", "1", "0.5"],
                                     [[1], [63, 1], [1, 63], [], []]))
        (name, (bias, a, b), keywords), = found["sizes padded to 8"]
        self.assertEqual((name, bias.shape, a.shape, b.shape, b.strides),
                         ("aten::addmm.default", (104,), (64, 64), (64, 104), (1, 64)))
        self.assertEqual(keywords, {"beta": 1, "alpha": 0.5})
        (_, (bias, a, b), _), = found["A row-major, B row-major"]
        self.assertEqual((bias.shape, a.strides, b.strides), ((100,), (63, 1), (100, 1)))
        self.assertEqual({each.dtype for each in found["in float16"][0][1]}, {torch.float16})
        (_, (bias, *_), _), = found["with TF32"]
        self.assertEqual(bias.shape, (100,))
        (_, (added, *_), _), = self.variants(
            record("aten::baddbmm", ["float"] * 3 + ["Scalar"] * 2,
                   [[2, 60, 100], [2, 60, 63], [2, 63, 100], [], []], ["", "", "", "1", "1"])
        )["sizes padded to 8"]
        self.assertEqual(added.shape, (2, 64, 104))

    def test_linear_variants_keep_autocast_and_bias(self):
        found = self.variants(record("aten::linear", ["float"] * 3, [[3, 20, 63], [100, 63], [100]],
                                     autocast="c10::BFloat16"))
        self.assertNotIn("with TF32", found)
        self.assertNotIn("in float16", found)  # autocast would convert it
        for name, calls in found.items():
            self.assertEqual([each for each, _, _ in calls], ["autocast", "aten::linear.default"], name)
        _, (x, weight, bias), _ = found["sizes padded to 8"][-1]
        self.assertEqual((x.shape, weight.shape, bias.shape), ((64, 64), (104, 64), (104,)))
        _, (x, weight, bias), _ = found["in bfloat16"][-1]
        self.assertEqual((x.dtype, weight.dtype, bias.dtype), (torch.bfloat16,) * 3)

    def test_ops_of_others_have_no_variants(self):
        self.assertEqual(self.variants(record("engine::linear", ["float"] * 2, [[4, 8], [8, 4]])), {})

    def test_strings_are_asked_for(self):
        entry = record("aten::einsum", ["", "TensorList", ""], [[], [[2, 3], [3, 4]], []])
        self.assertIn("equation", self.skipped(entry))
        _, positional, _ = self.call(entry, arg={"equation": "ij,jk->ik"})
        self.assertEqual(positional[0], "ij,jk->ik")

    def test_reasons_to_skip(self):
        for op, words in (("triton_poi_fused_add_0", "Triton"), ("c10d::allreduce_", "collective"),
                          ("vllm::all_gather", "collective"), ("aten::miopen_convolution", "MIOpen"),
                          ("AddmmBackward0", "not the name of an operator"),
                          ("torch.distributed.ddp.reducer::copy", "not the name of an operator"),
                          ("aten::nothing", "no operator of this name"), ("aten::set_", "storage"),
                          ("sgl_kernel::silu_and_mul", "needs the library sgl_kernel"),
                          ("_C::rotary_embedding", "needs the library vllm")):
            self.assertIn(words, self.skipped(record(op, ["float"], [[2]])))
        self.assertIn("AMD", self.skipped(record("aten::_scaled_mm", ["c10::Float8_e4m3fnuz"] * 2,
                                                 [[16, 16]] * 2)))
        self.assertIn("GiB", self.skipped(record("aten::mm", ["float"] * 2, [[2**15] * 2] * 2)))


CHILD = """
import ctypes, os, sys, time
sys.path.insert(0, {common!r})
from common import work

def run(record):
    print("said by Python")
    ctypes.CDLL(None).puts(b"{{}} said by C")
    ctypes.CDLL(None).fflush(None)
    os.write(1, b'"and by the system"\\n')
    if record["id"] == 1:
        time.sleep(60)
    if record["id"] == 2:
        os._exit(7)
    return {{"id": record["id"], "status": "ok"}}

print("said before, on a line that does not end", end="")
sys.exit(work([{{"id": 0}}, {{"id": 1}}, {{"id": 2}}], run))
"""


class Triton(ScriptTest):
    def test_kernels_are_found_by_name_and_by_hash(self):
        self.assertEqual(replay.hashed("triton_poi_fused_SECRET_0"), "efdf7bfbbebe1dc6")  # as tracelens has it
        self.path.with_name("cabc.py").touch()
        loads = []

        def load(key, path):
            loads.append((key, path))
            return types.SimpleNamespace(other=0, triton_poi_0="the kernel")

        cache = types.SimpleNamespace(PyCodeCache=types.SimpleNamespace(load_by_key_path=load))
        modules = {"torch._inductor": types.ModuleType("inductor"), "torch._inductor.codecache": cache}
        with mock.patch.dict(sys.modules, modules):
            hashes = "triton_" + replay.hashed("triton_poi_0"), replay.hashed("cabc.py") + ".py"
            for op, source in (("triton_poi_0", "cabc.py"), hashes):
                call = replay.TritonCall(record(op, [], [], source=source),
                                         options(triton_source=self.folder.name))
                self.assertEqual(call.kernel, "the kernel")
        self.assertEqual(loads, [("cabc", str(self.path.with_name("cabc.py")))] * 2)


class Workers(ScriptTest):
    def test_results_come_through_what_libraries_print(self):
        self.path.write_text(CHILD.format(common=str(ROOT / "data" / "replay")))
        worker = common.Worker([], argparse.Namespace(verbose=False, timeout=300))
        with mock.patch.object(sys, "argv", [str(self.path)]):
            def result(number):
                return worker.run({"id": number, "op": "aten::mm"})

            self.assertEqual(result(0), {"id": 0, "status": "ok"})
            self.assertEqual(result(0), {"id": 0, "status": "ok"})
            worker.options.timeout = 1
            self.assertIn("not run: timed out after 1 s", result(1)["reason"])
            worker.options.timeout = 300
            self.assertEqual(result(0), {"id": 0, "status": "ok"})  # a new child
            self.assertEqual(result(2)["reason"], "the process ended with status 7")
        worker.close()


class Script(ScriptTest):
    TRACE = "h200_gpt_train_amp.json.gz"

    def test_runs_and_writes_results(self):
        self.generate(self.TRACE, "--top", "30")
        results = self.path.with_name("results.json")
        ran = self.run_script("--device", "cpu", "--rounds", "1", "--max-gib", "100",
                              "--json", results, "--csv", results.with_suffix(".csv"))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("attempted", ran.stdout)
        found = json.loads(results.read_text())
        self.assertEqual(len(found["results"]), 30)
        self.assertTrue(any(each["status"] == "ok" for each in found["results"]))
        self.assertEqual(len(results.with_suffix(".csv").read_text().splitlines()), 31)

    def test_lists_without_running(self):
        self.generate(self.TRACE, "--name", "aten::mm")
        ran = self.run_script("--device", "cpu", "--list")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("aten.mm.default", ran.stdout)
        self.generate(self.TRACE, "--name", "AddmmBackward0")
        self.assertIn("backward of aten.addmm.default", self.run_script("--device", "cpu", "--list").stdout)

    def test_wrong_usage(self):
        self.generate(self.TRACE, "--top", "1")
        self.check_usage("cuda")

    def test_hostile_names_are_printed_escaped(self):
        self.generate(self.TRACE, "--top", "2")
        self.rewrite_records(lambda each: each.update(op=generated.HOSTILE))
        for arguments in (["--list"], ["--rounds", "1", "--verbose"]):
            self.check_hostile(self.run_script("--device", "cpu", *arguments))

    def test_says_so_without_pytorch(self):
        self.generate(self.TRACE, "--top", "1")
        self.check_without("torch", "PyTorch")


if __name__ == "__main__":
    generated.main()
