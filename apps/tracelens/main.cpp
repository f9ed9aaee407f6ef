// tracelens <verb>: picks the verb and turns errors into exit statuses. See docs/ for each verb.
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/version.hpp>
#include <utility>
#include <vector>

#include "compat.hpp"
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
    {"roofline", "How close each op comes to the limits of the GPU, as a picture and a table",
     make_roofline_verb},
    {"model", "What an op has to compute and move, and the best possible time, without a trace",
     make_model_verb},
    {"collectives", "Many ranks: who waits for whom, and what communication costs",
     make_collectives_verb},
    {"fuse", "The traces of many ranks as one file for a trace viewer", make_fuse_verb},
    {"compare", "What changed between runs: reports or traces side by side, with gates for CI",
     make_compare_verb},
    {"diff", "Two traces aligned call by call: what changed, what took the place of what",
     make_diff_verb},
    {"tree", "The call tree with GPU time: modules, ops, kernels", make_tree_verb},
    {"info", "What is in a trace: GPUs, threads, steps, counts", make_info_verb},
    {"check", "Is a trace good enough to analyse, and what is missing", make_check_verb},
    {"convert", "Any trace as Chrome JSON, for Perfetto and chrome://tracing", make_convert_verb},
};

class Program {
 public:
  Program() {
    app_.set_version_flag("--version", kVersion);
    app_.require_subcommand(1);
    app_.fallthrough();
    app_.add_flag("-q,--quiet", console_.quiet,
                  "Print no tables, notes or warnings: only errors and what -o asks for");
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
    compat_ =
        app_.add_subcommand("compat", "Run as a script of the Python TraceLens, with its flags");
    compat_->add_option("script", "Name of the script; its own flags follow");
    compat_->footer(fmt::format("Scripts: {}", fmt::join(compat_scripts(), ", ")));
    app_.footer(
        "Examples:\n"
        "  tracelens report trace.json.gz\n"
        "  tracelens tree trace.json.gz --modules\n"
        "  tracelens check trace.json.gz\n"
        "`tracelens <verb> --help` explains a verb. Exit status: 0 fine, 1 a check failed,\n"
        "2 bad usage or input, 3 a bug in TraceLens.");
  }

  int run(int argc, char** argv) {
    const int status = run_verb(argc, argv);
    if (console_.flush()) return status;
    console_.error("standard output: cannot be written");
    return status == kExitOk ? kExitBadInput : status;
  }

 private:
  int run_verb(int argc, char** argv) {
    try {
      if (const auto script = script_of(argc, argv)) return run_compat(*script);
      app_.parse(argc, argv);
      if (compat_->parsed())
        throw Error{"compat", fmt::format("expected the name of a script: {}",
                                          fmt::join(compat_scripts(), ", "))};
      if (completion_->parsed()) {
        console_.print(completion_script(app_, shell_));
        return kExitOk;
      }
      for (const auto& [command, verb] : verbs_)
        if (command->parsed()) return verb->run(console_);
      return kExitBadInput;
    } catch (const CLI::Success& asked) {  // --help, --version
      return app_.exit(asked);
    } catch (const CLI::RequiredError& error) {
      console_.error(app_.get_subcommands().empty() ? no_verb(argc, argv)
                                                    : fmt::format("{} (try --help)", error.what()));
      return kExitBadInput;
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

  static std::string no_verb(int argc, char** argv) {
    std::vector<std::string_view> verbs;
    for (const VerbKind& kind : kVerbs) verbs.emplace_back(kind.name);
    verbs.insert(verbs.end(), {"compat", "completion"});
    for (const std::string_view word : std::span{argv, static_cast<std::size_t>(argc)}.subspan(1))
      if (!word.starts_with('-'))
        return fmt::format("there is no verb {}; expected one of {} (try --help)", word,
                           fmt::join(verbs, ", "));
    return fmt::format("expected a verb: {} (try --help)", fmt::join(verbs, ", "));
  }

  struct Script {
    std::string_view name;
    std::vector<std::string> arguments;
  };
  // Called by the name of a script of the Python TraceLens, the program is that script; so it is as
  // `tracelens compat <script> ...`. Looked at before our own flags, because a script has others.
  static std::optional<Script> script_of(int argc, char** argv) {
    const std::vector<std::string> words{argv, argv + argc};
    const bool by_verb = words.size() > 2 && words[1] == "compat";
    const std::size_t at = by_verb ? 2 : 0;
    const auto scripts = compat_scripts();
    const auto found = std::ranges::find(scripts, words[at].substr(words[at].rfind('/') + 1));
    if (found == scripts.end()) return std::nullopt;
    return Script{*found, {words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end()}};
  }
  int run_compat(const Script& script) {
    return app::run_compat(script.name, script.arguments, console_);
  }

  CLI::App app_{"TraceLens: where the time of a training or serving job went, from its trace.",
                "tracelens"};
  Console console_;
  std::vector<std::pair<CLI::App*, std::unique_ptr<Verb>>> verbs_;
  CLI::App *completion_ = nullptr, *compat_ = nullptr;
  std::string shell_;
};

}  // namespace
}  // namespace tracelens::app

int main(int argc, char** argv) {
#ifdef M_ARENA_MAX
  // One heap for all threads: what the readers' threads have freed serves the analyses. They ask
  // for large blocks and seldom, so they do not get in each other's way; a tenth less peak memory.
  mallopt(M_ARENA_MAX, 1);
#endif
  return tracelens::app::Program{}.run(argc, argv);
}
