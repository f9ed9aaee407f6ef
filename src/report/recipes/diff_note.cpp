#include "report/recipes/diff_note.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "analysis/diff/findings.hpp"
#include "analysis/kit/cells.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kEnoughSteps = 3;

std::string op_text(const OpChange& change) {
  return change.dims.empty() ? quoted(change.name)
                             : quoted(change.name) + " " + quoted(change.dims);
}

std::string ns_percent(std::int64_t difference_ns, std::int64_t base_ns) {
  return percent_text(ms(difference_ns), ms(base_ns));
}

// "from 2.000 to 3.000 ms (+1.000 ms, +50.0%)"
template <class Change>
std::string went(const Change& change) {
  return fmt::format("from {:.3f} to {:.3f} ms ({:+.3f} ms, {})", ms(change.ns[0]),
                     ms(change.ns[1]), ms(change.difference_ns()),
                     ns_percent(change.difference_ns(), change.ns[0]));
}

std::string exchange_text(const Substitution& exchange) {
  const auto side = [](const std::string& ops) { return ops.empty() ? "nothing" : quoted(ops); };
  return fmt::format("Below {}, {} became {}", quoted(exchange.where), side(exchange.removed),
                     side(exchange.added));
}

const char* level_word(DiffLevel level) {
  return level == DiffLevel::kModule ? "nn.Module" : "user annotation";
}

class NoteWriter {
 public:
  explicit NoteWriter(const DiffNote& note)
      : note_{note}, findings_{note.changes, note.exchanges} {}

  std::string write() {
    out_ = "# Performance note: what changed\n";
    write_headline();
    write_runs();
    out_ += timeline_section(note_.timeline);
    write_level();
    write_evidence();
    write_exchanges();
    write_confidence();
    write_next();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool has_enough_steps() const {
    return note_.steps[0] >= kEnoughSteps && note_.steps[1] >= kEnoughSteps;
  }
  [[nodiscard]] bool has_level() const { return note_.level.level != DiffLevel::kNone; }

  // What a headline says of one direction; empty when nothing notable changed that way.
  [[nodiscard]] std::string largest_text(Direction direction) const {
    const OpChange* const op = findings_.largest(direction);
    const Substitution* const exchange = findings_.largest_exchange(direction);
    const bool is_op =
        op != nullptr && (exchange == nullptr ||
                          std::abs(op->difference_ns()) >= std::abs(exchange->difference_ns()));
    if (is_op) return fmt::format("{} went {}", op_text(*op), went(*op));
    return exchange == nullptr ? ""
                               : fmt::format("{}: {}", exchange_text(*exchange), went(*exchange));
  }

  void write_headline() {
    const std::int64_t before = findings_.gpu_ns(0), after = findings_.gpu_ns(1);
    out_ +=
        fmt::format("\nGPU work of all ops: {:.3f} ms before, {:.3f} ms after ({:+.3f} ms, {}).\n",
                    ms(before), ms(after), ms(after - before), ns_percent(after - before, before));
    const std::string worse = largest_text(Direction::kSlower),
                      better = largest_text(Direction::kFaster);
    if (findings_.is_identical())
      out_ += "\n**Identical:** every op took exactly the same GPU time in both runs.\n";
    else if (worse.empty() && better.empty())
      out_ += has_enough_steps()
                  ? std::string{"\n**No op changed by more than the noise.**\n"}
                  : fmt::format(
                        "\n**Nothing notable changed:** no op by more than {}% of its own "
                        "time and {}% of all GPU time.\n",
                        kRunToRunPercent, kWorthMentioningPercent);
    else
      out_ += '\n';
    if (!better.empty()) out_ += fmt::format("- **Biggest improvement:** {}\n", better);
    if (!worse.empty()) out_ += fmt::format("- **Biggest regression:** {}\n", worse);
    if (has_level()) {
      const LevelChange& change = note_.level.changes.front();
      out_ += fmt::format("- **By {}:** {} went {}\n", level_word(note_.level.level),
                          quoted(change.name), went(change));
    }
  }

  void write_runs() {
    RunProperty steps{"steps", {}}, limits{"bottleneck", {}};
    for (const std::size_t run : {0U, 1U}) {
      steps.second[run] = std::to_string(note_.steps[run]);
      limits.second[run] = bottleneck(note_.timeline, run);
      if (const auto cost = findings_.costliest_op(run))
        limits.second[run] += fmt::format("; costliest op {}, {:.3f} ms", cost->op, ms(cost->ns));
    }
    const RunProperty more[] = {std::move(steps), std::move(limits)};
    out_ += runs_section(note_.runs, more);
  }

  void write_level() {
    if (!has_level()) return;
    const char* const word = level_word(note_.level.level);
    out_ += fmt::format(
        "\n## By {}\n\nThe runs call different ops, so what both have is compared as a whole: the "
        "GPU time inside each {}, forward and backward.\n\n"
        "| {} | calls | before (ms) | after (ms) | change (ms) | change |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n",
        word, word, word);
    std::size_t shown = 0, one_sided = 0;
    for (const LevelChange& change : note_.level.changes) {
      one_sided += change.is_in_both() ? 0 : 1;
      if (!change.is_in_both() || shown++ >= kEvidenceRows) continue;
      out_ +=
          fmt::format("| {} | {} / {} | {:.3f} | {:.3f} | {:+.3f} | {} |\n", quoted(change.name),
                      change.calls[0], change.calls[1], ms(change.ns[0]), ms(change.ns[1]),
                      ms(change.difference_ns()), ns_percent(change.difference_ns(), change.ns[0]));
    }
    if (one_sided > 0)
      out_ += fmt::format(
          "\n{} more are in one run only, see `{}`.\n", one_sided,
          note_.level.level == DiffLevel::kModule ? "modules_diff" : "annotations_diff");
  }

  void write_evidence() {
    const auto is_change = [](const OpChange& change) { return change.difference_ns() != 0; };
    if (std::ranges::none_of(note_.changes, is_change)) return;
    out_ +=
        "\n## Ops that changed most\n\n"
        "| op | calls | before (ms) | after (ms) | change (ms) | change | verdict |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n";
    for (const OpChange& change :
         note_.changes.first(std::min(kEvidenceRows, note_.changes.size())))
      if (is_change(change))
        out_ += fmt::format("| {} | {} / {} | {:.3f} | {:.3f} | {:+.3f} | {} | {} |\n",
                            op_text(change), change.calls[0], change.calls[1], ms(change.ns[0]),
                            ms(change.ns[1]), ms(change.difference_ns()),
                            ns_percent(change.difference_ns(), change.ns[0]),
                            verdict_word(change.verdict));
  }

  void write_exchanges() {
    if (note_.exchanges.empty()) return;
    out_ += "\n## Substitutions\n\n";
    for (const Substitution& each :
         note_.exchanges.first(std::min(kEvidenceRows, note_.exchanges.size())))
      out_ += fmt::format("- {}: {} {}, {:+.3f} ms in total.\n", exchange_text(each), each.count,
                          each.count == 1 ? "time" : "times", ms(each.difference_ns()));
  }

  void write_confidence() {
    out_ += "\n## How sure this is\n\n";
    out_ += fmt::format(
        "- Compared by {}: {:.1f}% of the GPU time belongs to ops that have a counterpart in the "
        "other run.\n",
        has_level() ? fmt::format("op and by {}", level_word(note_.level.level)) : "op",
        100 * common_share(note_.changes));
    if (findings_.is_identical()) {
      out_ += "- Identical to the nanosecond: one recording and itself, or a copy of it.\n";
      return;
    }
    if (has_enough_steps()) {
      const auto noise = std::ranges::count_if(note_.changes, [](const OpChange& change) {
        return change.verdict == ChangeVerdict::kNoise || change.verdict == ChangeVerdict::kSame;
      });
      out_ += fmt::format(
          "- {} and {} steps: {} of {} ops are called noise: the means of their steps differ by "
          "less than {}%, or not significantly (Welch's t-test, 99.9%).\n",
          note_.steps[0], note_.steps[1], noise, note_.changes.size(), kRunToRunPercent);
    } else {
      out_ += fmt::format(
          "- Too few steps are marked to tell change from noise: at least {} in each run. Smaller "
          "changes than {}% of an op or {}% of all GPU time are not called findings.\n",
          kEnoughSteps, kRunToRunPercent, kWorthMentioningPercent);
    }
    if (note_.steps[0] != note_.steps[1])
      out_ +=
          "- The runs have different numbers of steps, so totals differ for that reason too; "
          "compare the means per step in `ops_diff`.\n";
  }

  void write_next() {
    out_ += "\n## Next experiment\n\n";
    if (findings_.is_identical()) {
      out_ += "- Compare with the recording of another run: this pair shows no difference.\n";
      return;
    }
    if (note_.has_little_in_common)
      out_ += has_level() ? fmt::format(
                                "- The ops have little in common: start from the {}s "
                                "above, and look inside the one that changed most.\n",
                                level_word(note_.level.level))
                          : std::string{
                                "- The ops have little in common: compare by category "
                                "instead, with `tracelens compare`.\n"};
    else if (!has_enough_steps())
      out_ += fmt::format("- Record at least three steps of each with `{}`, and compare again.\n",
                          note_.runs.first.kind() == TraceKind::kJax
                              ? "jax.profiler.StepTraceAnnotation"
                              : "profiler.step()");
    const OpChange* const worse = findings_.largest(Direction::kSlower);
    const Substitution* const exchange = findings_.largest_exchange(Direction::kSlower);
    const std::int64_t op_ns = worse == nullptr ? 0 : worse->difference_ns(),
                       exchange_ns = exchange == nullptr ? 0 : exchange->difference_ns();
    const double idle[] = {timeline_ms(note_.timeline, "idle_time", 0),
                           timeline_ms(note_.timeline, "idle_time", 1)};
    if (is_notable(idle[0], idle[1], timeline_ms(note_.timeline, "total_time", 0)) &&
        idle[1] - idle[0] > ms(std::max(op_ns, exchange_ns)))
      out_ +=
          "- Idle time grew more than any op: look at what the host did, with `tracelens report` "
          "and its table `gpu_idle_host`.\n";
    if (exchange != nullptr && exchange_ns >= op_ns)
      out_ += fmt::format(
          "- Find out what chose {}: a library version, a flag, a dispatch rule; set it back and "
          "record again.\n",
          quoted(exchange->added.empty() ? exchange->where : exchange->added));
    else if (worse != nullptr)
      out_ +=
          fmt::format("- Time {} alone, with the same shapes, on both setups.\n", op_text(*worse));
    else
      out_ += "- No op got notably slower; what is left to gain is idle time and the host.\n";
  }

  const DiffNote& note_;
  DiffFindings findings_;
  std::string out_;
};

}  // namespace

std::string diff_note(const DiffNote& note) { return NoteWriter{note}.write(); }

}  // namespace tracelens
