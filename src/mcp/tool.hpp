// tool.hpp: what every tool is: a row with its name, arguments and the function that answers.
//   Value run_model(Call& call) { return call.result({.grid = ..., .total = 1}); }
// To add one: a file like tool_model.cpp, and its name in tools.cpp, at the place where clients list it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/report.hpp>
#include <tracelens/value.hpp>

#include "mcp/allowed_folders.hpp"
#include "mcp/answer.hpp"
#include "mcp/arguments.hpp"
#include "mcp/control.hpp"
#include "mcp/recent_answers.hpp"
#include "mcp/trace_store.hpp"

namespace tracelens::mcp {

class Call;

struct Tool {
  std::string_view name, title;
  std::string_view description;  // when to use it and when not, 60 words at most
  ArgumentList arguments;
  Members (*more_output)();  // of the structure, beside what all have
  Value (*run)(Call& call);  // throws ToolError, Error, Stopped
};

// What tools work with.
struct Workshop {
  const AllowedFolders& folders;
  TraceStore& store;
  RecentAnswers& recent;
};

// One call of a tool, its arguments checked.
class Call {
 public:
  Call(const Tool& tool, const Workshop& workshop, const Value& arguments, CallControl& control)
      : tool_{tool}, workshop_{workshop}, arguments_{arguments}, control_{control} {}

  [[nodiscard]] CallControl& control() const { return control_; }
  [[nodiscard]] const Workshop& workshop() const { return workshop_; }

  // --- arguments ---
  [[nodiscard]] const Value& value(std::string_view name) const;       // null: not given
  [[nodiscard]] const std::string& text(std::string_view name) const;  // "" when not given
  [[nodiscard]] std::int64_t integer(std::string_view name) const;     // its default when not given
  [[nodiscard]] bool flag(std::string_view name) const { return value(name).as_bool(); }
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  [[nodiscard]] ReportOptions options() const;

  // --- traces ---
  // Its name and state are part of the answer from now on.
  [[nodiscard]] OpenFile open_file(const std::string& name);
  [[nodiscard]] TraceStore::Lease open_trace();  // argument `trace`
  // The trace alone, for tools that hold several: two desks at once could wait for each other.
  [[nodiscard]] std::shared_ptr<const Trace> trace_of(const OpenFile& file) const;

  // --- answering ---
  // The rows that came before this page. Throws ToolError when the cursor is not of this call.
  [[nodiscard]] std::size_t offset() const;
  // `desk`: where the whole names are found.
  [[nodiscard]] Value result(Answer answer, TraceDesk* desk = nullptr) const;
  // The same with all rows, of which this call shows its page; made once for all pages. The files must
  // be open.
  [[nodiscard]] Value paged_result(const std::function<Answer()>& make,
                                   TraceDesk* desk = nullptr) const;

 private:
  // All but cursor, or of these only those that choose the rows, as cursors know them.
  [[nodiscard]] std::string arguments_text(bool of_rows) const;
  [[nodiscard]] std::uint32_t arguments_hash() const;

  const Tool& tool_;
  const Workshop& workshop_;
  const Value& arguments_;
  CallControl& control_;
  std::string shown_;
  std::uint64_t stamp_ = 0;
};

// --- what many tools have in common ---
// Bounds of max_tokens. What an answer says beside its rows takes up to the least.
inline constexpr std::int64_t kLeastTokens = 600, kMostTokens = 8000;
[[nodiscard]] std::span<const Argument> trace_arguments();  // trace, options and those of pages
[[nodiscard]] std::span<const Argument>
several_traces_arguments();  // the same without trace; names is the last
[[nodiscard]] std::span<const Argument> page_arguments();  // max_tokens, cursor, names

[[nodiscard]] Value type_schema(const char* type);
// The schema of a section: columns and rows.
[[nodiscard]] Value grid_schema();
[[nodiscard]] Members no_more_output();

// Every tool, in the order of lists.
[[nodiscard]] std::span<const Tool* const> all_tools();
extern const Tool kListTracesTool, kSummaryTool, kDiagnoseTool, kTablesTool, kTableTool, kTreeTool,
    kQueryTool, kCompareTool, kDiffTool, kCollectivesTool, kRooflineTool, kModelTool, kReplayTool;

}  // namespace tracelens::mcp
