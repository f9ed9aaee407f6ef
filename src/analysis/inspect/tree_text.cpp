#include <tracelens/tree_text.hpp>

#include <fmt/format.h>

#include <iterator>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>
#include <tracelens/printed_text.hpp>
#include <tracelens/table_text.hpp>
#include <vector>

#include "analysis/inspect/tree_choice.hpp"
#include "io/numbers.hpp"
#include "io/output_file.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kTimeColumn = 80;  // where the dots end, when the name leaves room
constexpr std::size_t kMinDots = 5;
constexpr std::size_t kFlushBytes = std::size_t{64} << 10;

double gpu_us(const Tree& tree, NodeId node) {
  return static_cast<double>(tree.gpu_sum_ns(node)) / 1e3;
}

// At most `limit` bytes of a name, cut between characters.
std::string_view cut(std::string_view name, std::size_t limit) {
  if (name.size() <= limit) return name;
  while (limit > 0 && (static_cast<unsigned char>(name[limit]) & 0xc0) == 0x80) --limit;
  return name.substr(0, limit);
}

// Beyond it lines stand below each other: a runaway recursion would fill the page with blanks.
constexpr std::size_t kDeepestIndent = 200;

// Calls open(node, depth) for each shown node in tree order and close(node) when all below is done.
template <class Open, class Close>
void walk(const Trace& trace, const Tree& tree, const TreeTextOptions& options, Open&& open,
          Close&& close) {
  const RootPattern root{options.root};
  std::vector<NodeId> above;  // shown nodes that enclose the one at hand
  std::uint32_t root_end = root.takes_all() ? static_cast<std::uint32_t>(tree.size()) : 0;
  for (NodeId node{0}; node.row < tree.size();) {
    while (!above.empty() && tree.end(above.back()) <= node) {
      close(above.back());
      above.pop_back();
    }
    const bool has_work = tree.gpu_count(node) > 0;
    if ((!has_work && !options.without_gpu_work) || gpu_us(tree, node) < options.min_us) {
      node = tree.end(node);  // nothing below has more
      continue;
    }
    if (node.row >= root_end) {  // outside: is this a root?
      if (!root.matches(trace.name(tree.event(node)))) {
        ++node.row;
        continue;
      }
      root_end = tree.end(node).row;
    }
    if (is_shown(trace, tree, node, options.layers)) {
      if (above.size() >= options.depth) {
        node = tree.end(node);
        continue;
      }
      open(node, above.size());
      above.push_back(node);
    }
    ++node.row;
  }
  for (; !above.empty(); above.pop_back()) close(above.back());
}

// Collects pieces so that the sink is called with large ones.
class Buffer {
 public:
  explicit Buffer(const TextSink& sink) : sink_{sink} {}
  std::string& text() {
    if (text_.size() >= kFlushBytes) flush();
    return text_;
  }
  void flush() {
    if (!text_.empty()) sink_(text_);
    text_.clear();
  }

 private:
  const TextSink& sink_;
  std::string text_;
};

}  // namespace

void write_tree_text(const Trace& trace, const Tree& tree, const TreeTextOptions& options,
                     const TextSink& sink) {
  Buffer buffer{sink};
  const auto open = [&](NodeId node, std::size_t depth) {
    const std::string full = single_line(trace.name(tree.event(node)));
    const std::string_view name = cut(full, options.max_name);
    const std::string_view ellipsis = name.size() < full.size() ? ".." : "";
    const std::size_t indent = 2 * std::min<std::size_t>(depth, kDeepestIndent);
    const std::size_t used = indent + name.size() + ellipsis.size() + 2;
    const std::size_t dots = used + kMinDots < kTimeColumn ? kTimeColumn - used : kMinDots;
    fmt::format_to(std::back_inserter(buffer.text()), "{:{}}{}{} {:.>{}} ({:.2f})\n", "", indent,
                   name, ellipsis, "", dots, gpu_us(tree, node));
  };
  walk(trace, tree, options, open, [](NodeId) {});
  buffer.flush();
}

void write_tree_json(const Trace& trace, const Tree& tree, const TreeTextOptions& options,
                     const TextSink& sink) {
  Buffer buffer{sink};
  buffer.text() += "{\"roots\": [";
  bool is_first = true;  // of the list at hand
  const auto open = [&](NodeId node, std::size_t depth) {
    const EventId event = tree.event(node);
    std::string& text = buffer.text();
    if (!is_first) text += ',';
    // Indented by level, but not without end: the file of a deep stack must not grow squarely.
    fmt::format_to(std::back_inserter(text), "\n{:{}}{{\"uid\": {}, \"category\": ", "",
                   2 * std::min<std::size_t>(depth + 1, 40), event.row);
    append_json_text(text, trace.category_text(event));
    text += ", \"name\": ";
    append_json_text(text, trace.name(event));
    fmt::format_to(std::back_inserter(text),
                   ", \"gpu_us\": {}, \"gpu_events\": {}, \"children\": [",
                   io::shortest_double(gpu_us(tree, node)), tree.gpu_count(node));
    is_first = true;
  };
  const auto close = [&](NodeId) {
    buffer.text() += "]}";
    is_first = false;
  };
  walk(trace, tree, options, open, close);
  buffer.text() += "\n]}\n";
  buffer.flush();
}

void write_tree(const Trace& trace, const Tree& tree, const TreeTextOptions& options,
                const std::string& output) {
  io::OutputFile file{output};
  const auto write = output.ends_with(".json") ? write_tree_json : write_tree_text;
  write(trace, tree, options, [&file](std::string_view text) { file.write(text); });
  file.commit();
}

void write_path_text(const Trace& trace, const Tree& tree, EventId event, const TextSink& sink) {
  const auto in_tree = [&](EventId id) { return id.row < trace.size() && tree.node(id).valid(); };
  if (!in_tree(event))
    throw Error{fmt::format("event {}", event.row),
                event.row < trace.size()
                    ? "not in the call tree (unlinked, discarded, or not a call)"
                    : fmt::format("the trace has {} events", trace.size())};
  Buffer buffer{sink};
  const auto climb = [&](EventId from) {  // returns the forward op of the last backward op met
    EventId forward;
    for (NodeId node = tree.node(from); node.valid(); node = tree.parent(node)) {
      const EventId at = tree.event(node);
      fmt::format_to(std::back_inserter(buffer.text()), "{:>10}  {:<16} {} ({:.2f})\n", at.row,
                     single_line(trace.category_text(at)), single_line(trace.name(at)),
                     gpu_us(tree, node));
      if (tree.forward_of(at).valid()) forward = tree.forward_of(at);
    }
    return forward;
  };
  const EventId forward = climb(event);
  if (forward.valid()) {
    buffer.text() += "its forward op:\n";
    if (in_tree(forward)) climb(forward);
  }
  buffer.flush();
}

}  // namespace tracelens
