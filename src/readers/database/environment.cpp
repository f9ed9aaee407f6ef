#include "readers/database/environment.hpp"

#include <charconv>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <tracelens/json.hpp>

namespace tracelens {
namespace {

// The first key that holds a number counts: torchrun, Open MPI, PMIx, MPICH, Slurm, MVAPICH.
constexpr std::string_view kRankKeys[] = {
    "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "MV2_COMM_WORLD_RANK"};
constexpr std::string_view kSizeKeys[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                          "SLURM_NTASKS", "MV2_COMM_WORLD_SIZE"};

std::int64_t number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  return is_whole && value >= 0 ? value : kAbsent;
}

// Numbers of the launchers' keys, each in the place of its key.
class Found {
 public:
  void see(std::string_view key, std::string_view value) {
    set(kRankKeys, ranks_, key, value);
    set(kSizeKeys, sizes_, key, value);
  }
  // "KEY=value"
  void see(std::string_view entry) {
    if (const std::size_t equals = entry.find('='); equals != entry.npos)
      see(entry.substr(0, equals), entry.substr(equals + 1));
  }
  [[nodiscard]] JobPlace place() const { return {first(ranks_), first(sizes_)}; }

 private:
  template <std::size_t kKeys>
  static void set(const std::string_view (&keys)[kKeys], std::int64_t* numbers,
                  std::string_view key, std::string_view value) {
    for (std::size_t i = 0; i < kKeys; ++i)
      if (keys[i] == key) numbers[i] = number_in(value);
  }
  template <std::size_t kKeys>
  static std::int64_t first(const std::int64_t (&numbers)[kKeys]) {
    for (const std::int64_t number : numbers)
      if (number != kAbsent) return number;
    return kAbsent;
  }
  std::int64_t ranks_[std::size(kRankKeys)] = {kAbsent, kAbsent, kAbsent,
                                               kAbsent, kAbsent, kAbsent};
  std::int64_t sizes_[std::size(kSizeKeys)] = {kAbsent, kAbsent, kAbsent, kAbsent, kAbsent};
};

}  // namespace

JobPlace place_in_job(std::string_view environment) {
  Found found;
  if (const auto parsed = parse_json_value(environment); parsed && !parsed->items().empty()) {
    const bool is_object = parsed->keys().size() == parsed->items().size();
    for (std::size_t i = 0; i < parsed->items().size(); ++i) {
      const Value& item = parsed->items()[i];
      const std::string text = item.is_int() ? std::to_string(item.as_int()) : item.as_text();
      is_object ? found.see(parsed->keys()[i], text) : found.see(text);
    }
    return found.place();
  }
  while (!environment.empty()) {
    const std::size_t end = environment.find_first_of(std::string_view{"\n\0", 2});
    found.see(environment.substr(0, end));
    environment.remove_prefix(end == environment.npos ? environment.size() : end + 1);
  }
  return found.place();
}

}  // namespace tracelens
