#include "analysis/page/category_colours.hpp"

#include <array>
#include <utility>

#include "io/text_hash.hpp"

namespace tracelens {
namespace {

constexpr std::pair<std::string_view, std::string_view> kUsual[] = {
    {"GEMM", "#2f7ed8"},          {"gemm", "#2f7ed8"},          {"SDPA", "#e8710a"},
    {"attention", "#e8710a"},     {"elementwise", "#2ca25f"},   {"fusion", "#2ca25f"},
    {"NORM", "#c2408f"},          {"normalization", "#c2408f"}, {"CONV", "#8a63d2"},
    {"conv", "#8a63d2"},          {"reduce", "#b8860b"},        {"Softmax", "#17a2b8"},
    {"softmax", "#17a2b8"},       {"MoE", "#d64541"},           {"moe", "#d64541"},
    {"Joining", "#7a8b3a"},       {"Indexing", "#5b7083"},      {"Loss", "#a0522d"},
    {"Optimizer", "#4b0082"},     {"optimizer", "#4b0082"},     {"Embedding", "#008080"},
    {"communication", "#cc3366"}, {"Triton", "#556b2f"},        {"triton", "#556b2f"},
};
constexpr std::array<std::string_view, 6> kRest = {"#6b8e23", "#9370db", "#cd853f",
                                                   "#20b2aa", "#b0527a", "#708090"};

}  // namespace

std::string_view category_colour(std::string_view category) {
  for (const auto& [name, colour] : kUsual)
    if (category.starts_with(name)) return colour;
  return kRest[io::text_hash(category) % kRest.size()];
}

}  // namespace tracelens
