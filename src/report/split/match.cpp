// Which parts of two traces can be compared: those that work on the same kind of requests.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <tracelens/error.hpp>
#include <tracelens/split.hpp>

#include "report/sinks/output_folder.hpp"
#include "report/sinks/sinks.hpp"
#include "report/split/blocks.hpp"
#include "report/split/step_text.hpp"

namespace tracelens {
namespace {

Table new_matches_table() {
  const ColumnSpec columns[] = {
      {"phase", Kind::kText, "", "what the steps do: prefill, decode, or both (mixed)"},
      {"trace", Kind::kText, "", "A, the first trace, or B, the other"},
      {"file", Kind::kText, "", "name of the part in the folder"},
      {"first step", Kind::kInteger, "id", "number of its first step in the whole run, from 0"},
      {"steps", Kind::kInteger, "", "steps in it"},
      {"run steps", Kind::kInteger, "", "steps of the run of this phase that it is cut from"},
      {"context requests", Kind::kReal, "", "requests being prefilled, per step"},
      {"generation requests", Kind::kReal, "", "requests being decoded, per step"},
      {"context tokens", Kind::kReal, "", "tokens of the former, per step"},
      {"generation tokens", Kind::kReal, "", "tokens of the latter, per step"},
      {"context keys", Kind::kReal, "", "keys the former attend to, per step"},
      {"generation keys", Kind::kReal, "", "keys the latter attend to, per step"},
      {"tokens apart", Kind::kReal, "", "difference between the two in tokens, mean of the steps"},
  };
  return {"matches", "Windows of two traces that work on the most similar requests", columns};
}

// One of the two traces.
class Side {
 public:
  Side(char letter, const std::string& trace, const MatchOptions& options)
      : letter_{letter},
        text_{trace, {.threads = options.threads, .on_progress = options.on_progress}} {
    for (const StepRoot& step : text_.steps())
      steps_.push_back(parse_step_annotation(step.name).value_or(StepAnnotation{}));
    if (steps_.empty()) throw Error{trace, "no steps: expected annotations of a serving engine"};
    blocks_ = find_blocks(steps_, options.steps);
  }

  [[nodiscard]] std::span<const StepAnnotation> steps() const { return steps_; }
  [[nodiscard]] std::span<const Block> blocks() const { return blocks_; }
  [[nodiscard]] StepText& text() { return text_; }
  [[nodiscard]] std::span<StepText::Part> parts() { return parts_; }

  // Plans a part of the block, and describes it in a row of the table.
  void take(std::size_t index, double tokens_apart, Table& matches) {
    const Block& block = blocks_[index];
    StepText::Part part;
    part.name = fmt::format("match_{}_{}_{:04}-{:04}.json.gz", phase_name(block.phase), letter_,
                            block.first, block.first + block.steps - 1);
    part.steps.resize(block.steps);
    std::iota(part.steps.begin(), part.steps.end(), static_cast<std::uint32_t>(block.first));
    const auto mean = [&](auto&& value) {
      double sum = 0;
      for (const std::uint32_t step : part.steps) sum += static_cast<double>(value(steps_[step]));
      return sum / static_cast<double>(part.steps.size());
    };
    using S = StepAnnotation;
    matches.add_row(phase_name(block.phase), std::string{letter_}, part.name, block.first,
                    block.steps, block.run_steps,
                    mean([](const S& step) { return step.context_requests; }),
                    mean([](const S& step) { return step.generation_requests; }),
                    mean([](const S& step) { return step.tokens.context.sq; }),
                    mean([](const S& step) { return step.tokens.generation.sq; }),
                    mean([](const S& step) { return step.tokens.context.sk; }),
                    mean([](const S& step) { return step.tokens.generation.sk; }), tokens_apart);
    parts_.push_back(std::move(part));
  }

 private:
  char letter_;
  StepText text_;
  std::vector<StepAnnotation> steps_;
  std::vector<Block> blocks_;
  std::vector<StepText::Part> parts_;
};

}  // namespace

MatchResult match_traces(const std::string& trace_a, const std::string& trace_b,
                         const std::string& folder, const MatchOptions& options) {
  MatchResult result{.matches = new_matches_table()};
  Side a{'A', trace_a, options}, b{'B', trace_b, options};
  for (Side* const side : {&a, &b})
    result.notes.insert(result.notes.end(), side->text().warnings().begin(),
                        side->text().warnings().end());
  for (const ServingPhase phase :
       {ServingPhase::kPrefill, ServingPhase::kMixed, ServingPhase::kDecode}) {
    const auto match = best_match(phase, a.steps(), a.blocks(), b.steps(), b.blocks());
    if (!match) {
      const auto count = [&](const Side& side) {
        return std::ranges::count(side.blocks(), phase, &Block::phase);
      };
      result.notes.push_back(fmt::format(
          "{}: no two windows of equal length with detailed annotations (A has {}, B {} windows{})",
          phase_name(phase), count(a), count(b),
          phase == ServingPhase::kDecode ? "; a single step that decodes makes none" : ""));
      continue;
    }
    // Of decoding the query tokens come first, of the others they are the last two.
    const std::vector<double>& apart = match->distance;
    const double tokens = phase == ServingPhase::kDecode ? apart[0] : apart[2] + apart[3];
    a.take(match->a, tokens, result.matches);
    b.take(match->b, tokens, result.matches);
  }
  if (a.parts().empty()) return result;
  const std::filesystem::path where{folder};
  for (Side* const side : {&a, &b}) side->text().check_outputs(side->parts(), where);
  OutputFolder out{folder, Edition::kExtended};
  for (Side* const side : {&a, &b})
    std::ranges::move(side->text().copy(side->parts(), out), std::back_inserter(result.notes));
  for (std::size_t i = 0; i < a.parts().size(); ++i)
    for (Side* const side : {&a, &b})
      result.files.push_back((where / side->parts()[i].name).string());
  out.keep(
      write_csv(result.matches, out.make("matches.csv"), CsvTexts::kGuarded).of("matches.csv"));
  out.finish();
  return result;
}

}  // namespace tracelens
