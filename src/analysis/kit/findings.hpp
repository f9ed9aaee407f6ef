// findings.hpp: collects what `check` has to say, and the verdict that follows from it.
//   Findings findings;
//   findings.warn("steps", "not marked", "call prof.step() once per iteration");
//   return std::move(findings).take();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/check.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <utility>

namespace tracelens {

class Findings {
 public:
  void ok(std::string_view what, std::string_view detail) { add(Verdict::kOk, what, detail, ""); }
  void warn(std::string_view what, std::string_view detail, std::string_view fix) {
    add(Verdict::kWarn, what, detail, fix);
  }
  void fail(std::string_view what, std::string_view detail, std::string_view fix) {
    add(Verdict::kFail, what, detail, fix);
  }
  TraceCheck take() && { return {std::move(table_), verdict_}; }

  // What is true of any file: events, damage, completeness.
  void check_file(const Trace& trace);

 private:
  void add(Verdict level, std::string_view what, std::string_view detail, std::string_view fix);
  static Table make_table();

  Table table_ = make_table();
  Verdict verdict_ = Verdict::kOk;
};

// "1 step", "2 steps"
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view what);

// "12 of 40 (30.0%)"
[[nodiscard]] std::string share(std::uint64_t part, std::uint64_t whole);

}  // namespace tracelens
