#include "analysis/ranks/remote_activities.hpp"

#include <string>
#include <tracelens/collectives.hpp>
#include <unordered_map>
#include <utility>

#include "analysis/ranks/byte_stream.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::uint64_t kAsks = 1;  // comes first, also when nothing is asked; no bytes: it is over

std::string answers_to(std::string_view questions, const RankShare& share) {
  std::unordered_map<std::uint32_t, const RankActivity*> own;  // by rank index
  for (std::size_t i = 0; i < share.ranks.size(); ++i)
    own.emplace(share.indices[i], &share.ranks[i].activity);
  ByteReader in{questions};
  static_cast<void>(in.count());  // kAsks
  ByteWriter out;
  while (!in.is_done()) {
    const std::uint32_t rank = in.small_count();
    Interval window{.start = in.number()};
    window.end = plus_ns(window.start, in.number());
    const auto activity = own.find(rank);
    if (activity == own.end())
      throw PeerError{"rank summaries", "another process asks for a rank that is not read here"};
    const auto found = answer(*activity->second, window);
    out.count(found ? 1 : 0);
    if (!found) continue;
    out.text(found->what);
    out.number(found->ns);
  }
  return out.take();
}

}  // namespace

RemoteActivities::RemoteActivities(const RankShare& share, std::vector<int> process_of,
                                   Peers& peers)
    : share_{share}, process_of_{std::move(process_of)}, peers_{peers} {}

RemoteActivities::~RemoteActivities() {
  if (is_asking_) return;
  static_cast<void>(
      peers_.exchange(std::vector<std::string>(static_cast<std::size_t>(peers_.count()))));
}

AskActivity RemoteActivities::asking() {
  return [this](std::span<const ActivityQuestion> questions) { return ask(questions); };
}

ActivityAnswers RemoteActivities::ask(std::span<const ActivityQuestion> questions) {
  if (questions.empty()) return {};
  std::vector<ByteWriter> out(static_cast<std::size_t>(peers_.count()));
  for (ByteWriter& to : out) to.count(kAsks);
  for (const ActivityQuestion& question : questions) {
    ByteWriter& to = out[static_cast<std::size_t>(process_of_[question.rank])];
    to.count(question.rank);
    to.number(question.window.start);
    to.number(minus_ns(question.window.end, question.window.start));
  }
  std::vector<std::string> sent;
  for (ByteWriter& to : out) sent.push_back(to.take());
  is_asking_ = true;
  const std::vector<std::string> own = peers_.exchange(std::move(sent));
  const std::vector<std::string> answers = peers_.gather(answers_to(own[0], share_));
  is_asking_ = false;
  std::vector<ByteReader> from;
  for (const std::string& bytes : answers) from.emplace_back(bytes);
  ActivityAnswers all;
  for (const ActivityQuestion& question : questions) {
    ByteReader& in = from[static_cast<std::size_t>(process_of_[question.rank])];
    if (in.count() == 0) {
      all.emplace_back();
    } else {
      std::string what{in.text()};
      all.push_back(ActivityAnswer{std::move(what), in.number()});
    }
  }
  return all;
}

void serve_activities(const RankShare& share, Peers& peers) {
  while (true) {
    const std::vector<std::string> asked =
        peers.exchange(std::vector<std::string>(static_cast<std::size_t>(peers.count())));
    if (asked[0].empty()) return;
    static_cast<void>(peers.gather(answers_to(asked[0], share)));
  }
}

}  // namespace tracelens
