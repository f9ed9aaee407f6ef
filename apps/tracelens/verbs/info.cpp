#include <tracelens/info.hpp>

#include <tracelens/sinks.hpp>
#include <tracelens/tree.hpp>

#include "verb.hpp"

namespace tracelens::app {

class InfoVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    input_.declare(flags);
    input_.declare_command(flags);
    flags.add("-o,--output", output_, "Also write the tables to a file or folder");
    add_csv_raw(flags, csv_raw_);
    flags.footer(
        "Examples:\n"
        "  tracelens info trace.json.gz\n"
        "  tracelens info run_results.db --show-command\n"
        "  tracelens info trace.json.gz -o info.json --quiet");
  }

  int run(Console& console) override {
    refuse_overwriting({output_}, input_.paths());
    if (!output_.empty()) check_sink_for_several(output_);
    const Trace trace = input_.read(console);
    const std::vector<Table> tables =
        trace_info(trace, build_tree(trace, {.python_frames = true, .threads = input_.threads()}));
    if (!output_.empty())
      write_tables(tables, output_,
                   {.title = "What is in " + trace.source().name, .csv_raw = csv_raw_});
    for (const Table& table : tables) console.show(table, kMaxRows);
    return kExitOk;
  }

 private:
  static constexpr std::size_t kMaxRows = 40;
  TraceInput input_;
  std::string output_;
  bool csv_raw_ = false;
};

template std::unique_ptr<Verb> make_verb<InfoVerb>();

}  // namespace tracelens::app
