#include "perf/registry/sheets.hpp"

#include <algorithm>
#include <iterator>

namespace tracelens::perf {
namespace {

using enum Edition;
using enum SheetInfo::Passes;

constexpr SheetInfo kSheets[] = {
    {"GEMM", "shapes and types of the matrices and the bias", kOneSheet},
    {"SDPA", "shapes and types of Q, K and V; the causal flag"},
    {"CONV", "shapes of input, filter and bias; stride, padding, dilation, groups"},
    {"InferenceAttention", "shapes of Q and the cache; tokens of the step"},
    {"BinaryElementwise", "shapes and types of both operands", kOneSheet},
    {"GroupedGEMM", "shapes of tokens and expert weights; group sizes where recorded"},
    {"MoE_comm", "shape of the tokens sent or received"},
    {"SSM", "shapes of the sequence and the state"},
    {"RoPE", "shapes of Q, K and the tables of angles"},
    {"CrossEntropy", "shape of the logits"},
    {"UnaryElementwise", "shape and type of the input", kOneSheet},
    {"MoE_fused", "shapes of tokens and expert weights; experts per token"},
    {"MoE_unfused", "shapes of tokens and expert weights; experts per token"},
    {"MoE_aux", "shapes of the router's scores and the tokens"},
    {"RMSNorm", "shape of the input; size of the quantized groups"},
    {"elementwise", "shape and type of the input"},
    {"GroupQuant", "shape of the input; size of the groups"},
    {"FusedRoPE", "shapes of Q, K and the tables of angles"},
    {"CustomCollective", "shape and type of the tensor exchanged"},
    {"mHC", "shapes of the streams and the mixing weights"},
    {"Normalization", "shape of the input; which dimensions or groups", kOneSheet, kReference,
     true},
    {"Reduce", "shape of the input; which dimensions are reduced"},
    // after the reference's
    {"Softmax", "shape and type of the input", kTwoSheets, kExtended},
    {"Indexing", "shapes of the table and the indices", kTwoSheets, kExtended},
    {"Joining", "shapes of the tensors joined", kTwoSheets, kExtended},
    {"Sorting", "shape of the input; number of results", kTwoSheets, kExtended},
    {"Loss", "shapes of prediction and target", kTwoSheets, kExtended},
    {"Pooling", "shape of the input; window, stride, padding", kTwoSheets, kExtended},
    {"RNN", "shapes of the sequence and the weights; hidden size", kTwoSheets, kExtended},
    {"Random", "shape and type of the result", kTwoSheets, kExtended},
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
