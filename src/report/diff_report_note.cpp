#include "report/diff_report_note.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "analysis/timeline.hpp"
#include "table/cell_text.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kEvidenceRows = 10, kLongestName = 90;
// Properties that say something about the file, not about the run.
constexpr std::string_view kOfTheFile[] = {"packing",       "size",     "packed size", "events",
                                           "schemaVersion", "trace_id", "traceName"};

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

// A name as code inside a table row.
std::string quoted(const std::string& name) {
  std::string text = shorten(single_line(name), kLongestName);
  std::ranges::replace(text, '|', '/');
  std::ranges::replace(text, '`', '\'');
  return "`" + text + "`";
}

std::string op_text(const OpChange& change) {
  return change.dims.empty() ? quoted(change.name)
                             : quoted(change.name) + " " + quoted(change.dims);
}

std::string percent_text(std::int64_t difference_ns, std::int64_t base_ns) {
  if (base_ns == 0) return "new";
  return fmt::format("{:+.1f}%",
                     100 * static_cast<double>(difference_ns) / static_cast<double>(base_ns));
}

std::string change_sentence(const OpChange& change) {
  return fmt::format("{} went from {:.3f} to {:.3f} ms ({:+.3f} ms, {})", op_text(change),
                     ms(change.ns[0]), ms(change.ns[1]), ms(change.difference_ns()),
                     percent_text(change.difference_ns(), change.ns[0]));
}

std::string exchange_text(const Substitution& exchange) {
  const auto side = [](const std::string& ops) { return ops.empty() ? "nothing" : quoted(ops); };
  return fmt::format("Below {}, {} became {}", quoted(exchange.where), side(exchange.gone),
                     side(exchange.come));
}

class NoteWriter {
 public:
  explicit NoteWriter(const DiffNote& note)
      : note_{note},
        timelines_{times_of(note.trace1, note.tree1), times_of(note.trace2, note.tree2)} {}

  std::string write() {
    out_ = "# Performance note: what changed\n";
    write_headline();
    write_runs();
    write_timeline();
    write_evidence();
    write_exchanges();
    write_confidence();
    write_next();
    return std::move(out_);
  }

 private:
  using Times = std::map<std::string, double>;  // rows of gpu_timeline, in ms

  static Times times_of(const Trace& trace, const Tree& tree) {
    const Timeline timeline = gpu_timeline(trace, tree, {});
    Times times;
    const Table::Column &types = timeline.table.column("type"),
                        &values = timeline.table.column("time ms");
    for (std::size_t row = 0; row < timeline.table.rows(); ++row)
      if (!values.is_missing(row)) times[types.texts()[row]] = values.reals()[row];
    return times;
  }
  [[nodiscard]] double time(std::size_t side, const std::string& type) const {
    const auto found = timelines_[side].find(type);
    return found == timelines_[side].end() ? 0 : found->second;
  }
  [[nodiscard]] bool is_real(const OpChange& change) const {
    return change.verdict != ChangeVerdict::kNoise && change.difference_ns() != 0;
  }
  // The largest change in one direction that is no noise; changes are sorted by size. An op that
  // only one run has is no improvement or regression of its own where it was exchanged for others.
  [[nodiscard]] const OpChange* largest(bool slower) const {
    const auto found = std::ranges::find_if(note_.changes, [&](const OpChange& change) {
      const bool exchanged =
          !note_.exchanges.empty() && (change.calls[0] == 0 || change.calls[1] == 0);
      return is_real(change) && !exchanged && (change.difference_ns() > 0) == slower;
    });
    return found == note_.changes.end() ? nullptr : &*found;
  }
  [[nodiscard]] const Substitution* largest_exchange(bool slower) const {
    const auto found = std::ranges::find_if(note_.exchanges, [&](const Substitution& each) {
      return slower ? each.difference_ns() > 0 : each.difference_ns() < 0;
    });
    return found == note_.exchanges.end() ? nullptr : &*found;
  }
  // What a headline says of one direction; empty when nothing changed that way.
  [[nodiscard]] std::string largest_text(bool slower) const {
    const OpChange* const op = largest(slower);
    const Substitution* const exchange = largest_exchange(slower);
    if (exchange == nullptr) return op == nullptr ? "" : change_sentence(*op);
    if (op != nullptr && std::abs(op->difference_ns()) >= std::abs(exchange->difference_ns()))
      return change_sentence(*op);
    return fmt::format("{}: {:.3f} to {:.3f} ms ({:+.3f} ms, {})", exchange_text(*exchange),
                       ms(exchange->ns[0]), ms(exchange->ns[1]), ms(exchange->difference_ns()),
                       percent_text(exchange->difference_ns(), exchange->ns[0]));
  }

  void write_headline() {
    std::int64_t ns[2] = {0, 0};
    for (const OpChange& change : note_.changes)
      for (const std::size_t side : {0U, 1U}) ns[side] += change.ns[side];
    out_ +=
        fmt::format("\nGPU work of all ops: {:.3f} ms before, {:.3f} ms after ({:+.3f} ms, {}).\n",
                    ms(ns[0]), ms(ns[1]), ms(ns[1] - ns[0]), percent_text(ns[1] - ns[0], ns[0]));
    const std::string worse = largest_text(true), better = largest_text(false);
    if (worse.empty() && better.empty()) {
      out_ += "\n**No op changed by more than the noise.**\n";
      return;
    }
    out_ += '\n';
    if (!better.empty()) out_ += fmt::format("- **Biggest improvement:** {}\n", better);
    if (!worse.empty()) out_ += fmt::format("- **Biggest regression:** {}\n", worse);
  }

  // Property, value of both runs; where they differ the row says so.
  void write_runs() {
    std::vector<std::string> order;
    std::map<std::string, std::array<std::string, 2>> values;
    const auto add = [&](std::size_t side, const std::string& property, const std::string& value) {
      const auto [entry, is_new] = values.try_emplace(property);
      if (is_new) order.push_back(property);
      entry->second[side] = value;
    };
    for (const std::size_t side : {0U, 1U}) {
      const Trace& trace = side == 0 ? note_.trace1 : note_.trace2;
      for (const Table& table : trace_info(trace, side == 0 ? note_.tree1 : note_.tree2)) {
        if (table.name() == "trace")
          for (std::size_t row = 0; row < table.rows(); ++row)
            if (const std::string& property = table.columns()[0].texts()[row];
                std::ranges::find(kOfTheFile, property) == std::end(kOfTheFile))
              add(side, property, table.columns()[1].texts()[row]);
        if (table.name() == "devices" && table.rows() > 0)
          add(side, "GPU",
              fmt::format("{} x {}", table.rows(), plain_text(table.column("name"), 0)));
      }
      add(side, "steps", std::to_string(note_.steps[side]));
      add(side, "bottleneck", bottleneck(side));
    }
    out_ += "\n## The two runs\n\n| | before | after | |\n| --- | --- | --- | --- |\n";
    for (const std::string& property : order) {
      const auto& [first, second] = values[property];
      out_ += fmt::format("| {} | {} | {} | {} |\n", property, cell(first), cell(second),
                          first == second ? "" : "differs");
    }
  }
  static std::string cell(const std::string& text) {
    std::string line = shorten(single_line(text), kLongestName);
    std::ranges::replace(line, '|', '/');
    return line.empty() ? "-" : line;
  }

  // Where the time of a run goes, and its most expensive op.
  [[nodiscard]] std::string bottleneck(std::size_t side) const {
    const double total = time(side, "total_time");
    if (total <= 0) return "no GPU work";
    const double idle = time(side, "idle_time") / total,
                 comm = time(side, "exposed_comm_time") / total;
    const auto* top =
        std::ranges::max_element(note_.changes.data(), note_.changes.data() + note_.changes.size(),
                                 {}, [side](const OpChange& change) { return change.ns[side]; });
    const bool has_op = !note_.changes.empty() && top->ns[side] > 0;
    const std::string op =
        has_op ? fmt::format("; costliest op {}, {:.3f} ms", top->name, ms(top->ns[side])) : "";
    if (idle > 0.3) return fmt::format("the GPU idles {:.0f}% of the time{}", 100 * idle, op);
    if (comm > 0.2)
      return fmt::format("communication is exposed {:.0f}% of the time{}", 100 * comm, op);
    return fmt::format("computation, {:.0f}% of the time{}",
                       100 * time(side, "computation_time") / total, op);
  }

  void write_timeline() {
    out_ +=
        "\n## GPU timeline\n\n| | before (ms) | after (ms) | change (ms) | change |\n"
        "| --- | ---: | ---: | ---: | ---: |\n";
    for (const char* type : {"total_time", "busy_time", "computation_time", "exposed_comm_time",
                             "exposed_memcpy_time", "idle_time"}) {
      const double a = time(0, type), b = time(1, type);
      out_ += fmt::format("| {} | {:.3f} | {:.3f} | {:+.3f} | {} |\n", type, a, b, b - a,
                          a > 0 ? fmt::format("{:+.1f}%", 100 * (b - a) / a) : std::string{"-"});
    }
  }

  void write_evidence() {
    out_ +=
        "\n## Ops that changed most\n\n"
        "| op | calls | before (ms) | after (ms) | change (ms) | change | verdict |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n";
    for (const OpChange& change :
         note_.changes.first(std::min(kEvidenceRows, note_.changes.size())))
      out_ += fmt::format("| {} | {} / {} | {:.3f} | {:.3f} | {:+.3f} | {} | {} |\n",
                          op_text(change), change.calls[0], change.calls[1], ms(change.ns[0]),
                          ms(change.ns[1]), ms(change.difference_ns()),
                          percent_text(change.difference_ns(), change.ns[0]),
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
    out_ += fmt::format("- {:.1f}% of the GPU time belongs to ops that both runs have.\n",
                        100 * note_.matched_share);
    if (note_.steps[0] >= 3 && note_.steps[1] >= 3) {
      const auto noise =
          std::ranges::count(note_.changes, ChangeVerdict::kNoise, &OpChange::verdict);
      out_ += fmt::format(
          "- {} and {} steps: {} of {} ops are called noise: the means of their steps differ by "
          "less "
          "than {}%, or not significantly (Welch's t-test, 99.9%).\n",
          note_.steps[0], note_.steps[1], noise, note_.changes.size(), kRunToRunPercent);
    } else {
      out_ += "- Too few steps are marked to tell change from noise: at least three in each run.\n";
    }
    if (note_.steps[0] != note_.steps[1])
      out_ +=
          "- The runs have different numbers of steps, so totals differ for that reason too; "
          "compare the means per step in `ops_diff`.\n";
  }

  void write_next() {
    out_ += "\n## Next experiment\n\n";
    const OpChange* const worse = largest(true);
    const Substitution* const exchange = largest_exchange(true);
    if (note_.matched_share < 0.5)
      out_ +=
          "- The call trees have little in common: compare by category instead, with `tracelens "
          "compare`.\n";
    else if (note_.steps[0] < 3 || note_.steps[1] < 3)
      out_ += "- Record at least three steps of each with `profiler.step()`, and compare again.\n";
    const double idle = time(1, "idle_time") - time(0, "idle_time");
    const std::int64_t most = std::max(worse == nullptr ? 0 : worse->difference_ns(),
                                       exchange == nullptr ? 0 : exchange->difference_ns());
    if (most > 0 && idle * 1e6 > static_cast<double>(most))
      out_ +=
          "- Idle time grew more than any op: look at what the host did, with `tracelens report` "
          "and its table `gpu_idle_host`.\n";
    if (worse == nullptr && exchange == nullptr) {
      out_ += "- No op got slower; look at idle time and at the host.\n";
      return;
    }
    if (exchange != nullptr &&
        (worse == nullptr || exchange->difference_ns() >= worse->difference_ns()))
      out_ += fmt::format(
          "- Find out what chose {}: a library version, a flag, a dispatch rule; set it back and "
          "record again.\n",
          quoted(exchange->come.empty() ? exchange->where : exchange->come));
    else
      out_ +=
          fmt::format("- Time {} alone, with the same shapes, on both setups.\n", op_text(*worse));
  }

  const DiffNote& note_;
  std::array<Times, 2> timelines_;
  std::string out_;
};

}  // namespace

std::string diff_note(const DiffNote& note) { return NoteWriter{note}.write(); }

}  // namespace tracelens
