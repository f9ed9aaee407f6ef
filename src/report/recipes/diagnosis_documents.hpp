// diagnosis_documents.hpp: a diagnosis as each kind of document that is no table.
#pragma once

#include <string>
#include <tracelens/diagnose.hpp>

namespace tracelens {

[[nodiscard]] std::string diagnosis_json(const Diagnosis& diagnosis);
[[nodiscard]] std::string diagnosis_markdown(const Diagnosis& diagnosis);
[[nodiscard]] std::string diagnosis_html(const Diagnosis& diagnosis);

}  // namespace tracelens
