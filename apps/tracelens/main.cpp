// tracelens <verb>: picks the verb and turns errors into exit statuses. See docs/ for each verb.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tracelens/collectives.hpp>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/machine.hpp>
#include <tracelens/near_names.hpp>
#include <tracelens/version.hpp>
#include <utility>
#include <vector>

#include "completion.hpp"
#include "memory_limit.hpp"
#include "scripts/scripts.hpp"
#include "verb.hpp"
#include "verbs.hpp"

namespace tracelens::app {
namespace {

class Program {
 public:
  Program() {
    flags_.add_version(kVersion);
    flags_.add("-q,--quiet", console_.quiet,
               "Print no tables, notes or warnings: only errors and what -o asks for");
    flags_.add("-v,--verbose", console_.verbose, "Say more about what is done");
    flags_
        .add("--max-memory", max_memory_,
             "End the run, with status 2, when it needs more memory than this, such as 512M or 4G; "
             "by default half of the machine's or the container's")
        .check(memory_size());
    for (const VerbKind& kind : all_verbs()) {
      Flags& command = flags_.add_command(kind.name, kind.description);
      verbs_.emplace_back(&command, kind.make()).second->declare(command);
    }
    completion_ = &flags_.add_command("completion", "Print a completion script for a shell");
    completion_->add("shell", shell_, "bash or zsh").required().check(one_of({"bash", "zsh"}));
    completion_->footer("Example:\n  source <(tracelens completion bash)");
    compat_ =
        &flags_.add_command("compat", "Run as a script of the Python TraceLens, with its flags");
    compat_->add("script", "Name of the script; its own flags follow");
    compat_->footer(fmt::format("Scripts: {}", fmt::join(script_names(), ", ")));
    flags_.footer(
        "Examples:\n"
        "  tracelens trace.json.gz                  the same as tracelens report trace.json.gz\n"
        "  tracelens tree trace.json.gz --modules\n"
        "  tracelens check trace.json.gz\n"
        "`tracelens <verb> --help` explains a verb. Exit status: 0 fine, 1 a check failed,\n"
        "2 bad usage or input, 3 a bug in TraceLens.");
  }

  int run(const std::vector<std::string>& words) {
    const int status = run_verb(words);
    if (console_.flush()) return status;
    console_.error("standard output: cannot be written");
    return status == kExitOk ? kExitBadInput : status;
  }

 private:
  int run_verb(const std::vector<std::string>& words) {
    try {
      if (const auto script = script_of(words)) {
        if (const auto text = flags_.parse(script->our_arguments)) {
          console_.print(*text);
          return kExitOk;
        }
        limit_memory(max_memory_);
        return run_script(script->name, script->arguments, console_);
      }
      if (const auto text = flags_.parse(with_verb(words))) {
        console_.print(*text);
        return kExitOk;
      }
      if (flags_.chosen() == compat_)
        throw Error{"compat", fmt::format("expected the name of a script: {}",
                                          fmt::join(script_names(), ", "))};
      if (flags_.chosen() == completion_) {
        console_.print(completion_script(flags_, shell_));
        return kExitOk;
      }
      limit_memory(max_memory_);
      return std::ranges::find(verbs_, flags_.chosen(), &CommandAndVerb::first)
          ->second->run(console_);
    } catch (const NoCommand&) {
      console_.error(no_verb(words));
      return kExitBadInput;
    } catch (const UsageError& error) {
      console_.error(fmt::format("{} (try --help)", error.what()));
      return kExitBadInput;
    } catch (...) {
      return console_.tell_exception();
    }
  }

  // The place of the first word that is neither a flag of ours nor the value of one.
  [[nodiscard]] std::size_t first_word(const std::vector<std::string>& words) const {
    const auto takes_value = [this](const std::string& word) {
      return std::ranges::any_of(flags_.flags(), [&](const Flag& flag) {
        return flag.takes_value() && (std::ranges::count(flag.long_names(), word) > 0 ||
                                      std::ranges::count(flag.short_names(), word) > 0);
      });
    };
    std::size_t at = 1;  // behind the name of the program
    while (at < words.size() && words[at].starts_with('-')) at += takes_value(words[at]) ? 2 : 1;
    return std::min(at, words.size());
  }

  // `tracelens trace.json.gz` is `tracelens report trace.json.gz`.
  [[nodiscard]] std::vector<std::string> with_verb(const std::vector<std::string>& words) const {
    std::vector<std::string> arguments{words.begin() + 1, words.end()};
    const std::size_t at = first_word(words);
    if (at == words.size() || std::ranges::count(verb_names(), words[at]) > 0) return arguments;
    std::error_code error;
    if (std::filesystem::exists(words[at], error) || has_trace_name(words[at]))
      arguments.insert(arguments.begin(), "report");
    return arguments;
  }

  static std::vector<std::string> verb_names() {
    std::vector<std::string> verbs;
    for (const VerbKind& kind : all_verbs()) verbs.emplace_back(kind.name);
    verbs.insert(verbs.end(), {"compat", "completion"});
    return verbs;
  }

  // "--max-memory" of "--max-memory=1G".
  static std::string name_in(const std::string& flag) { return flag.substr(0, flag.find('=')); }

  [[nodiscard]] std::string no_verb(const std::vector<std::string>& words) const {
    const std::vector<std::string> verbs = verb_names(), ours = flags_.flag_names();
    const std::size_t at = first_word(words);
    for (std::size_t i = 1; i < at; ++i)
      if (words[i].starts_with("--") && std::ranges::count(ours, name_in(words[i])) == 0)
        return fmt::format("there is no flag {}{} (try --help)", name_in(words[i]),
                           flags_.meant_flags(words[i]));
    if (at < words.size()) {
      const std::string meant = did_you_mean(words[at], verbs);
      return fmt::format(
          "there is no verb {}{} (try --help)", words[at],
          meant.empty() ? fmt::format("; expected one of {}", fmt::join(verbs, ", ")) : meant);
    }
    return fmt::format("expected a verb: {} (try --help)", fmt::join(verbs, ", "));
  }

  struct Script {
    std::string_view name;
    std::vector<std::string> our_arguments;  // up to its name
    std::vector<std::string> arguments;
  };
  // Called by the name of a script of the Python TraceLens, the program is that script; so it is as
  // `tracelens compat <script> ...`. Looked at before our own flags, because a script has others;
  // ours may stand before `compat`.
  [[nodiscard]] std::optional<Script> script_of(const std::vector<std::string>& words) const {
    const std::size_t verb = first_word(words);
    const bool by_verb = verb + 1 < words.size() && words[verb] == "compat";
    const auto at = static_cast<std::ptrdiff_t>(by_verb ? verb + 1 : 0);
    const std::string& word = words[static_cast<std::size_t>(at)];
    const auto scripts = script_names();
    const auto found = std::ranges::find(scripts, word.substr(word.rfind('/') + 1));
    if (found == scripts.end()) {
      if (by_verb && !word.starts_with('-'))
        throw Error{"compat", fmt::format("there is no script {}; expected one of {}", word,
                                          fmt::join(scripts, ", "))};
      return std::nullopt;
    }
    std::vector<std::string> ours{"compat", std::string{*found}};
    if (by_verb) ours = {words.begin() + 1, words.begin() + at + 1};
    return Script{*found, std::move(ours), {words.begin() + at + 1, words.end()}};
  }

  Flags flags_{"tracelens",
               "TraceLens: where the time of a training or serving job went, from its trace."};
  Console console_;
  using CommandAndVerb = std::pair<const Flags*, std::unique_ptr<Verb>>;
  std::vector<CommandAndVerb> verbs_;
  Flags *completion_ = nullptr, *compat_ = nullptr;
  std::string shell_, max_memory_;
};

// One heap for all threads: what the readers' threads have freed serves the analyses; a tenth less peak
// memory. Many threads get in each other's way there, most of all where each op has arguments of its
// own. But all heaps beyond the first lie outside of huge pages (huge_pages.hpp): with a fourth, large
// traces take longer again.
[[maybe_unused]] constexpr int heaps_for(int cpus) {
  constexpr int kSome = 4, kMany = 12;
  return cpus < kSome ? 1 : cpus < kMany ? 2 : 3;
}

}  // namespace
}  // namespace tracelens::app

int main(int argc, char** argv) {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, tracelens::app::heaps_for(tracelens::usable_cpus()));
#endif
  // A file that grows beyond `ulimit -f` is then a write that fails, which gives a sentence.
  std::signal(SIGXFSZ, SIG_IGN);
  tracelens::guard_mapped_files();
  return tracelens::app::Program{}.run({argv, argv + argc});
}
