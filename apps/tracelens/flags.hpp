// flags.hpp: what may stand on a command line, and where it goes. --help, the checks and the
// completion scripts come from it.
//   flags.add("trace", path_, "Trace to read");                          // a word in its place
//   flags.add("--depth", depth_, "Levels to show").check(count_from(1));  // a flag with a value
//   flags.add("--strict", strict_, "Warnings fail the check too");        // a bool is a switch
//   if (const auto text = flags.parse({"--depth", "3"})) print(*text);    // --help, --version
// The variables must outlive parse(), which fills them in. Only flags.cpp knows the parser behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tracelens::app {

// A command line that cannot be understood.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// One without a command, or with one that does not exist.
class NoCommand : public UsageError {
 public:
  using UsageError::UsageError;
};

// A rule for a value: how --help shows it, and what is wrong with a text; empty when nothing is.
struct Check {
  std::string shown;
  std::function<std::string(const std::string&)> complaint;
};
[[nodiscard]] Check number_from(double lowest);
[[nodiscard]] Check number_above(double bound);
[[nodiscard]] Check count_from(std::int64_t lowest);
[[nodiscard]] Check between(int lowest, int highest);
[[nodiscard]] Check between(double lowest, double highest);
[[nodiscard]] Check one_of(std::vector<std::string> words);
[[nodiscard]] Check existing_file();

class Flag {
 public:
  // Where the value goes; std::monostate: nowhere. A function is called instead.
  using Target =
      std::variant<std::monostate, std::function<void()>, bool*, int*, std::int64_t*, std::size_t*,
                   double*, std::string*, std::optional<std::int64_t>*, std::optional<std::size_t>*,
                   std::optional<std::string>*, std::optional<double>*, std::vector<std::int64_t>*,
                   std::vector<std::string>*>;
  static constexpr int kAnyNumber = -1;

  // "-o,--output"; a name after ! switches its bool off.
  Flag(std::string names, Target target, std::string help)
      : names_{std::move(names)}, target_{std::move(target)}, help_{std::move(help)} {}

  Flag& required() { return is_required_ = true, *this; }
  Flag& show_default() { return shows_default_ = true, *this; }
  Flag& check(Check rule) { return check_ = std::move(rule), *this; }
  Flag& separated_by(char separator) { return separator_ = separator, *this; }
  Flag& takes(int least, int most) { return count_ = {least, most}, *this; }
  // One value each time, all of them kept.
  Flag& repeatable() { return is_repeatable_ = true, *this; }
  // Not together with this one, which was added before.
  Flag& excludes(const Flag& other) { return excluded_ = &other, *this; }

  // As typed: "-o", and "--output". Both empty for a word in its place.
  [[nodiscard]] std::vector<std::string> short_names() const { return names_with("-"); }
  [[nodiscard]] std::vector<std::string> long_names() const { return names_with("--"); }
  [[nodiscard]] const std::string& help() const { return help_; }
  [[nodiscard]] bool takes_value() const { return takes_value_; }
  // Whether it takes all words that follow it.
  [[nodiscard]] bool takes_several() const;
  [[nodiscard]] bool may_be_empty() const { return count_ && count_->first == 0; }
  [[nodiscard]] bool is_repeatable() const { return is_repeatable_; }

 private:
  friend class Flags;
  friend class Parser;
  [[nodiscard]] std::vector<std::string> names_with(const std::string& dashes) const;

  std::string names_;
  Target target_;
  std::string help_;
  bool takes_value_ = !std::holds_alternative<bool*>(target_) &&
                      !std::holds_alternative<std::function<void()>>(target_);
  bool is_required_ = false, shows_default_ = false, is_repeatable_ = false;
  std::optional<Check> check_;
  std::optional<char> separator_;
  std::optional<std::pair<int, int>> count_;
  const Flag* excluded_ = nullptr;
};

class Flags {
 public:
  Flags(std::string name, std::string description);

  template <class T>
  Flag& add(std::string names, T& value, std::string help) {
    return flags_.emplace_back(std::move(names), Flag::Target{&value}, std::move(help));
  }
  Flag& add(std::string names, std::string help);  // accepted, and kept nowhere
  Flag& add_action(std::string names, std::function<void()> action, std::string help);
  void add_version(std::string version);  // --version
  void footer(std::string text) { footer_ = std::move(text); }
  // A verb with flags of its own; one must be given where there are any.
  Flags& add_command(std::string name, std::string description);
  // Of the flags added to the result exactly one must be given.
  Flags& add_choice(std::string name, std::string description);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& description() const { return description_; }
  [[nodiscard]] const std::list<Flag>& flags() const { return flags_; }  // --help first
  [[nodiscard]] const std::list<Flags>& commands() const { return commands_; }
  [[nodiscard]] const std::list<Flags>& choices() const { return choices_; }
  // Of all flags, as typed; not of those of commands.
  [[nodiscard]] std::vector<std::string> flag_names() const;
  // "; did you mean --output?" of a flag that is none of ours, nor of the command's where there is one;
  // empty when none is called nearly so.
  [[nodiscard]] std::string meant_flags(std::string_view typed,
                                        const Flags* command = nullptr) const;

  // Fills in the variables. What is to be printed instead of going on, when --help or --version
  // asks for it. Throws UsageError. Call it once.
  std::optional<std::string> parse(const std::vector<std::string>& arguments);
  // The command that parse() found.
  [[nodiscard]] const Flags* chosen() const { return chosen_; }

 private:
  friend class Parser;
  std::string name_, description_, footer_, version_;
  std::list<Flag> flags_;
  std::list<Flags> commands_, choices_;
  const Flags* chosen_ = nullptr;
};

}  // namespace tracelens::app
