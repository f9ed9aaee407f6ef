// comm_places.hpp: collectives by what they are: the places of findings about communication.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/kit/context.hpp"

namespace tracelens {

// Adds up times by collective and group of processes.
class CommPlaces {
 public:
  void add(const WindowCollective& one, std::int64_t ns) {
    FindingPlace& place = places_[{one.name(), one.group()}];
    place.time_ns += ns;
    ++place.count;
  }
  [[nodiscard]] std::vector<FindingPlace> take() {
    std::vector<FindingPlace> all;
    for (auto& [key, place] : places_) {
      place.kind = "collective";
      place.name = key.second.empty() ? key.first : key.first + " of group " + key.second;
      all.push_back(std::move(place));
    }
    return all;
  }

 private:
  std::map<std::pair<std::string, std::string>, FindingPlace> places_;
};

}  // namespace tracelens
