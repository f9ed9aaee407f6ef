#include "report/convert/fuse_event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <tracelens/json.hpp>

#include "io/ascii.hpp"
#include "io/numbers.hpp"
#include "readers/chrome/strict_json.hpp"
#include "readers/kineto/words.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

std::string_view find(const std::vector<RawMember>& members, std::string_view key) {
  const auto found = std::ranges::find(members, key, &RawMember::key);
  return found == members.end() ? std::string_view{} : found->value;
}

// The text between the quotes; nothing for other values.
std::string_view unquoted(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return {};
  return value.substr(1, value.size() - 2);
}

bool is_object(std::string_view value) { return value.starts_with('{'); }

std::optional<std::int64_t> shifted(std::string_view value, std::int64_t rank, std::int64_t scale) {
  const auto number = io::parse_int64(value);
  std::int64_t offset = 0, sum = 0;
  if (!number || __builtin_mul_overflow(rank, scale, &offset) ||
      __builtin_add_overflow(*number, offset, &sum))
    return std::nullopt;
  return sum;
}

// Not by a format: this runs for every member of every event.
void append_key(std::string& out, std::string_view& comma, std::string_view key) {
  out += comma;
  out += '"';
  out += key;
  out += "\": ";
  comma = ", ";
}

// Kineto writes microseconds with three decimals.
void append_us(std::string& out, std::int64_t ns) {
  const std::int64_t us = ns / 1000, rest = ns % 1000;
  fmt::format_to(std::back_inserter(out), "{}{}.{:03}", ns < 0 && us == 0 ? "-" : "", us,
                 rest < 0 ? -rest : rest);
}

// Of PyTorch's profiler and of those for ROCm.
bool is_gpu_category(std::string_view category) { return is_gpu(kineto::to_category(category)); }
bool is_kernel_or_annotation(std::string_view category) {
  const Category known = kineto::to_category(category);
  return known == Category::kKernel || known == Category::kGpuUserAnnotation;
}

}  // namespace

// --- FuseSurvey ---

void FuseSurvey::Largest::take(std::string_view text) {
  const auto number = text.empty() ? std::nullopt : io::parse_int64(text);
  if (!number) return;
  is_there = true;
  value = std::max(value, *number);
}

void FuseSurvey::Largest::take(const Largest& other) {
  is_there |= other.is_there;
  value = std::max(value, other.value);
}

// One digit more than the largest id has: room between the ranks.
std::int64_t FuseSurvey::Largest::scale() const {
  if (!is_there) return 0;
  constexpr std::int64_t kLargestScale = 1'000'000'000'000'000'000;
  std::int64_t scale = 10;
  for (std::int64_t rest = value; rest > 0 && scale < kLargestScale; rest /= 10) scale *= 10;
  return scale;
}

void FuseSurvey::look_at(std::string_view event) {
  if (!split_object(event, members_)) return;
  id_.take(find(members_, "id"));
  pid_.take(find(members_, "pid"));
  const std::string_view args = find(members_, "args");
  if (is_object(args) && split_object(args, args_)) {
    correlation_.take(find(args_, "correlation"));
    external_id_.take(find(args_, "External id"));
  } else {
    args_.clear();
  }
  const std::string_view category = unquoted(find(members_, "cat"));
  if (!launches_have_correlation_ && is_runtime(kineto::to_category(category)) &&
      io::contains_ignoring_case(find(members_, "name"), "launch"))
    launches_have_correlation_ = !find(args_, "correlation").empty();
  if (const auto ns = io::parse_us_as_ns(find(members_, "ts"));
      ns && unquoted(find(members_, "ph")) == "X")
    first_ns_ = std::min(first_ns_.value_or(*ns), *ns);
}

void FuseSurvey::add(const FuseSurvey& other) {
  pid_.take(other.pid_);
  id_.take(other.id_);
  correlation_.take(other.correlation_);
  external_id_.take(other.external_id_);
  if (other.first_ns_) first_ns_ = std::min(first_ns_.value_or(*other.first_ns_), *other.first_ns_);
}

FuseScales FuseSurvey::scales() const {
  const bool by_correlation = launches_have_correlation_.value_or(false);
  return {.pid = pid_.scale(),
          .id = id_.scale(),
          .link = (by_correlation ? correlation_ : external_id_).scale(),
          .link_key = by_correlation ? "correlation" : "External id"};
}

// --- RankEvents ---

struct RankEvents::Fields {
  std::string_view phase, category, name, pid, id, args;
  std::optional<std::int64_t> ts_ns, dur_ns;
  bool has_args = false;  // an object
};

bool RankEvents::is_wanted(const Fields& fields) const {
  // Names of threads and streams are wanted with whatever is left on them.
  if (fields.phase == "M") {
    constexpr std::array kMadeAnew = {"process_name", "process_sort_index", "process_labels"};
    return std::ranges::find(kMadeAnew, fields.name) == kMadeAnew.end();
  }
  if (times_.from_ns && fields.ts_ns) {
    const std::int64_t end = end_of(*fields.ts_ns, fields.dur_ns.value_or(0));
    if (end < *times_.from_ns || *fields.ts_ns > *times_.to_ns) return false;
  }
  if (!options_.categories.empty())
    return std::ranges::find(options_.categories, fields.category) != options_.categories.end() &&
           io::contains_ignoring_case(fields.name, io::lower_case(options_.only));
  if (!options_.only.empty())
    return is_kernel_or_annotation(fields.category) &&
           io::contains_ignoring_case(fields.name, io::lower_case(options_.only));
  return fields.category != "Trace" && (options_.python || fields.category != "python_function");
}

// A number gets the rank in front; a text the rank behind it, so that ranks do not share it.
void RankEvents::append_id(std::string_view text, std::string& out) const {
  if (const auto number = shifted(text, rank_, scales_.id))
    io::append_integer(out, *number);
  else if (text.starts_with('"'))
    fmt::format_to(std::back_inserter(out), "{}:{}\"", text.substr(0, text.size() - 1), rank_);
  else
    out += text;
}

void RankEvents::append_args(const Fields& fields, std::string& out) {
  struct Added {
    std::string_view key;
    std::string_view value;
  };
  std::string link_raw_key{scales_.link_key};
  link_raw_key += "_raw";
  const std::string rank = std::to_string(rank_);
  const std::string_view link = scales_.link > 0 ? find(args_, scales_.link_key) : "";
  const Added added[] = {{"rank", rank},
                         {"id_raw", scales_.id > 0 ? fields.id : ""},
                         {"pid_raw", scales_.pid > 0 ? fields.pid : ""},
                         {link_raw_key, link}};
  const auto is_added = [&](std::string_view key) {
    return std::ranges::any_of(added,
                               [&](const Added& a) { return a.key == key && !a.value.empty(); });
  };
  std::string_view comma;
  out += '{';
  const auto append = [&](std::string_view key, std::string_view value) {
    append_key(out, comma, key);
    out += value;
  };
  for (const auto& [key, value] : args_) {
    if (is_added(key)) continue;
    const auto number = key == scales_.link_key && scales_.link > 0
                            ? shifted(value, rank_, scales_.link)
                            : std::nullopt;
    append(key, number ? std::string_view{std::to_string(*number)} : value);
  }
  for (const auto& [key, value] : added)
    if (!value.empty()) append(key, value);
  out += '}';
}

void RankEvents::repair(Fields& fields) {
  repairs_.clear();
  for (std::vector<RawMember>* const members : {&members_, &args_})
    repair_members(*members, repairs_);
  fields.pid = find(members_, "pid");
  fields.id = find(members_, "id");
}

bool RankEvents::rewrite(std::string_view event, std::string& out) {
  if (!split_object(event, members_)) {
    ++damage_.left_out;
    return false;
  }
  Fields fields;
  for (const auto& [key, value] : members_) {
    if (key == "ph") fields.phase = unquoted(value);
    if (key == "cat") fields.category = unquoted(value);
    if (key == "name") fields.name = unquoted(value);
    if (key == "pid") fields.pid = value;
    if (key == "id") fields.id = value;
    if (key == "ts") fields.ts_ns = io::parse_us_as_ns(value);
    if (key == "dur") fields.dur_ns = io::parse_us_as_ns(value);
    if (key == "args") fields.args = value;
  }
  if (!is_wanted(fields)) return false;
  fields.has_args = is_object(fields.args) && split_object(fields.args, args_);
  if (!fields.has_args) args_.clear();

  const std::size_t before = out.size();
  append_event(fields, out);
  if (json::is_strict_json(std::string_view{out}.substr(before))) return true;
  out.resize(before);
  repair(fields);
  append_event(fields, out);
  ++damage_.repaired;
  return true;
}

void RankEvents::append_event(const Fields& fields, std::string& out) {
  const auto pid = scales_.pid > 0 ? shifted(fields.pid, rank_, scales_.pid) : std::nullopt;
  if (pid && fields.phase != "M") processes_[*pid] |= is_gpu_category(fields.category);
  std::string_view comma;
  out += '{';
  for (const auto& [key, value] : members_) {
    if (key == "args") continue;
    append_key(out, comma, key);
    if (key == "pid" && pid)
      io::append_integer(out, *pid);
    else if (key == "id" && scales_.id > 0)
      append_id(value, out);
    else if (key == "ts" && times_.shift_ns != 0 && fields.ts_ns)
      append_us(out, plus_ns(*fields.ts_ns, times_.shift_ns));
    else
      out += value;
  }
  append_key(out, comma, "args");
  append_args(fields, out);
  out += '}';
}

}  // namespace tracelens
