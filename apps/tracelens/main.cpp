// tracelens <verb>: picks the verb and turns errors into exit statuses. See docs/ for each verb.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <new>
#include <tracelens/error.hpp>
#include <tracelens/version.hpp>
#include <utility>
#include <vector>

#include "verbs.hpp"

namespace tracelens::app {
namespace {

struct VerbKind {
  const char* name;
  const char* description;
  std::unique_ptr<Verb> (*make)();
};

constexpr VerbKind kVerbs[] = {
    {"report", "Where the GPU time went: timeline, idle time, kernels, as tables",
     make_report_verb},
    {"tree", "The call tree with GPU time: modules, ops, kernels", make_tree_verb},
    {"info", "What is in a trace: GPUs, threads, steps, counts", make_info_verb},
    {"check", "Is a trace good enough to analyse, and what is missing", make_check_verb},
};

class Program {
 public:
  Program() {
    app_.set_version_flag("--version", kVersion);
    app_.require_subcommand(1);
    app_.fallthrough();
    app_.add_flag("-q,--quiet", console_.quiet, "Print results and errors only");
    app_.add_flag("-v,--verbose", console_.verbose, "Say more about what is done");
    for (const VerbKind& kind : kVerbs) {
      auto verb = kind.make();
      CLI::App* const command = app_.add_subcommand(kind.name, kind.description);
      verb->declare(*command);
      verbs_.emplace_back(command, std::move(verb));
    }
    completion_ = app_.add_subcommand("completion", "Print a completion script for a shell");
    completion_->add_option("shell", shell_, "bash or zsh")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh"}));
    completion_->footer("Example:\n  source <(tracelens completion bash)");
    app_.footer(
        "Examples:\n"
        "  tracelens report trace.json.gz\n"
        "  tracelens tree trace.json.gz --modules\n"
        "  tracelens check trace.json.gz\n"
        "`tracelens <verb> --help` explains a verb. Exit status: 0 fine, 1 a check failed,\n"
        "2 bad usage or input, 3 a bug in TraceLens.");
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
      if (completion_->parsed()) {
        console_.print(completion_script(app_, shell_));
        return kExitOk;
      }
      for (const auto& [command, verb] : verbs_)
        if (command->parsed()) return verb->run(console_);
      return kExitBadInput;
    } catch (const CLI::Success& asked) {  // --help, --version
      return app_.exit(asked);
    } catch (const CLI::ParseError& error) {
      console_.error(fmt::format("{} (try --help)", error.what()));
      return kExitBadInput;
    } catch (const Error& error) {
      console_.clear_progress();
      console_.error(error.what());
      return kExitBadInput;
    } catch (const std::bad_alloc&) {
      console_.error("not enough memory for this trace");
      return kExitBadInput;
    } catch (const std::exception& error) {
      console_.error(fmt::format("this is a bug in TraceLens: {}", error.what()));
      return kExitBug;
    }
  }

 private:
  CLI::App app_{"TraceLens: where the time of a training or serving job went, from its trace.",
                "tracelens"};
  Console console_;
  std::vector<std::pair<CLI::App*, std::unique_ptr<Verb>>> verbs_;
  CLI::App* completion_ = nullptr;
  std::string shell_;
};

}  // namespace
}  // namespace tracelens::app

int main(int argc, char** argv) { return tracelens::app::Program{}.run(argc, argv); }
