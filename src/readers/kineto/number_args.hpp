// number_args.hpp: the integer arguments of events that are columns.
//   to_number_arg("External id")     // NumberArg::kExternalId
//   NumberArgs numbers;
//   numbers[NumberArg::kStream] = 7;
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tracelens/trace.hpp>

namespace tracelens::kineto {

// Integer arguments that are columns, by whichever name they are written.
enum class NumberArg : std::uint8_t {
  kNone,
  kStream,
  kDevice,
  kCorrelation,
  kExternalId,
  kSequence,
  kForwardThread,
  kBeginNs,
  kEndNs,
  kDeltaNs,
  kCorrId,
  kCorrelationId,
  kCorrelationIdCamel,
  kCorrIdCamel,
};
// kNone for all other names.
[[nodiscard]] NumberArg to_number_arg(std::string_view name);

struct GivenNumber {
  NumberArg arg = NumberArg::kNone;
  std::int64_t value = 0;
};

// The integer arguments of one event; kAbsent: it has none of this kind.
class NumberArgs {
 public:
  NumberArgs() { values_.fill(kAbsent); }
  [[nodiscard]] std::int64_t& operator[](NumberArg arg) {
    return values_[static_cast<std::size_t>(arg)];
  }
  [[nodiscard]] std::int64_t operator[](NumberArg arg) const {
    return values_[static_cast<std::size_t>(arg)];
  }
  // Whether they tell when a slice began and how long it took. rocprofv3 writes that to the
  // nanosecond.
  [[nodiscard]] bool has_times() const;
  // The id a launch shares with its GPU work, by whichever name it is written; in order of trust.
  [[nodiscard]] std::int64_t correlation() const {
    for (const NumberArg arg :
         {NumberArg::kCorrelation, NumberArg::kCorrId, NumberArg::kCorrelationId,
          NumberArg::kCorrelationIdCamel, NumberArg::kCorrIdCamel})
      if ((*this)[arg] != kAbsent) return (*this)[arg];
    return kAbsent;
  }

 private:
  std::array<std::int64_t, static_cast<std::size_t>(NumberArg::kCorrIdCamel) + 1> values_;
};

// Whether an argument of a slice can end up in any column. `is_real`: it is a number that is no
// integer. The others need not be written as JSON only to be passed over; but those of
// kProfilerRange, which are all kept.
[[nodiscard]] bool is_slice_arg(std::string_view name, bool is_real);

}  // namespace tracelens::kineto
