// diagnosis_documents.hpp: a diagnosis as each kind of document that is no table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tracelens/diagnose.hpp>

namespace tracelens {

inline constexpr std::string_view kVerifyCommand = "tracelens compare OLD NEW";

[[nodiscard]] std::string diagnosis_json(const Diagnosis& diagnosis);
// Its findings alone.
[[nodiscard]] std::string findings_json(std::span<const Finding> findings);
[[nodiscard]] std::string diagnosis_markdown(const Diagnosis& diagnosis);
[[nodiscard]] std::string diagnosis_html(const Diagnosis& diagnosis);

}  // namespace tracelens
