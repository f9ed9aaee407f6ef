// top_level.hpp: the members of a trace file around its event list.
//   TopLevel top;
//   top.open(text_so_far, at_end_of_file)     -> kNeedMore, or where the event list begins
//   top.close(text_after_the_list)            -> the members behind it
// A trace is either an object with a member "traceEvents", before or after any others, or a bare
// list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tracelens/trace_builder.hpp>

namespace tracelens::kineto {

class TopLevel {
 public:
  TopLevel(std::string file, TraceBuilder& builder) : file_{std::move(file)}, builder_{builder} {}

  static constexpr std::size_t kNeedMore = static_cast<std::size_t>(-1);

  // Position just after the '[' of the event list, or kNeedMore when `text`, the beginning of the
  // file, does not reach it. Throws Error when the file is no trace. `text` has json::kPadding
  // readable bytes behind it, the first '\0'; call again with a longer one.
  std::size_t open(std::string_view text, bool at_end);

  // The members behind the list. False when the file ends before its last brace. Same padding.
  bool close(std::string_view text);

 private:
  struct Member;
  void keep(const Member& member);
  void count_controls(std::string_view text, std::uint64_t first_byte);

  std::string file_;
  TraceBuilder& builder_;
  std::size_t at_ = 0;  // open(): where the next member starts
  bool is_bare_list_ = false;
};

}  // namespace tracelens::kineto
