"""Which op has which model, category and sheet, and how a program adds its own."""

import inspect

import pytest

from TraceLens import PerfModel
from TraceLens.PerfModel import perf_model
from TraceLens.PerfModel import torch_op_mapping as mapping
from TraceLens.PerfModel.torch_op_mapping import categorize_torch_op, resolve_perf_model_class


@pytest.fixture
def registries():
    """Puts back what a test adds to the registries of the process."""
    saved = [(registry, registry.copy()) for registry in
             (mapping.op_to_perf_model_class_map, mapping.OP_CATEGORY_REGISTRY, mapping._matchers)]
    yield
    for registry, before in saved:
        registry.clear()
        (registry.extend if isinstance(registry, list) else registry.update)(before)


def test_the_map_knows_245_ops_in_the_order_of_the_sheets():
    ops = list(mapping.op_to_perf_model_class_map)
    assert len(ops) == 245
    assert ops[:3] == ["aten::mm", "aten::addmm", "aten::_scaled_mm"]
    sheets = mapping.build_sheet_category_to_op_names(mapping.op_to_perf_model_class_map)
    assert list(sheets) == [
        "GEMM", "SDPA", "CONV", "InferenceAttention", "BinaryElementwise", "GroupedGEMM", "MoE_comm", "SSM", "RoPE",
        "CrossEntropy", "UnaryElementwise", "MoE_fused", "MoE_unfused", "MoE_aux", "RMSNorm", "elementwise",
        "GroupQuant", "FusedRoPE", "CustomCollective", "mHC", "Normalization", "Reduce"]
    assert PerfModel.dict_cat2names == sheets
    assert "aten::dynamic_per_token_scaled_quant" not in sheets["GroupQuant"]
    assert "aiter::dynamic_per_token_scaled_quant" in sheets["BinaryElementwise"]


def test_every_model_is_a_class_of_perf_model_under_the_name_programs_import():
    models = [value for _, value in inspect.getmembers(perf_model, inspect.isclass)]
    assert len(models) == 79
    assert {model.__module__ for model in models} == {"TraceLens.PerfModel.perf_model"}
    assert PerfModel.aten_mm is perf_model.aten_mm
    assert PerfModel.name2bpe("c10::BFloat16") == 2


@pytest.mark.parametrize("name, category", [
    ("aten::bmm", "GEMM"),
    ("aten::convolution", "CONV_fwd"),
    ("aten::cudnn_convolution", "CONV_fwd"),
    ("ConvBiasReLU_Backward", "CONV_bwd"),
    ("flash_attn::_flash_attn_varlen_backward", "SDPA_bwd"),
    ("FlashAttnFuncBackward", "SDPA_bwd"),
    ("aten::native_layer_norm", "NORM_fwd"),
    ("aten::native_layer_norm_backward", "NORM_bwd"),
    ("primus_turbo_cpp_extension::ck_grouped_gemm", "GroupedGEMM_fwd"),
    ("MoECombineBackward", "MoE_comm_bwd"),
    ("DaoAILab::_causal_conv1d_bwd_cpp", "SSM_bwd"),
    ("aten::amax", "reduce"),
    ("_C::silu_and_mul", "elementwise"),
    ("aiter::fused_dynamic_mxfp4_quant_moe_sort_hip", "MoE_aux"),  # has a model of another category
    ("aiter::v4_attention_with_output->_swa_write_kernel (Synthetic Op)", "InferenceAttention"),
    ("triton_tem_fused_mm_3", "triton"),
    ("record_param_comms_all_gather", "record_param_comms"),
    ("mine::op", "other"),
])
def test_category_of_a_name(name, category):
    assert categorize_torch_op({"name": name}) == category


@pytest.mark.parametrize("kernel, category", [
    ("void at::native::vectorized_elementwise_kernel<4>(int)", "elementwise"),
    ("void at::native::reduce_kernel<512, 1>(x)", "reduce"),
    ("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<x>()", "multi_tensor_apply"),
    ("void at::native::sort()", "other"),
    ("elementwise_of_somebody", "other"),
])
def test_category_by_the_first_kernel(kernel, category):
    row = {"name": "mine::op", "kernel_details": [{"name": kernel}, {"name": "void at::native::reduce_kernel"}]}
    assert categorize_torch_op(row) == category


def test_categories_and_sheets_of_models():
    assert mapping.get_perf_model_category(perf_model.CONV) == "CONV_fwd"
    assert mapping.get_perf_model_category(perf_model.CONV, bwd=True) == "CONV_bwd"
    assert mapping.get_perf_model_category(perf_model.GEMM, bwd=True) is None
    assert mapping.sheet_category_from_final_category("SDPA_bwd") == "SDPA"
    assert mapping.get_perf_model_sheet_category(perf_model.RMSNormBwd) == "Normalization"
    with pytest.raises(ValueError, match="must define a category attribute"):
        mapping.get_perf_model_category(object)


def test_a_model_of_ones_own(registries):
    class Sort:
        category = "sorting"

    mapping.op_to_perf_model_class_map["aten::sort"] = Sort
    mapping.register_perf_model_categories({"aten::sort": Sort}, mapping.OP_CATEGORY_REGISTRY)
    mapping.register_op_categories({"aten::topk": "selection"}, mapping.OP_CATEGORY_REGISTRY)
    assert resolve_perf_model_class("aten::sort") is Sort
    assert categorize_torch_op({"name": "aten::sort"}) == "sorting"
    assert categorize_torch_op({"name": "aten::topk"}) == "selection"
    assert mapping.build_sheet_category_to_op_names({"aten::sort": Sort}) == {"sorting": ["aten::sort"]}


def test_matchers_are_asked_in_order_after_the_map(registries):
    mapping.register_perf_model_matcher(lambda name: perf_model.GEMM if name.startswith("mine::") else None)
    mapping.register_perf_model_matcher(lambda name: perf_model.SDPA)
    assert resolve_perf_model_class("aten::mm") is perf_model.aten_mm
    assert resolve_perf_model_class("mine::mm") is perf_model.GEMM
    assert resolve_perf_model_class("yours::mm") is perf_model.SDPA
    assert resolve_perf_model_class("triton_red_fused_add_0").__name__ == "TritonCompiledPerfModel"


def test_an_unknown_op_has_no_model():
    assert resolve_perf_model_class("aten::_softmax") is None
