#include "analysis/page/category_colours.hpp"

#include <array>
#include <utility>

#include "io/text_hash.hpp"

namespace tracelens {
namespace {

constexpr std::pair<std::string_view, std::string_view> kUsual[] = {
    {"GEMM", "#2f7ed8"},      {"SDPA", "#e8710a"},      {"elementwise", "#2ca25f"},
    {"fusion", "#2ca25f"},    {"NORM", "#c2408f"},      {"CONV", "#8a63d2"},
    {"reduce", "#b8860b"},    {"Softmax", "#17a2b8"},   {"MoE", "#d64541"},
    {"Joining", "#7a8b3a"},   {"Indexing", "#5b7083"},  {"Loss", "#a0522d"},
    {"Optimizer", "#4b0082"}, {"Embedding", "#008080"}, {"communication", "#cc3366"},
    {"Triton", "#556b2f"},    {"triton", "#556b2f"},
};
constexpr std::array<std::string_view, 6> kRest = {"#6b8e23", "#9370db", "#cd853f",
                                                   "#20b2aa", "#b0527a", "#708090"};

// What kernels and HLO call the categories of ops; a pass may follow: "attention_bwd".
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"gemm", "GEMM"},
    {"conv", "CONV"},
    {"convolution", "CONV"},
    {"attention", "SDPA"},
    {"normalization", "NORM"},
    {"softmax", "Softmax"},
    {"index", "Indexing"},
    {"optimizer", "Optimizer"},
    {"moe", "MoE"},
    {"Uncategorized Events/XLA", "fusion"}};

}  // namespace

std::string category_name(std::string_view category) {
  const std::size_t end = category.ends_with("_fwd") || category.ends_with("_bwd")
                              ? category.size() - 4
                              : category.size();
  for (const auto& [name, usual] : kOtherNames)
    if (category.substr(0, end) == name) return std::string{usual}.append(category.substr(end));
  return std::string{category};
}

std::string_view category_colour(std::string_view category) {
  const std::string usual = category_name(category);
  for (const auto& [name, colour] : kUsual)
    if (usual.starts_with(name)) return colour;
  return kRest[io::text_hash(category) % kRest.size()];
}

}  // namespace tracelens
