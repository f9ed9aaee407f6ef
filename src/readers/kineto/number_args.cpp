#include "readers/kineto/number_args.hpp"

#include <algorithm>
#include <iterator>

#include "readers/chrome/json_scan.hpp"
#include "readers/kineto/words.hpp"
#include "readers/kit/time_limits.hpp"
#include "trace/counter_name.hpp"

namespace tracelens::kineto {

NumberArg to_number_arg(std::string_view name) {
  using json::is;
  switch (name.size()) {
    case 6:
      if (is(name, "stream")) return NumberArg::kStream;
      if (is(name, "device")) return NumberArg::kDevice;
      if (is(name, "end_ns")) return NumberArg::kEndNs;
      if (is(name, "CorrId")) return NumberArg::kCorrIdCamel;
      break;
    case 7:
      if (is(name, "corr_id")) return NumberArg::kCorrId;
      break;
    case 8:
      if (is(name, "begin_ns")) return NumberArg::kBeginNs;
      if (is(name, "delta_ns")) return NumberArg::kDeltaNs;
      break;
    case 9:
      if (is(name, "stream_ID")) return NumberArg::kStream;
      break;
    case 11:
      if (is(name, "correlation")) return NumberArg::kCorrelation;
      if (is(name, "External id")) return NumberArg::kExternalId;
      break;
    case 13:
      if (is(name, "Fwd thread id")) return NumberArg::kForwardThread;
      if (is(name, "correlationId")) return NumberArg::kCorrelationIdCamel;
      break;
    case 14:
      if (is(name, "correlation_id")) return NumberArg::kCorrelationId;
      break;
    case 15:
      if (is(name, "Sequence number")) return NumberArg::kSequence;
      break;
    default:
      break;
  }
  return NumberArg::kNone;
}

bool NumberArgs::has_times() const {
  const NumberArgs& numbers = *this;
  const std::int64_t begin_ns = numbers[NumberArg::kBeginNs], end_ns = numbers[NumberArg::kEndNs],
                     delta_ns = numbers[NumberArg::kDeltaNs];
  return begin_ns >= 0 && begin_ns <= kLatestNs && delta_ns >= 0 && delta_ns <= kLongestNs &&
         (end_ns == kAbsent || end_ns == begin_ns + delta_ns);
}

bool is_slice_arg(std::string_view name, bool is_real) {
  constexpr std::string_view kOfOps[] = {"Input Dims", "Input type", "Input Strides",
                                         "Concrete Inputs", "Call stack"};
  return to_number_arg(name) != NumberArg::kNone || is_detail_key(name) ||
         (is_real && is_counter_name(name)) || std::ranges::find(kOfOps, name) != std::end(kOfOps);
}

}  // namespace tracelens::kineto
