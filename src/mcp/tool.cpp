#include "mcp/tool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "io/text_hash.hpp"
#include "mcp/cursor.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

constexpr std::string_view kEditions[] = {"extended", "reference"}, kNames[] = {"short", "full"};

constexpr Argument kOptions[] = {
    {.name = "gpu"},
    {.name = "categories", .kind = ArgumentKind::kChoice, .words = kEditions},
    {.name = "recompute", .kind = ArgumentKind::kBool},
    {.name = "include_unlinked", .kind = ArgumentKind::kBool},
    {.name = "link_by_correlation", .kind = ArgumentKind::kBool},
};

constexpr Argument kCommon[] = {
    {.name = "trace", .is_required = true, .most = 4096},
    {.name = "options", .kind = ArgumentKind::kObject, .members = kOptions},
    {.name = "max_tokens",
     .kind = ArgumentKind::kInteger,
     .least = kLeastTokens,
     .most = kMostTokens,
     .otherwise = 2000},
    {.name = "cursor"},
    {.name = "names", .kind = ArgumentKind::kChoice, .words = kNames},
};

}  // namespace

std::span<const Argument> trace_arguments() { return kCommon; }
std::span<const Argument> several_traces_arguments() { return std::span{kCommon}.subspan(1); }
std::span<const Argument> page_arguments() { return std::span{kCommon}.subspan(2); }

Value type_schema(const char* type) { return object({{"type", type}}); }

Value grid_schema() {
  return object({{"type", "object"},
                 {"properties",
                  object({{"columns", type_schema("array")}, {"rows", type_schema("array")}})}});
}

Members no_more_output() { return {}; }

const Value& Call::value(std::string_view name) const { return member(arguments_, name); }
const std::string& Call::text(std::string_view name) const { return value(name).as_text(); }

std::int64_t Call::integer(std::string_view name) const {
  const Value& given = value(name);
  if (given.is_int()) return given.as_int();
  if (given.is_number()) return static_cast<std::int64_t>(given.as_real());
  const Argument* const argument = tool_.arguments.find(name);
  return argument == nullptr ? 0 : argument->otherwise.value_or(0);
}

std::vector<std::string> Call::texts(std::string_view name) const {
  std::vector<std::string> texts;
  for (const Value& item : value(name).items()) texts.push_back(item.as_text());
  return texts;
}

ReportOptions Call::options() const {
  const Value& given = value("options");
  ReportOptions options;
  options.gpu = member(given, "gpu").as_text();
  if (member(given, "categories").as_text() == "reference") options.edition = Edition::kReference;
  options.recompute = member(given, "recompute").as_bool();
  options.include_unlinked = member(given, "include_unlinked").as_bool();
  options.link_by_correlation = member(given, "link_by_correlation").as_bool();
  return options;
}

OpenFile Call::open_file(const std::string& name) {
  OpenFile file = workshop_.folders.open(name);
  if (file.is_folder()) workshop_.folders.check_folder(file.path());
  if (shown_.empty()) shown_ = file.shown();
  stamp_ = stamp_ * 31 + file.stamp();
  return file;
}

TraceStore::Lease Call::open_trace() {
  return workshop_.store.open(open_file(text("trace")), options(), control_);
}

std::shared_ptr<const Trace> Call::trace_of(const OpenFile& file) const {
  const TraceStore::Lease desk = workshop_.store.open(file, options(), control_);
  (void)desk->trace();  // a finished report has none
  return desk->shared_trace();
}

std::string Call::arguments_text(bool of_rows) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < arguments_.keys().size(); ++i) {
    const std::string& key = arguments_.keys()[i];
    const Value& given = arguments_.items()[i];
    // These choose how much of the rows, not which; but a list of names are those of runs.
    const bool is_of_page =
        key == "max_tokens" || key == "limit" || (key == "names" && given.is_text());
    if (key == "cursor" || (of_rows && is_of_page)) continue;
    parts.push_back(key + "=" + compact_json(given));
  }
  std::ranges::sort(parts);
  return fmt::format("{}", fmt::join(parts, "\n"));
}

std::uint32_t Call::arguments_hash() const { return io::text_hash(arguments_text(true)); }

std::size_t Call::offset() const {
  if (value("cursor").is_null()) return 0;
  const auto cursor = parse_cursor(text("cursor"));
  if (!cursor || cursor->tool != tool_.name || cursor->arguments != arguments_hash())
    throw ToolError{
        "cursor: not of this call; repeat the call that gave it with the same arguments, or leave it "
        "out to begin again"};
  if (cursor->stamp != stamp_)
    throw ToolError{"the file has changed since the page before: begin again without cursor"};
  return cursor->offset;
}

Value Call::result(Answer answer, TraceDesk* desk) const {
  if (answer.trace.empty()) answer.trace = shown_;
  Fit fit;
  fit.max_tokens = static_cast<std::size_t>(integer("max_tokens"));
  if (tool_.arguments.find("limit") != nullptr)
    fit.limit = static_cast<std::size_t>(integer("limit"));
  fit.full_names = text("names") == "full";
  if (tool_.arguments.find("cursor") != nullptr)
    fit.cursor_at = [this](std::size_t offset) {
      return cursor_text({std::string{tool_.name}, arguments_hash(), stamp_, offset});
    };
  if (desk != nullptr)
    fit.string_id = [desk](std::string_view text) { return desk->string_id(text); };
  return result_of(std::move(answer), fit);
}

Value Call::paged_result(const std::function<Answer()>& make, TraceDesk* desk) const {
  const std::size_t offset = this->offset();
  Answer answer = *workshop_.recent.get(
      fmt::format("{} {:x}\n{}", tool_.name, stamp_, arguments_text(false)), make);
  auto& rows = answer.grid.rows;
  answer.offset = offset;
  answer.total = rows.size();
  rows.erase(rows.begin(),
             rows.begin() + static_cast<std::ptrdiff_t>(std::min(offset, rows.size())));
  return result(std::move(answer), desk);
}

}  // namespace tracelens::mcp
