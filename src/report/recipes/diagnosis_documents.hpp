// diagnosis_documents.hpp: a diagnosis as each kind of document.
#pragma once

#include <span>
#include <string>
#include <tracelens/diagnose.hpp>
#include <tracelens/table.hpp>

namespace tracelens {

[[nodiscard]] std::string diagnosis_json(const Diagnosis& diagnosis);
[[nodiscard]] std::string diagnosis_markdown(const Diagnosis& diagnosis);
[[nodiscard]] std::string diagnosis_html(const Diagnosis& diagnosis);

// trace_quality, also of a page that shows findings.
[[nodiscard]] Table quality_table(std::span<const QualityNote> notes);

}  // namespace tracelens
