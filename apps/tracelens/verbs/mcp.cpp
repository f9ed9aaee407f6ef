#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <tracelens/mcp.hpp>

#include "memory_limit.hpp"
#include "verb.hpp"

namespace tracelens::app {

class McpVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.add("folders", folders_, "Folders whose traces may be read; by default the current one");
    flags.add("--root", roots_, "The same, may be repeated").repeatable();
    flags.add("--cache-mb", cache_mb_, "Memory for traces that are kept between calls")
        .check(count_from(1))
        .show_default();
    flags.add("--limit-s", options_.limit_seconds, "Seconds for a call; 0: any")
        .check(number_from(0))
        .show_default();
    flags.add("--limit-text-gb", text_gb_, "Largest trace to read, unpacked, in GB")
        .check(count_from(1))
        .show_default();
    flags.add("--list-tools", list_tools_,
              "Print the tools and their arguments, and serve nothing");
    flags.footer(
        "A server of the Model Context Protocol on standard input and output, for agents: summary, "
        "diagnose,\ntables, call tree, SQL, comparisons, ranks, rooflines. It reads traces in these "
        "folders, and\nnothing else; it writes nothing and uses no network. docs/guide/agents.md tells how "
        "clients are set up.\n"
        "Examples:\n"
        "  tracelens mcp traces/\n"
        "  tracelens mcp --root runs/today --root runs/baseline --cache-mb 4096\n"
        "  tracelens mcp --list-tools                              what an agent can ask");
  }

  int run(Console& console) override {
    if (list_tools_) {
      console.print(mcp_tools_page());
      return kExitOk;
    }
    folders_.insert(folders_.end(), roots_.begin(), roots_.end());
    if (!folders_.empty()) options_.folders = folders_;
    options_.cache_bytes = cache_mb_ << 20;
    options_.limit_text_bytes = static_cast<std::uint64_t>(text_gb_) << 30;
    options_.log = [&console](const std::string& sentence) { console.error(sentence); };
    std::signal(SIGPIPE, SIG_IGN);  // a client that leaves is no reason to crash
    if (!serve_mcp(options_, STDIN_FILENO, STDOUT_FILENO)) std::_Exit(kExitOk);
    return kExitOk;
  }

 private:
  std::vector<std::string> folders_, roots_;
  std::size_t cache_mb_ = 1024, text_gb_ = 2;
  bool list_tools_ = false;
  McpOptions options_;
};

template std::unique_ptr<Verb> make_verb<McpVerb>();

}  // namespace tracelens::app
