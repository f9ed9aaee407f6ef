// line_work.hpp: the events of a line, looked at by many threads and used in order by one at a time.
//   const std::uint64_t damaged = for_each_event<Facts>(
//       line, pages, threads,
//       [&](const Event& event, Facts& facts) { return ...; },   // many threads; false: damaged
//       [&](const Facts& facts) { ... });                        // by start, longer ones first
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "readers/kit/ordered_work.hpp"
#include "readers/xplane/plane.hpp"

namespace tracelens::xplane {

// Gives how many events are damaged.
template <class Facts, class Look, class Use>
std::uint64_t for_each_event(const Line& line, const Pages& pages, int threads, const Look& look,
                             const Use& use) {
  constexpr std::size_t kEventsPerBatch = 2048;
  struct Batch {
    std::vector<std::string_view> bytes;
    std::vector<Facts> facts;
    Event event;
    std::uint64_t damaged = 0;
  };
  std::uint64_t damaged = 0;
  LineEvents events{line, pages};
  OrderedWork work{[&](Batch& batch) {
                     events.next_bytes(kEventsPerBatch, batch.bytes);
                     return !batch.bytes.empty();
                   },
                   [&](Batch& batch) {
                     batch.facts.clear();
                     batch.damaged = 0;
                     for (const std::string_view bytes : batch.bytes) {
                       const bool is_sound = decode_event(bytes, batch.event);
                       if (is_sound && look(batch.event, batch.facts.emplace_back())) continue;
                       if (is_sound) batch.facts.pop_back();
                       ++batch.damaged;
                     }
                   },
                   [&](Batch& batch) {
                     for (const Facts& facts : batch.facts) use(facts);
                     damaged += batch.damaged;
                     events.done_with(batch.bytes.back());
                   }};
  work.run(line.events > 2 * kEventsPerBatch ? threads : 1, [] { return Batch{}; });
  return damaged;
}

}  // namespace tracelens::xplane
