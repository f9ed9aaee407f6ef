// diagnosis_words.hpp: the texts of a diagnosis that every document has: terminal, Markdown, HTML.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tracelens/diagnose.hpp>

namespace tracelens {

[[nodiscard]] std::string run_of(const Diagnosis& diagnosis);  // file, GPU, window
[[nodiscard]] std::string gpu_time_of(const Diagnosis& diagnosis);
[[nodiscard]] std::string path_of(const Diagnosis& diagnosis);
// Of a time in the window; none: no steps are known.
[[nodiscard]] std::optional<std::int64_t> per_step_ns(const Diagnosis& diagnosis, std::int64_t ns);
// "saves 12.3 ms (4.1 ms a step)  8.1%  confidence high"
[[nodiscard]] std::string headline(const Diagnosis& diagnosis, const Finding& finding);
[[nodiscard]] std::string place_of(const Evidence& evidence);
[[nodiscard]] std::string text_of(const FindingPlace& place);
[[nodiscard]] std::string estimate_of(const Finding& finding);
[[nodiscard]] std::string check_of(const Finding& finding);  // how to verify
// What was left out, and what all findings save together.
[[nodiscard]] std::string closing_of(const Diagnosis& diagnosis, std::size_t shown);

}  // namespace tracelens
