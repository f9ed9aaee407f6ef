// The call tree as people read it: the costliest first, the small ones folded, backward work beside
// the forward work of its module.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <tracelens/table_text.hpp>
#include <utility>

#include "analysis/inspect/tree_summary.hpp"
#include "table/short_names.hpp"
#include "table/utf8.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kSmallPercent = 1;  // of the GPU time; less is folded
constexpr std::size_t kLongestChain = 8;   // ops on one line
constexpr std::size_t kDeepestShown = 16;
constexpr std::string_view kBackwardPrefix = "autograd::engine::evaluate_function: ";

std::string title_of(const Branch& branch) {
  std::string_view name = branch.name;
  if (branch.kind == BranchKind::kModule && branch.modules > 1)
    return fmt::format("{} x {}", branch.modules, single_line(without_instance(name)));
  if (name.starts_with(kBackwardPrefix)) name.remove_prefix(kBackwardPrefix.size());
  std::string title = single_line(name);
  if (branch.kind == BranchKind::kGpu)  // what most kernels of PyTorch begin with tells nothing
    for (const std::string_view noise : {"void ", "at::native::", "(anonymous namespace)::"})
      for (auto at = title.find(noise); at != title.npos; at = title.find(noise, at))
        title.erase(at, noise.size());
  return title;
}

class SummaryWriter {
 public:
  SummaryWriter(const TreeSummary& summary, const TreeTextOptions& options)
      : summary_{summary}, width_{options.width} {
    const std::int64_t top_backward_ns = summary.branches[kTopBranch].backward_ns;
    const bool is_narrow = options.width != 0 && options.width < kWide;
    // An op is the one or the other; where there is little room, its name needs it.
    has_passes_ = top_backward_ns > 0 && !(is_narrow && (options.layers.ops || options.layers.gpu));
    smallest_ns_ = options.min_us > 0
                       ? static_cast<std::int64_t>(std::min(options.min_us, kMostUs) * 1e3)
                       : summary.shown_ns / 100 * kSmallPercent;
    smallest_ = options.min_us > 0 ? fmt::format("{} µs", options.min_us)
                                   : fmt::format("{}%", kSmallPercent);
    time_width_ = std::max<std::size_t>(ms_text(summary.all_ns).size(), 8);
  }

  void write(const TextSink& sink) const {
    sink(fmt::format("GPU time: {} ms in {} kernels, copies and fills, their durations added up\n",
                     ms_text(summary_.all_ns),
                     with_separators(std::to_string(summary_.gpu_events))));
    sink(line({"share", "ms", "forward", "backward", "calls", ""}));
    std::vector<Entry> open;
    add_children(kTopBranch, 0, open);
    bool is_folded = false;
    while (!open.empty()) {
      const Entry entry = open.back();
      open.pop_back();
      is_folded = is_folded || entry.folded > 1;
      sink(line(entry.folded > 1 ? folded_line(entry) : branch_line(entry, open)));
    }
    if (is_folded) sink(fmt::format("Below {} is folded; --all shows every call.\n", smallest_));
  }

 private:
  static constexpr std::size_t kWide = 120;
  static constexpr double kMostUs = 1e15;

  // A line to write: a branch, or two and more that are too small for lines of their own.
  struct Entry {
    std::uint32_t branch = kTopBranch;
    std::size_t indent = 0;
    std::int64_t folded = 0, ns = 0, backward_ns = 0;
    bool is_in_module = false;
    std::string title = {};  // of a kernel: short, but not that of another one beside it
  };
  struct Line {
    std::string share, ms, forward, backward, calls, title;
  };

  [[nodiscard]] std::string ms_text(std::int64_t ns) const {
    constexpr std::int64_t kSecond = 1'000'000'000;
    return with_separators(
        fmt::format("{:.{}f}", static_cast<double>(ns) / 1e6, summary_.all_ns < kSecond ? 3 : 1));
  }

  // Puts the lines below a branch on the stack, the first on top. Where all are small, the branch
  // itself says enough.
  void add_children(std::uint32_t branch, std::size_t indent, std::vector<Entry>& open) const {
    std::vector<Entry> lines;
    std::size_t fold = 0;
    for (const std::uint32_t child : summary_.branches[branch].children) {
      const Branch& each = summary_.branches[child];
      const bool is_heading = branch == kTopBranch && each.kind == BranchKind::kHeading;
      if (each.ns >= smallest_ns_ || is_heading) {
        lines.push_back({.branch = child, .indent = indent});
        continue;
      }
      if (fold == 0) {
        lines.push_back({.branch = child, .indent = indent, .is_in_module = each.is_in_module});
        fold = lines.size();
      }
      Entry& into = lines[fold - 1];
      ++into.folded;
      into.ns = plus_ns(into.ns, each.ns);
      into.backward_ns = plus_ns(into.backward_ns, each.backward_ns);
    }
    if (fold > 0 && branch != kTopBranch) {
      if (lines.size() == 1) return;
      if (lines[fold - 1].ns < smallest_ns_ / 10)
        lines.erase(std::next(lines.begin(), static_cast<std::ptrdiff_t>(fold - 1)));
    }
    shorten_kernels(lines, indent);
    open.insert(open.end(), lines.rbegin(), lines.rend());
  }

  void shorten_kernels(std::vector<Entry>& lines, std::size_t indent) const {
    const std::size_t before = figures_width() + 2 * std::min(indent, kDeepestShown);
    if (width_ <= before) return;
    std::vector<Entry*> kernels;
    std::vector<std::string> names;
    for (Entry& line : lines) {
      const Branch& branch = summary_.branches[line.branch];
      if (branch.kind != BranchKind::kGpu || line.folded > 1) continue;
      kernels.push_back(&line);
      names.push_back(title_of(branch));
    }
    names = short_names(names, width_ - before);
    for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i]->title = std::move(names[i]);
  }

  [[nodiscard]] Line folded_line(const Entry& entry) const {
    return numbers(entry.ns, entry.backward_ns, entry.is_in_module, 0, entry.indent,
                   fmt::format("… {} more", entry.folded));
  }

  // Ops that do nothing but call the next one share a line.
  Line branch_line(const Entry& entry, std::vector<Entry>& open) const {
    const Branch& first = summary_.branches[entry.branch];
    std::string title = entry.title.empty() ? title_of(first) : entry.title, last = title;
    std::uint32_t at = entry.branch;
    for (std::size_t joined = 1; joined < kLongestChain; ++joined) {
      const Branch& branch = summary_.branches[at];
      if (branch.kind != BranchKind::kOp || branch.children.size() != 1) break;
      const Branch& next = summary_.branches[branch.children[0]];
      if (next.kind != BranchKind::kOp || next.ns != branch.ns) break;
      at = branch.children[0];
      if (std::string name = title_of(next); name != last) {
        title += " > " + name;
        last = std::move(name);
      }
    }
    add_children(at, entry.indent + 1, open);
    return numbers(first.ns, first.backward_ns, first.is_in_module, first.calls, entry.indent,
                   title);
  }

  [[nodiscard]] Line numbers(std::int64_t ns, std::int64_t backward_ns, bool is_in_module,
                             std::int64_t calls, std::size_t indent,
                             const std::string& title) const {
    const double all = static_cast<double>(std::max<std::int64_t>(summary_.all_ns, 1));
    const auto pass = [&](std::int64_t part) {
      return is_in_module && part != 0 ? ms_text(part) : std::string{};
    };
    return {fmt::format("{:.1f}%", 100 * static_cast<double>(ns) / all),
            ms_text(ns),
            pass(minus_ns(ns, backward_ns)),
            pass(backward_ns),
            calls > 0 ? with_separators(std::to_string(calls)) : std::string{},
            std::string(2 * std::min(indent, kDeepestShown), ' ') + title};
  }

  [[nodiscard]] std::size_t figures_width() const {
    return line({"", "", "", "", "", "|"}).size() - std::string_view{"|\n"}.size();
  }

  [[nodiscard]] std::string line(const Line& cells) const {
    std::string text = fmt::format("{:>7}{:>{}}", cells.share, cells.ms, time_width_ + 2);
    if (has_passes_)
      text += fmt::format("{:>{}}{:>{}}", cells.forward, time_width_ + 2, cells.backward,
                          time_width_ + 2);
    text += fmt::format("{:>8}  {}", cells.calls, cells.title);
    if (width_ != 0) text = shorten(text, width_);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  }

  const TreeSummary& summary_;
  std::size_t width_ = 0, time_width_ = 0;
  bool has_passes_ = false;
  std::int64_t smallest_ns_ = 0;
  std::string smallest_;
};

}  // namespace

void write_tree_summary(const Trace& trace, const Tree& tree, const TreeTextOptions& options,
                        const TextSink& sink) {
  const TreeSummary summary = summarize_tree(trace, tree, options);
  if (summary.branches[kTopBranch].children.empty()) return;
  SummaryWriter{summary, options}.write(sink);
}

}  // namespace tracelens
