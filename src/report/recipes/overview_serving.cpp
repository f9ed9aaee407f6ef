// What the first screen says about the steps of a serving engine.
#include <fmt/format.h>

#include <cmath>

#include "report/recipes/overview_parts.hpp"

namespace tracelens {

std::vector<std::string> serving_texts(const Table& phases) {
  std::vector<std::string> parts, texts(1);
  std::string decode;
  for (std::size_t row = 0; row < phases.rows(); ++row) {
    const std::string phase = text_at(phases, "phase", row);
    const auto number = [&](std::string_view column) { return number_at(phases, column, row); };
    const double steps = number("steps").value_or(0);
    const double share = number("percent of GPU busy").value_or(0);
    if (phase == "all") {
      texts.front() = fmt::format("{:.0f} serving step{}: {} of GPU time)", steps,
                                  steps == 1 ? "" : "s", fmt::join(parts, "), "));
      if (const auto rate = number("output tokens/s"); rate && *rate > 0)
        texts.push_back(fmt::format("{:.0f} output tokens/s", *rate));
      else if (const auto prompt = number("tokens/s of wall"))
        texts.push_back(fmt::format("{:.0f} prompt tokens/s", *prompt));
      if (const auto wait = number("time per output token ms median"))
        texts.push_back(fmt::format("{} per output token", time_text(std::llround(*wait * 1e6))));
    } else if (phase != "outside") {
      parts.push_back(fmt::format("{:.0f} {} ({:.0f}%", steps, phase, share));
    } else if (share >= 0.5) {
      parts.push_back(fmt::format("outside ({:.0f}%", share));
    }
    if (phase != "decode") continue;
    const std::string bound = text_at(phases, "bound", row);
    if (!bound.empty()) decode = fmt::format("decode is {}-bound", bound);
    if (const auto used = number("MBU %"); used && bound == "memory")
      decode += fmt::format(" at {:.0f}% of the memory's bandwidth", *used);
  }
  if (!decode.empty()) texts.push_back(std::move(decode));
  return texts;
}

}  // namespace tracelens
