// The only file that includes CLI11: it alone takes longer to compile than all verbs.
#include "flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <string_view>
#include <system_error>
#include <tracelens/near_names.hpp>
#include <type_traits>

namespace tracelens::app {
namespace {

constexpr const char *kHelpNames = "-h,--help", *kVersionNames = "--version";

// `text` as a finite number; NaN when it is none. CLI11's own checks let NaN pass, wrap negative
// counts around and print the largest double in full.
double finite_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0' && std::isfinite(value) ? value : std::nan("");
}

// `text` as a whole number, with or without a sign; `otherwise` when it is none.
std::int64_t whole_number(std::string_view text, std::int64_t otherwise) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end ? value : otherwise;
}

std::string unless(bool is_fine, std::string complaint) {
  return is_fine ? std::string{} : std::move(complaint);
}

Check as_check(const CLI::Validator& validator) {
  return {validator.get_description(),
          [validator](const std::string& text) { return validator(text); }};
}

}  // namespace

Check number_from(double lowest) {
  return {fmt::format(">= {}", lowest), [lowest](const std::string& text) {
            return unless(finite_number(text) >= lowest,
                          fmt::format("expected a number of at least {}, not {}", lowest, text));
          }};
}

Check number_above(double bound) {
  return {fmt::format("> {}", bound), [bound](const std::string& text) {
            return unless(finite_number(text) > bound,
                          fmt::format("expected a number above {}, not {}", bound, text));
          }};
}

Check count_from(std::int64_t lowest) {
  return {fmt::format(">= {}", lowest), [lowest](const std::string& text) {
            return unless(
                whole_number(text, lowest - 1) >= lowest,
                fmt::format("expected a whole number of at least {}, not {}", lowest, text));
          }};
}

Check between(int lowest, int highest) { return as_check(CLI::Range(lowest, highest)); }
Check between(double lowest, double highest) {
  return {fmt::format("FLOAT in [{} - {}]", lowest, highest),
          [lowest, highest](const std::string& text) {
            const double value = finite_number(text);
            return unless(
                value >= lowest && value <= highest,
                fmt::format("expected a number from {} to {}, not {}", lowest, highest, text));
          }};
}
Check one_of(std::vector<std::string> words) { return as_check(CLI::IsMember(std::move(words))); }
Check existing_file() { return as_check(CLI::ExistingFile); }

std::vector<std::string> Flag::names_with(const std::string& dashes) const {
  std::vector<std::string> found;
  for (std::string name : CLI::detail::split(names_, ',')) {
    if (name.starts_with('!')) name.erase(0, 1);
    if (name.find_first_not_of('-') == dashes.size()) found.push_back(name);
  }
  return found;
}

bool Flag::takes_several() const {
  if (is_repeatable_ || !takes_value_) return false;
  if (count_) return count_->second == kAnyNumber || count_->second > 1;
  return std::holds_alternative<std::vector<std::string>*>(target_) ||
         std::holds_alternative<std::vector<std::int64_t>*>(target_);
}

// Flags as an App of CLI11, to parse these arguments.
class Parser {
 public:
  Parser(const Flags& flags, const std::vector<std::string>& arguments)
      : flags_{flags}, app_{flags.description_, flags.name_}, arguments_{arguments} {
    fill(app_, flags);
  }

  std::optional<std::string> parse() {
    std::vector<std::string> backwards{arguments_.rbegin(), arguments_.rend()};
    try {
      app_.parse(std::move(backwards));  // CLI11 takes them from the back
    } catch (const CLI::CallForVersion& version) {
      return std::string{version.what()} + '\n';
    } catch (const CLI::Success&) {
      return app_.help();
    } catch (const CLI::RequiredError& error) {
      if (!commands_.empty() && app_.get_subcommands().empty()) throw NoCommand{error.what()};
      throw UsageError{error.what()};
    } catch (const CLI::ExtrasError&) {  // lists them from the back
      const std::vector<std::string> extras = app_.remaining(true);
      const auto flag = std::ranges::find_if(
          extras, [](const std::string& word) { return word.starts_with('-'); });
      throw UsageError{fmt::format(
          "{} not expected: {}{}",
          extras.size() == 1 ? "This argument was" : "These arguments were", fmt::join(extras, " "),
          flag == extras.end() ? "" : flags_.meant_flags(*flag, chosen()))};
    } catch (const CLI::ParseError& error) {
      throw UsageError{error.what()};
    }
    return std::nullopt;
  }

  [[nodiscard]] const Flags* chosen() const {
    const auto found = std::ranges::find_if(
        commands_, [](const auto& command) { return command.first->parsed(); });
    return found == commands_.end() ? nullptr : found->second;
  }

 private:
  // The order counts: a command inherits what its parent has by then.
  void fill(CLI::App& app, const Flags& flags) {
    if (!flags.commands_.empty()) app.require_subcommand(1)->fallthrough();
    for (const Flag& flag : flags.flags_) add(app, flags, flag);
    for (const Flags& choice : flags.choices_) {
      CLI::App* const group = app.add_option_group(choice.name_, choice.description_);
      fill(*group, choice);
      group->require_option(1);
    }
    for (const Flags& command : flags.commands_) {
      CLI::App* const part = app.add_subcommand(command.name_, command.description_);
      // Of a command that cannot be meant its name is enough: there are hundreds of flags.
      if (std::ranges::find(arguments_, command.name_) != arguments_.end()) fill(*part, command);
      commands_.emplace_back(part, &command);
    }
    if (!flags.footer_.empty()) app.footer(flags.footer_);
  }

  void add(CLI::App& app, const Flags& flags, const Flag& flag) {
    if (flag.names_ == kHelpNames) {
      app.set_help_flag(flag.names_, flag.help_);
      return;
    }
    if (flag.names_ == kVersionNames) {
      app.set_version_flag(flag.names_, flags.version_, flag.help_);
      return;
    }
    CLI::Option* const option = std::visit(
        [&](const auto& target) -> CLI::Option* {
          using T = std::remove_cvref_t<decltype(target)>;
          if constexpr (std::is_same_v<T, std::monostate>)
            return app.add_option(flag.names_, flag.help_);
          else if constexpr (std::is_same_v<T, std::function<void()>>)
            return app.add_flag_callback(flag.names_, target, flag.help_);
          else if constexpr (std::is_same_v<T, bool*>)
            return app.add_flag(flag.names_, *target, flag.help_);
          else
            return app.add_option(flag.names_, *target, flag.help_);
        },
        flag.target_);
    options_[&flag] = option;
    if (flag.is_required_) option->required();
    if (flag.count_) option->expected(flag.count_->first, flag.count_->second);
    if (flag.is_repeatable_)
      option->expected(1)->allow_extra_args(false)->multi_option_policy(
          CLI::MultiOptionPolicy::TakeAll);
    if (flag.separator_) option->delimiter(*flag.separator_);
    if (flag.check_) option->check(flag.check_->complaint, flag.check_->shown);
    if (flag.excluded_ != nullptr) option->excludes(options_.at(flag.excluded_));
    if (flag.shows_default_) option->capture_default_str();
  }

  const Flags& flags_;
  CLI::App app_;
  const std::vector<std::string>& arguments_;
  std::map<const Flag*, CLI::Option*> options_;
  std::vector<std::pair<const CLI::App*, const Flags*>> commands_;
};

Flags::Flags(std::string name, std::string description)
    : name_{std::move(name)}, description_{std::move(description)} {
  add(kHelpNames, "Print this help message and exit").takes_value_ = false;
}

Flag& Flags::add(std::string names, std::string help) {
  return flags_.emplace_back(std::move(names), std::monostate{}, std::move(help));
}

Flag& Flags::add_action(std::string names, std::function<void()> action, std::string help) {
  return flags_.emplace_back(std::move(names), std::move(action), std::move(help));
}

void Flags::add_version(std::string version) {
  version_ = std::move(version);
  add(kVersionNames, "Display program version information and exit").takes_value_ = false;
}

Flags& Flags::add_command(std::string name, std::string description) {
  return commands_.emplace_back(std::move(name), std::move(description));
}

Flags& Flags::add_choice(std::string name, std::string description) {
  Flags& choice = choices_.emplace_back(std::move(name), std::move(description));
  choice.flags_.clear();  // no --help of its own
  return choice;
}

std::vector<std::string> Flags::flag_names() const {
  std::vector<std::string> names;
  for (const Flag& flag : flags_) {
    std::ranges::move(flag.short_names(), std::back_inserter(names));
    std::ranges::move(flag.long_names(), std::back_inserter(names));
  }
  for (const Flags& choice : choices_)
    std::ranges::move(choice.flag_names(), std::back_inserter(names));
  return names;
}

std::string Flags::meant_flags(std::string_view typed, const Flags* command) const {
  std::vector<std::string> known = flag_names();
  if (command != nullptr) std::ranges::move(command->flag_names(), std::back_inserter(known));
  // Dashes and values would make words look alike that are not.
  const auto plain = [](std::string_view name) {
    name = name.substr(0, name.find('='));
    return std::string{name.substr(std::min(name.find_first_not_of('-'), name.size()))};
  };
  std::vector<std::string> names;
  for (const std::string& name : known)
    if (name.starts_with("--")) names.push_back(plain(name));
  std::vector<std::string> near = nearest_names(plain(typed), names);
  for (std::string& name : near) name.insert(0, "--");
  return near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, ", "));
}

std::optional<std::string> Flags::parse(const std::vector<std::string>& arguments) {
  try {
    Parser parser{*this, arguments};
    auto instead = parser.parse();
    chosen_ = parser.chosen();
    return instead;
  } catch (const CLI::Error& error) {  // flags that contradict each other
    throw std::logic_error{error.what()};
  }
}

}  // namespace tracelens::app
