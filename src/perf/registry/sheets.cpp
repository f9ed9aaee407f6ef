#include "perf/registry/sheets.hpp"

#include <algorithm>
#include <iterator>

namespace tracelens::perf {
namespace {

constexpr SheetInfo kSheets[] = {
    {.name = "GEMM",
     .reads = "shapes and types of the matrices and the bias",
     .has_two_passes = false},
    {.name = "SDPA", .reads = "shapes and types of Q, K and V; the causal flag"},
    {.name = "CONV",
     .reads = "shapes of input, filter and bias; stride, padding, dilation, groups"},
    {.name = "InferenceAttention", .reads = "shapes of Q and the cache; tokens of the step"},
    {.name = "BinaryElementwise",
     .reads = "shapes and types of both operands",
     .has_two_passes = false},
    {.name = "GroupedGEMM",
     .reads = "shapes of tokens and expert weights; group sizes where recorded"},
    {.name = "MoE_comm", .reads = "shape of the tokens sent or received"},
    {.name = "SSM", .reads = "shapes of the sequence and the state"},
    {.name = "RoPE", .reads = "shapes of Q, K and the tables of angles"},
    {.name = "CrossEntropy", .reads = "shape of the logits"},
    {.name = "UnaryElementwise", .reads = "shape and type of the input", .has_two_passes = false},
    {.name = "MoE_fused", .reads = "shapes of tokens and expert weights; experts per token"},
    {.name = "MoE_unfused", .reads = "shapes of tokens and expert weights; experts per token"},
    {.name = "MoE_aux", .reads = "shapes of the router's scores and the tokens"},
    {.name = "RMSNorm", .reads = "shape of the input; size of the quantized groups"},
    {.name = "elementwise", .reads = "shape and type of the input"},
    {.name = "GroupQuant", .reads = "shape of the input; size of the groups"},
    {.name = "FusedRoPE", .reads = "shapes of Q, K and the tables of angles"},
    {.name = "CustomCollective", .reads = "shape and type of the tensor exchanged"},
    {.name = "mHC", .reads = "shapes of the streams and the mixing weights"},
    {.name = "Normalization",
     .reads = "shape of the input; which dimensions or groups",
     .has_two_passes = false},
    {.name = "Reduce", .reads = "shape of the input; which dimensions are reduced"},
    // ours, after the reference's
    {.name = "Softmax", .reads = "shape and type of the input", .edition = Edition::kExtended},
    {.name = "Indexing",
     .reads = "shapes of the table and the indices",
     .edition = Edition::kExtended},
    {.name = "Joining", .reads = "shapes of the tensors joined", .edition = Edition::kExtended},
    {.name = "Sorting",
     .reads = "shape of the input; number of results",
     .edition = Edition::kExtended},
    {.name = "Loss", .reads = "shapes of prediction and target", .edition = Edition::kExtended},
    {.name = "Pooling",
     .reads = "shape of the input; window, stride, padding",
     .edition = Edition::kExtended},
    {.name = "RNN",
     .reads = "shapes of the sequence and the weights; hidden size",
     .edition = Edition::kExtended},
    {.name = "Random", .reads = "shape and type of the result", .edition = Edition::kExtended},
};

}  // namespace

std::span<const SheetInfo> sheets(Edition edition) {
  const auto* const end = std::ranges::find_if(
      kSheets, [&](const SheetInfo& sheet) { return sheet.edition > edition; });
  return {std::begin(kSheets), end};
}

const SheetInfo* find_sheet(std::string_view name) {
  const auto* const found = std::ranges::find(kSheets, name, &SheetInfo::name);
  return found == std::end(kSheets) ? nullptr : found;
}

std::string sheet_names(Edition edition) {
  std::string names;
  for (const SheetInfo& sheet : sheets(edition))
    names.append(names.empty() ? "" : ", ").append(sheet.name);
  return names;
}

}  // namespace tracelens::perf
