// part_names.hpp: what the files of a split trace are called.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>

#include "report/split/windows.hpp"

namespace tracelens {

// "mixed", "decode", "prefill", or empty for windows that are chosen by number.
[[nodiscard]] std::string_view kind_label(WindowKind kind);

// steps_0032-0063.json.gz, step_0007_decode.json.gz, steady_mixed_0120-0151.json.gz,
// phase_003_decode_0040-0071.json.gz; numbers as wide as those of `total_steps`. `first_step`: of
// the working set in the whole trace; `number`: among all parts.
[[nodiscard]] std::string part_name(const Window& window, std::span<const StepDetails> steps,
                                    std::size_t first_step, std::size_t total_steps,
                                    std::size_t number);

// As the Python TraceLens calls them; `annotation` is that of the only step, `steps` are those of
// the window.
[[nodiscard]] std::string reference_part_name(const Window& window,
                                              std::span<const StepDetails> steps,
                                              std::size_t first_step, std::string_view annotation,
                                              std::string_view trace_path);

// The file name of a trace without .pt.trace, .json.gz and .json, wherever they stand.
[[nodiscard]] std::string trace_stem(std::string_view path);

}  // namespace tracelens
