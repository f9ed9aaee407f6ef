"""The formulas that programs call with numbers, and what a subclass may rely on."""

import pytest

from TraceLens.PerfModel import kernel_name_parser
from TraceLens.PerfModel import perf_model as pm
from TraceLens.PerfModel.extensions import FusedMoE, RMSNorm, moe_triton_unfused_up
from TraceLens.PerfModel.jax_op_mapping import jax_op_to_perf_model_class_map
from TraceLens.PerfModel.triton_compiled_perf_model import TritonCompiledPerfModel
from TraceLens.PerfModel.utils import (
    add_simulation_time_columns,
    gemm_tflops,
    name2bpe,
    optional_float,
    optional_int,
    parse_bool,
    simulation_dtype_map,
    torch_dtype_map,
)

GPU = {"name": "mi300x", "freq_mhz": 2000, "num_cus": 10, "gemm_units_per_cu": 4, "mem_bw_gbps": 1000,
       "l1_bw_gbps": 500}


def event(dims, types="c10::BFloat16", name="op", **args):
    types = [types] * len(dims) if isinstance(types, str) else types
    return {"name": name, "args": {"Input Dims": dims, "Input type": types, **args}}


def mm(m=4, k=8, n=16, **more):
    return {**event([[m, k], [k, n]]), **more}


def test_small_parsers():
    assert [optional_int(text) for text in ("42", "x", None)] == [42, None, None]
    assert [optional_float(text) for text in ("0.", "1e-05", "", "None", None)] == [0.0, 1e-05, 0.0, 0.0, 0.0]
    assert [parse_bool(value) for value in (" True ", "1", "0", "", None, 2, "maybe")] == [
        True, True, False, False, False, True, True]
    assert [name2bpe(name) for name in ("Double", "c10::Half", "signed char", "bool", "", None)] == [
        8, 2, 1, None, None, None]
    assert [torch_dtype_map(name) for name in ("float", "c10::Float8_e4m3fn", "mxfp4", "long int")] == [
        "fp32", "fp8", "fp4", None]
    assert simulation_dtype_map("bf16") == "c10::bfloat16"
    assert gemm_tflops(1000, 1000, 1000, 2.0) == pytest.approx(1.0)
    assert pm.parse_list("[True, False]", bool) == [True, False]


def test_gemm():
    assert pm.GEMM.flops_func(2, 3, 5, False) == 60
    assert pm.GEMM.flops_func(2, 3, 5, True) == 66
    assert pm.GEMM.bytes_func(2, 3, 5, True, 2, 1, 4, 8) == 2 * 5 * 2 + 5 * 3 * 1 + 2 * 3 * 8 + 3 * 4
    assert pm.GEMM.bytes_func(2, 3, 5, False, 2, 2, None, 2) is None
    with pytest.raises(NotImplementedError):
        pm.GEMM.get_param_details({})


def test_a_gemm_of_ones_own_gives_its_sizes_only():
    class Linear(pm.GEMM):
        @staticmethod
        def get_param_details(call):
            return {"M": 4, "N": 16, "K": 8, "bias": True, "dtype_A_B": ("float", "float")}

        def bytes(self):
            return super().bytes(4, 4, 4, 4)

    model = Linear({"args": {}})
    assert model.flops() == 2 * 4 * 16 * 8 + 4 * 16
    assert model.bytes() == 4 * (4 * 8 + 8 * 16 + 4 * 16 + 16)
    assert model.param_details["B"] == 1
    assert (model.get_maf_type(), model.get_compute_precision()) == ("matrix", "fp32")
    assert model.flops_bwd() == 2 * 2 * 4 * 16 * 8 + 4 * 16
    assert model.get_simulation_time() is None


def test_the_name_of_a_kernel_tells_the_layout():
    tensile = "Custom_Cijk_Alik_Bljk_BBS_MT64x16x128_SN"
    assert kernel_name_parser.gemm_name_parser(tensile) == {
        "transpose": (True, False), "mt_m": 64, "mt_n": 16, "depth_u": 128}
    assert kernel_name_parser.parse_rocm_gemm("Cijk_Axyz_Bjlk_x")["transpose"] == (None, True)
    assert kernel_name_parser.gemm_name_parser("nvjet_x_NTT") == {"transpose": (False, True)}
    assert kernel_name_parser.gemm_name_parser("nvjet_x_T") is None
    assert kernel_name_parser.gemm_name_parser("gemm") is None
    kernels = [{"name": "memset"}, {"name": tensile}, {"name": "nvjet_x_NTT"}]
    assert list(pm.aten_mm(mm(kernel_details=kernels)).param_details)[-2:] == ["B", "transpose"]
    assert pm.aten_mm(mm(kernel_names=["nvjet_x_NTT"], kernel_details=kernels)).param_details["transpose"] == (
        False, True)
    assert "transpose" not in pm.aten_mm(mm()).param_details


def test_the_parser_of_rocm_names_may_be_replaced(monkeypatch):
    monkeypatch.setattr(kernel_name_parser, "is_rocm_gemm", lambda name: True)
    monkeypatch.setattr(kernel_name_parser, "parse_rocm_gemm", lambda name: {"transpose": ("mine", name)})
    assert pm.aten_mm(mm(kernel_names=["k"])).param_details["transpose"] == ("mine", "k")


def test_operands_of_different_types_are_counted_by_the_first_with_a_warning():
    model = pm.aten_mm(event([[4, 8], [8, 16]], ["c10::BFloat16", "float"]))
    with pytest.warns(UserWarning, match="c10::BFloat16 and float"):
        assert model.bytes() == 2 * (32 + 128 + 64)


def test_convolution():
    shape = pm.CONV.get_output_shape((1, 3, 7), (8, 3, 3), (2,), (1,), (1,), False, (0,))
    assert shape == (1, 8, 4)
    assert pm.CONV.get_output_shape((1, 3, 4), (3, 8, 3), (2,), (1,), (1,), True, (1,)) == (1, 8, 8)
    assert pm.CONV.flops_func((1, 3, 7), (8, 3, 3), shape, True) == 32 * 2 * 9 + 32
    assert pm.CONV.bytes_func((1, 3, 7), (8, 3, 3), shape, True, 2) == (21 + 72 + 8 + 32) * 2
    assert pm.CONV.flops_bwd_func(shape, (1, 3, 7), (8, 3, 3), False) == 2 * 32 * 2 * 9
    assert pm.CONV.bytes_bwd_func((1, 3, 7), (8, 3, 3), shape, False, None) is None
    with pytest.raises(ValueError, match="Unknown convolution"):
        pm.aten_conv(event([[2], [4]], **{"Concrete Inputs": [""] * 9}))
    with pytest.raises(ValueError, match="different"):
        pm.aten_conv(event([[1, 3, 7], [8, 3, 3]], ["float", "double"],
                           **{"Concrete Inputs": ["", "", "", "[1]", "[0]", "[1]", "False", "[0]", "1"]}))


def test_the_backward_of_a_fused_convolution_needs_its_forward():
    forward = event([[1, 1, 4, 4], [1, 1, 3, 3], [1]], **{"Concrete Inputs": ["", "", "", "1", "0"],
                                                          "Sequence number": 7})
    pm.ConvBias_.fwd_pass_cache.clear()
    backward = event([[1, 1, 2, 2]], **{"Sequence number": 7})
    with pytest.warns(UserWarning, match="Forward pass not found"):
        assert pm.ConvBias_Backward.get_param_details(backward)["input_shape"] is None
    pm.ConvBias_(forward)
    assert pm.ConvBias_Backward(backward).flops() == pm.ConvBias_(forward).flops_bwd()
    assert 7 not in pm.ConvBiasReLU_.fwd_pass_cache


def test_attention():
    shape = (2, 16, 8, 16, 4, 32, 64)  # B, N_Q, H_Q, N_KV, H_KV, d_qk, d_v
    full = 2 * 8 * 2 * 16 * 16 * 96
    assert pm.SDPA.flops_func(*shape, False) == full
    assert pm.SDPA.flops_func(*shape, True) == full / 2
    assert pm.SDPA.bytes_func(*shape, True, 2) == 2 * (16 * 8 * 96 + 16 * 4 * 96) * 2
    sums = 2 * 16 * 96 * (8 // 4 - 1)
    assert pm.SDPA.flops_bwd_func(*shape, False, True) == 2 * 8 * 2 * 256 * (3 * 32 + 2 * 64) + sums
    assert pm.SDPA.flops_bwd_func(*shape, False, flash_impl=False) == 2 * 8 * 2 * 256 * (2 * 32 + 2 * 64) + sums
    assert pm.SDPA.bytes_bwd_func(*shape, False, 4) == 2 * (16 * 8 * 128 + 2 * 16 * 4 * 96) * 4
    with pytest.raises(ValueError, match="causal=True"):
        pm.SDPA.flops_func(1, 16, 8, 32, 8, 64, 64, True)
    with pytest.raises(ValueError, match="Head dimensions"):
        pm.extract_sdpa_cfg([1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 4], (0, 1, 2, 3))
    assert pm.extract_sdpa_varlen_cfg([10, 8, 64], [12, 4, 64], [12, 4, 32], (1, 0, 2)) == {
        "B": 1, "N_Q": 10, "H_Q": 8, "N_KV": 12, "H_KV": 4, "d_h_qk": 64, "d_h_v": 32}


def test_flash_attention_backward_without_recorded_scalars_is_causal():
    q = [2, 8, 4, 16]
    call = event([q] * 4, **{"Input Strides": [[1] * 4] * 4})
    model = pm.flash_attention_backward(call)
    assert (model.param_details["causal"], model.param_details["dropout"]) == (True, 0.0)
    assert not isinstance(model, pm.flash_attention)
    assert model.bytes(bytes_per_element=4) == 2 * model.bytes()
    assert model.flops() == model.flops_bwd()


def test_elementwise_and_reductions():
    assert pm.UnaryElementwise.flops_func(7) == 7
    assert pm.UnaryElementwise.bytes_func(7, 2, 4) == 42
    assert pm.UnaryElementwise.bytes_func(7, 2, None) is None
    assert pm.BinaryElementwise.get_broadcast_shape((8, 1), (5,)) == (8, 5)
    assert pm.BinaryElementwise.bytes_func(2, 3, 6, 1, 2, 4) == 2 + 6 + 24
    with pytest.raises(ValueError):
        pm.BinaryElementwise.get_broadcast_shape((4, 8), (3, 8))
    assert pm.Reduce.flops_func(10, 2) == 10
    assert pm.Reduce.bytes_func(10, 2, 2, 4) == 28
    def reduced(*concrete):
        return pm.aten_reduce(event([[4, 6, 2]], name="aten::sum",
                                    **{"Concrete Inputs": ["", *concrete]})).param_details["num_output_elems"]

    assert reduced([1], False) == 8
    assert reduced([-1, 0], True) == 6
    assert reduced(1, False) == 8
    assert reduced("[1]", "False") == 1  # what traces print is text
    assert reduced([9], False) == 48


def test_normalisation():
    assert pm.Normalization.flops_func(True, True, True, 100, 10) == 6 * 10 + 3 * 100 + 2 * 100
    assert pm.Normalization.flops_func(True, True, False, 100, 10) == 260
    assert pm.Normalization.bytes_func(True, True, True, 100, 10, 2, 4) == 200 + 400 + (2 + 2 + 2) * 10 * 2
    assert pm.Normalization.bytes_func(False, True, False, 100, 10, 2, 2) == 400 + 3 * 10 * 2
    with pytest.raises(NotImplementedError):
        pm.InstanceNormBwd(event([[1]]))
    assert RMSNorm.category == "RMSNorm" and issubclass(RMSNorm, pm.Normalization)


def test_groups_and_experts():
    class Own(pm.GroupedGemm):
        @staticmethod
        def get_param_details(call):
            return {"M": 6, "K": 4, "N": 2, "G": 3, "bpe_in": 2, "bpe_out": 4}

    model = Own({"args": {}})
    assert (model.flops(), model.bytes()) == (2 * 6 * 4 * 2, (24 + 24) * 2 + 12 * 4)
    assert (model.flops_bwd(), model.bytes_bwd()) == (4 * 6 * 4 * 2, 2 * 12 * 4 + 2 * 48 * 2)
    with pytest.raises(NotImplementedError):
        pm.primus_turbo_grouped_gemm(event([[9, 8], [3, 16, 8]])).flops_bwd()
    product = 2 * 4 * 8 * 16 * 2
    assert FusedMoE.flops_func(4, 8, 16, 2, True) == 3 * product + 4 * 8 * 3
    assert FusedMoE.bytes_func(4, 8, 16, 2, 2, False, 2, 1, 2) == 4 * 8 * 4 + 2 * 2 * 16 * 8
    assert FusedMoE.bytes_func(4, 8, 16, 2, 2, False, None, 1, 2) is None
    with pytest.raises(ValueError, match="Kernel details"):
        moe_triton_unfused_up(event([[4, 8], [4, 2]], **{"MoE topk": 2, "MoE GEMM gated": True}))


def test_jax():
    assert set(jax_op_to_perf_model_class_map) == {
        "jax_gemm", "jax_te_fused_attn", "jax_te_fused_attn_bwd", "jax_conv", "jax_conv_bwd"}
    gemm = pm.jax_gemm({"args": {"Batch": 2, "M": 4, "N": 8, "K": 16, "Beta": 1, "Type": "bf16"}})
    assert gemm.flops() == 2 * (2 * 4 * 8 * 16 + 4 * 8)
    assert gemm.bytes() == 2 * 2 * (4 * 16 + 16 * 8 + 4 * 8 + 8)
    attention = pm.jax_te_fused_attn(event([[2, 1024, 32, 128], [2, 1024, 8, 128], [2, 1024, 8, 128]], "bf16",
                                           **{"Concrete Inputs": [(0,)]}))
    assert (attention.flops(), attention.bytes()) == (34359738368, 41943040)
    assert (attention.flops_bwd(), attention.bytes_bwd()) == (85900918784, 67108864)
    conv = pm.jax_conv(event([[1, 16, 32, 60, 104], [5120, 16, 1, 2, 2]], "bf16", **{
        "Output Dims": [[1, 5120, 34, 31, 53]], "Filter Shape": [1, 2, 2]}))
    assert (conv.flops(), conv.bytes()) == (2288107520, 578416648)


def test_compiled_kernels_without_arguments_are_looked_up_in_the_cache_of_inductor(tmp_path):
    (tmp_path / "wrapper.py").write_text("""
# Original ATen: [aten.mean, aten.exp]
triton_red_fused_exp_mean_0 = async_compile.triton('triton_red_fused_exp_mean_0', '''
    size_hints={'x': 16, 'r0_': 8}, 'signature': {'in_ptr0': '*bf16', 'out_ptr0': '*fp32', 'n': 'i32'},
''', device_str='cuda')
""")
    call = {"name": "triton_red_fused_exp_mean_0", "args": {}}
    model = TritonCompiledPerfModel(call, inductor_cache_dir=str(tmp_path))
    assert model.param_details == {"fused_ops": "aten.mean, aten.exp", "xnumel": 16, "rnumel": 8}
    assert model.flops() == 16 * 8 * (1 + 4)
    assert model.bytes() == 2 * 16 * 8 + 4 * 16
    assert not TritonCompiledPerfModel.can_model(call)
    with pytest.raises(NotImplementedError):
        TritonCompiledPerfModel({"name": "triton_poi_fused_add_9", "args": {}}, inductor_cache_dir="/none").flops()


def test_a_simulator_is_asked_once_per_product(tmp_path, monkeypatch):
    simulator = tmp_path / "simulator.py"
    simulator.write_text("import sys\nwith open('calls', 'a') as f: f.write('x')\nprint('Time=%d.5' % len(sys.argv))\n")
    monkeypatch.setenv("GEMM_SIMULATOR_PATH", str(simulator))
    monkeypatch.setattr(pm.GEMM, "cache_gemm_results", {})
    time, command = pm.GEMM.get_simulation_time_func(GPU, 4, 8, 16, 1, "bf16", num_cus=5)
    assert command.endswith("simulator.py -b 1 -m 4 -n 8 -k 16 --dtype bf16 -d 1 -a mi300x --freq_mhz 2000 "
                            "--cus 5 --hbm_bw 500")
    assert time == len(command.split()) - 1 + 0.5
    model = pm.aten_mm(mm(), arch=GPU)
    assert model.get_simulation_time() == model.get_simulation_time()
    assert (tmp_path / "calls").read_text() == "xx"
    with pytest.raises(AssertionError, match="Invalid inputs: M"):
        pm.GEMM.get_simulation_time_func(GPU, None, 8, 16, 1, "bf16")
    monkeypatch.setenv("GEMM_SIMULATOR_PATH", str(tmp_path / "none"))
    with pytest.raises(ValueError, match="does not exist"):
        pm.GEMM.get_simulation_time_func(GPU, 4, 8, 16, 1, "bf16")


def test_attention_is_simulated_in_tiles(monkeypatch):
    monkeypatch.setattr(pm.GEMM, "get_simulation_time_func", staticmethod(lambda *args, **more: (2.0, "")))
    monkeypatch.setattr(pm.Softmax, "get_time", staticmethod(lambda *args, **more: 1.0))
    time = pm.SDPA.get_simulation_time_func(GPU, "bf16", None, "c10::BFloat16", 1000000, 2, 10, 256, 256, 64, fa=True)
    waves = 4  # two tiles of 128 queries, 2 x 10 heads, 10 units
    assert time == pytest.approx(waves * 5.0 + 1000000 / 256 / 256 * 128 * 256 / 1e6 * waves)
    whole = pm.SDPA.get_simulation_time_func(GPU, "bf16", None, "c10::BFloat16", 1000000, 2, 10, 256, 256, 64)
    assert whole == pytest.approx(2 * 5.0 + 2.0)
    monkeypatch.setattr(pm.GEMM, "get_simulation_time_func", staticmethod(lambda *args, **more: (None, None)))
    assert pm.SDPA.get_simulation_time_func(GPU, "bf16", None, "c10::Half", 1, 1, 1, 8, 8, 8) is None


def test_columns_of_a_simulated_time():
    row = {}
    add_simulation_time_columns(row, 100.0, 200.0, None, 200.0)
    assert row["Origami Time (µs)"] == 100.0 and row["Pct Origami"] == 50.0
    assert row["Origami TFLOPS/s"] == pytest.approx(2000.0)
    assert row["Origami TB/s"] != row["Origami TB/s"]
    add_simulation_time_columns(empty := {}, None, 1, 1, 1)
    assert empty == {}
