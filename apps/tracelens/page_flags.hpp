// page_flags.hpp: the flags of verbs that can write a page, and the trace or report as they want it.
//   page_.declare(flags);
//   page_.declare_redact(flags);
//   trace = page_.shown(std::move(trace));          // before anything else is put into it
//   options_.page = page_.options(output_);
#pragma once

#include <optional>
#include <string>
#include <tracelens/page.hpp>
#include <tracelens/trace.hpp>

#include "flags.hpp"

namespace tracelens::app {

class PageFlags {
 public:
  void declare(Flags& flags);
  void declare_redact(Flags& flags);  // for verbs that hand their traces to shown()
  // None when the output is no page. Throws UsageError when the window is not understood, or a flag
  // is for pages and the output is none.
  [[nodiscard]] std::optional<PageOptions> options(const std::string& output) const;
  [[nodiscard]] Trace shown(Trace trace) const;  // redacted, if that is asked for
  [[nodiscard]] bool redacts() const { return redacts_; }
  void set_title(std::string& title) const;

 private:
  std::string title_, window_;
  std::optional<std::size_t> slices_;
  bool redacts_ = false;
};

}  // namespace tracelens::app
