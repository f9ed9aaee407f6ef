#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/replay.hpp>
#include <tracelens/sinks.hpp>
#include <tracelens/version.hpp>

#include "verb.hpp"

namespace tracelens::app {

class ReplayVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    input_.declare(flags);
    input_.declare_captures(flags);  // no pseudo-ops: PyTorch has no function of their names
    flags.add("--top", choice_.top, "The calls that take the most GPU time; by default 20")
        .check(count_from(1));
    flags
        .add("--name", choice_.names,
             "Every call of this op, or of this HLO instruction or opcode; may be repeated")
        .repeatable();
    flags.add("--uid", uids_, "The call with this number in the file (ex_UID); may be repeated")
        .repeatable();
    flags.add("--all-unique", choice_.all_unique, "Every op, also those without GPU work");
    flags.add("--subtree", subtree_, "All that runs below this call, also as one sequence")
        .check(count_from(0));
    flags.add("--module", choice_.module,
              "All that runs below the first nn.Module of this name, also as one sequence");
    flags.add("--no-kernel-names", no_kernel_names_,
              "Leave the names of kernels out of the script, and of what torch.compile made");
    flags.add("-o,--output", output_, "The script to write; with --verify, the table");
    add_csv_raw(flags, csv_raw_);
    flags.add("--ir", ir_, "Write the batched format of the Python TraceLens; needs --schemas");
    flags.add("--schemas", schemas_,
              "Text file with a PyTorch operator per line, as torch._C._jit_get_all_schemas() "
              "prints them");
    flags
        .add("--gemm-bench", bench_,
             "Print a vendor's benchmark command line for each GEMM; --top counts these")
        .check(one_of({"hipblaslt", "rocblas", "cutlass", "cublaslt"}));
    flags.add("--verify", verify_, "Compare a script's --json results with the trace instead");
    flags.footer(
        "The script needs PyTorch, or for a JAX profile JAX, and nothing else; inputs are random. "
        "It holds\n"
        "names of ops and kernels, shapes, strides, types, scalars and GPU times, and nothing else "
        "of the trace.\n"
        "Instead of a trace it takes a table with the ops' arguments: ops_unique_args.csv or a "
        "report.xlsx.\n"
        "Examples:\n"
        "  tracelens replay trace.json.gz --top 20 -o replay.py\n"
        "  tracelens replay trace.json.gz --name aten::mm --no-kernel-names -o mm.py\n"
        "  python replay.py --kernels --json results.json\n"
        "  tracelens replay trace.json.gz --verify results.json\n"
        "  tracelens replay trace.json.gz --top 5 --gemm-bench hipblaslt\n"
        "  tracelens replay host.xplane.pb --name dot -o dots.py");
  }

  int run(Console& console) override {
    refuse_overwriting({output_, ir_}, {input_.path(), schemas_, verify_}, {input_.captures()});
    if (!verify_.empty()) return verify(console);
    if (output_.empty() && ir_.empty() && bench_.empty())
      throw Error{"replay", "name the script to write with -o replay.py"};
    if (!ir_.empty() && schemas_.empty())
      throw Error{
          "--ir",
          "argument names are not in a trace: give PyTorch's operators with --schemas FILE"};
    const std::string schemas = schemas_.empty() ? "" : read_text_file(schemas_);
    ReplayChoice wanted = choice();
    const std::optional<std::size_t> top = wanted.top;
    if (!bench_.empty()) wanted.top.reset();  // of which it counts GEMMs
    Replay replay = chosen(console, wanted);
    for (const std::string& warning : replay.warnings) console.warn(warning);
    if (replay.is_jax && !(ir_.empty() && bench_.empty()))
      throw Error{input_.path(), "--ir and --gemm-bench are about ops of PyTorch"};
    if (input_.captures().empty() && replay.graph_share > 0.05)
      console.warn(fmt::format(
          "graph launches hold {:.0f}% of the GPU time, their ops unknown: name the traces of their "
          "captures with --capture",
          100 * replay.graph_share));
    if (!bench_.empty()) {
      print_commands(console, replay, top);
      if (top && replay.sequences.empty() && replay.records.size() > *top)
        replay.records.resize(*top);
    }
    if (!output_.empty()) write_script(console, replay);
    if (!ir_.empty()) write_ir(console, replay, schemas);
    return kExitOk;
  }

 private:
  [[nodiscard]] ReplayChoice choice() const {
    ReplayChoice choice = choice_;
    for (const std::int64_t uid : uids_) {
      if (uid < 0) throw Error{"--uid", "numbers begin at 0"};
      choice.uids.push_back(static_cast<std::uint64_t>(uid));
    }
    if (subtree_) choice.subtree = static_cast<std::uint64_t>(*subtree_);
    const bool is_told = choice.all_unique || choice.subtree || !choice.names.empty() ||
                         !choice.uids.empty() || !choice.module.empty();
    if (!choice.top && !is_told) choice.top = 20;
    return choice;
  }

  [[nodiscard]] Replay chosen(Console& console, const ReplayChoice& wanted) const {
    if (!is_replay_sheet(input_.path()))
      return choose_replay(input_.read_stitched(console, !choice_.module.empty()), wanted);
    if (!input_.captures().empty())
      throw Error{"--capture", "a table has no graph launches to fill in: it needs the trace"};
    return choose_replay_from_sheet(input_.path(), wanted);
  }

  // Many records lie beside the script, in a file of their own.
  void write_script(const Console& console, const Replay& replay) const {
    ReplayScriptOptions options{.kernel_names = !no_kernel_names_, .date = today()};
    const std::string data = replay_data(replay, options.kernel_names);
    std::string where = output_;
    if (data.size() > kMaxDataInScript) {
      const std::filesystem::path script{output_};
      const std::filesystem::path file =
          script.parent_path() / (script.stem().string() + "_records.json");
      refuse_overwriting({file.string()}, {input_.path(), output_});
      options.data_file = file.filename().string();
      write_text_file(file.string(), data);
      where += fmt::format(" and {}, which belong together", file.string());
    }
    write_text_file(output_, replay_script(replay, options));
    console.note(fmt::format("wrote {} op{} to {}", replay.records.size(),
                             replay.records.size() == 1 ? "" : "s", where));
  }

  int verify(Console& console) const {
    const std::string results = read_text_file(verify_);
    const Trace trace = input_.read_stitched(console, !choice_.module.empty());
    const Table table = verify_replay(trace, results, verify_);
    if (!output_.empty())
      write_tables({&table, 1}, output_,
                   {.title = table.description(),
                    .source = {trace.source().name},
                    .version = kVersion,
                    .csv_raw = csv_raw_});
    console.show(table, 0);
    console.print(verify_summary(table) + "\n");
    return kExitOk;
  }

  void write_ir(const Console& console, const Replay& replay, const std::string& schemas) const {
    std::vector<std::string> left_out;
    write_text_file(ir_, replay_ir(replay, schemas, left_out));
    console.note(fmt::format("wrote {} ops to {}", replay.records.size() - left_out.size(), ir_));
    if (!left_out.empty())
      console.warn(fmt::format(
          "{} ops fit no schema and were left out: {}{}", left_out.size(),
          fmt::join(left_out.begin(),
                    left_out.begin() + std::min<std::ptrdiff_t>(5, std::ssize(left_out)), ", "),
          left_out.size() > 5 ? ", ..." : ""));
  }

  // For all GEMMs among the ops, or the costliest of them.
  void print_commands(const Console& console, const Replay& replay,
                      std::optional<std::size_t> top) const {
    const GemmBench bench = bench_ == "hipblaslt" ? GemmBench::kHipblaslt
                            : bench_ == "rocblas" ? GemmBench::kRocblas
                            : bench_ == "cutlass" ? GemmBench::kCutlass
                                                  : GemmBench::kCublaslt;
    const std::vector<std::string> commands = gemm_bench_commands(replay, bench);
    const std::size_t printed = std::min(top.value_or(commands.size()), commands.size());
    for (std::size_t i = 0; i < printed; ++i) console.print(commands[i] + "\n");
    if (top && printed == *top) return;
    if (const std::size_t others = replay.records.size() - commands.size(); others > 0)
      console.note(fmt::format("{} of the {} ops {} no GEMM for which there is such a line", others,
                               replay.records.size(), others == 1 ? "is" : "are"));
  }

  static std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

  TraceInput input_;
  ReplayChoice choice_;
  std::vector<std::int64_t> uids_;
  std::optional<std::int64_t> subtree_;
  std::string output_, ir_, schemas_, bench_, verify_;
  bool no_kernel_names_ = false, csv_raw_ = false;
};

template std::unique_ptr<Verb> make_verb<ReplayVerb>();

}  // namespace tracelens::app
