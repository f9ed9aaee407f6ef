#include <fmt/format.h>

#include <algorithm>
#include <tracelens/error.hpp>
#include <tracelens/tree.hpp>
#include <tracelens/tree_text.hpp>

#include "verb.hpp"

namespace tracelens::app {

class TreeVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    input_.declare(flags);
    input_.declare_ops(flags);
    flags.add("--modules", modules_, "Show nn.Modules");
    flags.add("--ops", ops_, "Show ops");
    flags.add("--kernels", kernels_, "Show GPU kernels, copies and fills");
    flags.add("--python", python_, "Show Python frames");
    flags.add("--calls", calls_, "Show runtime calls (launches)");
    flags.add("--depth", options_.depth, "Levels to show").check(count_from(1));
    flags
        .add("--min-us", options_.min_us,
             "Fold what has less GPU time than this many microseconds; with --all, leave it out")
        .check(number_from(0));
    flags.add("--root", options_.root,
              "Regular expression: show only the subtrees whose name it finds");
    flags.add("--all", all_, "Show every call with GPU work, in the order of the calls");
    flags.add("--without-gpu-work", options_.without_gpu_work,
              "Show every call, also those that launched no GPU work");
    const Flag& path =
        flags
            .add("--path", path_,
                 "Show the way from this event (its number in the file) up to the root")
            .check(count_from(0));
    flags.add("-o,--output", output_, "Write the tree to a file: .json, or text otherwise")
        .excludes(path);
    flags.footer(
        "Calls of one name in one place are one line, the costliest first; what is below 1% is "
        "folded.\n"
        "Backward work counts for the module of its forward op. With --all, and in a file, every "
        "call\n"
        "has a line, with the GPU time below it in microseconds. Without a choice of layers, "
        "modules,\n"
        "ops and kernels are shown; traces without Python stacks have no modules.\n"
        "Examples:\n"
        "  tracelens tree trace.json.gz                           what takes the GPU's time\n"
        "  tracelens tree trace.json.gz --modules                 which layer takes the time\n"
        "  tracelens tree trace.json.gz --root 'DecoderLayer_2$' --ops --kernels\n"
        "  tracelens tree trace.json.gz --all                     every call\n"
        "  tracelens tree trace.json.gz --path 18342              where a kernel comes from\n"
        "  tracelens tree trace.json.gz --modules -o tree.json");
  }

  int run(Console& console) override {
    refuse_overwriting({output_}, input_.paths(), {input_.captures()});
    const Trace trace = input_.read_ops(console, true);
    const Tree tree = build_tree(trace, {.python_frames = true});
    const auto print = [&console](std::string_view text) { console.print(text); };
    if (path_) {
      if (*path_ >= trace.size())
        throw Error{"--path", fmt::format("there is no event {}: the trace has {}, numbered from 0",
                                          *path_, trace.size())};
      write_path_text(trace, tree, EventId{static_cast<std::uint32_t>(*path_)}, print);
      return kExitOk;
    }
    options_.layers = layers(console, trace);
    if (output_.empty()) {
      bool anything = false;
      options_.width = console.style().width;
      const bool every_call = all_ || options_.without_gpu_work;
      const auto write = every_call ? write_tree_text : write_tree_summary;
      write(trace, tree, options_, [&](std::string_view text) {
        anything = anything || !text.empty();
        console.print(text);
      });
      if (!anything) console.note("no part of the tree is left by these choices");
      return kExitOk;
    }
    write_tree(trace, tree, options_, output_);
    console.note(fmt::format("wrote {}", output_));
    return kExitOk;
  }

 private:
  TreeLayers layers(const Console& console, const Trace& trace) const {
    const bool none = !modules_ && !ops_ && !kernels_ && !python_ && !calls_;
    if (modules_ && !ops_ && !kernels_ && !has_modules(trace))
      console.warn("the trace has no nn.Modules: record it with with_stack=True");
    // A subtree that was asked for by name begins with that name.
    return {.modules = modules_ || none || !options_.root.empty(),
            .python = python_,
            .ops = ops_ || none,
            // Without ops the calls are all there is above the kernels.
            .calls = calls_ || (none && !has_ops(trace)),
            .gpu = kernels_ || none};
  }

  static bool has_ops(const Trace& trace) {
    return std::ranges::find(trace.categories(), Category::kCpuOp) !=
           std::ranges::end(trace.categories());
  }
  static bool has_modules(const Trace& trace) {
    for (const EventId event : trace.all_events())
      if (trace.category(event) == Category::kPythonFunction && is_module_name(trace.name(event)))
        return true;
    return false;
  }

  TraceInput input_;
  bool modules_ = false, ops_ = false, kernels_ = false, python_ = false, calls_ = false,
       all_ = false;
  TreeTextOptions options_;
  std::optional<std::uint64_t> path_;
  std::string output_;
};

template std::unique_ptr<Verb> make_verb<TreeVerb>();

}  // namespace tracelens::app
