// One run, all rules: what they found becomes findings in the order in which they are best mended.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tracelens/critical_path.hpp>
#include <tracelens/diagnose.hpp>
#include <tracelens/error.hpp>
#include <utility>

#include "analysis/compare/gates.hpp"
#include "diagnosis/engine/diagnose_rank.hpp"
#include "diagnosis/engine/quality.hpp"
#include "diagnosis/engine/savings.hpp"
#include "diagnosis/engine/verdict.hpp"
#include "diagnosis/kit/context.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/overhead_numbers.hpp"
#include "diagnosis/rules/list.hpp"
#include "io/parallel.hpp"
#include "io/threads.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kMostPlaces = 5;
constexpr double kOnePercent = 0.01;

constexpr std::string_view kEngineId = "engine";
constexpr Number kEngineNumbers[] = {
    {"specific_pct", 5, "% of the window: specific causes that save this much come first"},
    {"unlocked_pct", 1, "% of the window: less is not worth mending, for what is locked"},
    {"one_off_pct", 5, "% of the window: what is seen once counts from here on"},
};

// --- options ---

bool is_known_key(std::string_view key, bool is_number) {
  const auto dot = key.rfind('.');
  if (dot == key.npos) return false;
  const std::string_view id = key.substr(0, dot), name = key.substr(dot + 1);
  const auto has = [&](std::span<const Number> numbers) {
    return is_number && std::ranges::find(numbers, name, &Number::key) != numbers.end();
  };
  if (id == kOverheadId) return has(overhead_numbers());
  if (id == kEngineId) return has(kEngineNumbers);
  return std::ranges::any_of(all_rules(), [&](const Rule* rule) {
    return rule->id == id &&
           (has(rule->numbers) || (!is_number && (name == "title" || name == "try")));
  });
}

void check_settings(const RuleSettings& settings) {
  const auto check = [&](const auto& map, std::string_view what, std::string_view ending) {
    for (const auto& [key, value] : map)
      if (!is_known_key(key, what == "number") || !key.ends_with(ending))
        throw Error{settings.file,
                    fmt::format("there is no {} '{}'; tracelens diagnose --list-rules shows all "
                                "numbers, a title is a text, what to try a list of texts",
                                what, key)};
  };
  check(settings.numbers, "number", "");
  check(settings.texts, "text", ".title");
  check(settings.lists, "list", ".try");
  for (const auto& [key, value] : settings.numbers)
    if (value < 0) throw Error{settings.file, fmt::format("{}: expected 0 or more", key)};
}

void check_ids(const std::vector<std::string>& patterns, std::string_view flag) {
  for (const std::string& pattern : patterns)
    if (std::ranges::none_of(all_rules(),
                             [&](const Rule* rule) { return matches_pattern(pattern, rule->id); }))
      throw Error{flag, fmt::format("no rule is called '{}'", pattern)};
}

bool is_wanted(const Rule& rule, const DiagnoseOptions& options) {
  const auto named = [&](const std::string& pattern) { return matches_pattern(pattern, rule.id); };
  if (std::ranges::any_of(options.skip, named)) return false;
  return options.only.empty() || std::ranges::any_of(options.only, named);
}

// --- from drafts to findings ---

bool changes_anything(const PathEdit& edit) {
  return !edit.gpu().empty() || !edit.host().empty() || !edit.syncs().empty() ||
         !edit.launches().empty() || !edit.kernel_gaps().empty() || edit.all_gpu() ||
         edit.all_host() || edit.no_syncs() || edit.no_launch_latency() || edit.no_launch_calls();
}

// Seen in fewer than half of three steps or more.
bool is_in_few_steps(const DiagnosisContext& context, const Draft& draft) {
  if (context.window.steps.size() < 3) return false;
  if (draft.edit.all_gpu() || draft.edit.all_host() || draft.edit.no_syncs() ||
      draft.edit.no_launch_latency())
    return false;
  std::set<std::size_t> steps;
  const auto add = [&](std::int64_t ts_ns) {
    if (const auto step = context.step_at(ts_ns)) steps.insert(*step);
  };
  const auto add_gpu = [&](EventId event) {
    const EventId call = context.tree().launch_of(event);
    add(context.trace.ts_ns()[call.valid() ? call.row : event.row]);
  };
  for (const auto& change : draft.edit.gpu()) add_gpu(change.event);
  for (const auto& change : draft.edit.launches()) add_gpu(change.event);
  for (const auto& change : draft.edit.kernel_gaps()) add_gpu(change.event);
  for (const auto& change : draft.edit.host()) add(change.from_ns);
  for (const EventId call : draft.edit.syncs()) add(context.trace.ts_ns()[call.row]);
  return !steps.empty() && steps.size() * 2 < context.window.steps.size();
}

Confidence lower(Confidence confidence) {
  return confidence == Confidence::kHigh ? Confidence::kMedium : Confidence::kLow;
}

Severity severity_of(double percent) {
  if (percent >= 20) return Severity::kCritical;
  if (percent >= 5) return Severity::kMajor;
  return percent >= 1 ? Severity::kMinor : Severity::kInfo;
}

Finding finding_of(const DiagnosisContext& context, Candidate& candidate) {
  Draft& draft = candidate.draft;
  const std::string id{candidate.rule->id};
  const auto title = context.settings.texts.find(id + ".title");
  const auto tries = context.settings.lists.find(id + ".try");
  if (draft.title.empty()) draft.title = candidate.rule->title;
  Finding finding{
      .id = id,
      .title = title == context.settings.texts.end() ? std::move(draft.title) : title->second,
      .verdict = std::move(draft.verdict),
      .saving_ns = candidate.saving_ns,
      .saving_percent = context.share(candidate.saving_ns),
      .alone = candidate.alone,
      .gpu_saving_ns = candidate.gpu_saving_ns,
      .impact = draft.impact,
      .confidence = draft.confidence,
      .is_one_off = candidate.is_one_off,
      .locked_by = candidate.locked_by,
      .formula = std::move(draft.formula),
      .where = std::move(draft.where),
      .evidence = std::move(draft.evidence),
      .tries = tries == context.settings.lists.end() ? draft.tries : tries->second,
      .verify = std::move(draft.verify)};
  finding.severity = severity_of(finding.saving_percent);
  if (!candidate.is_for_information() && !candidate.estimates_agree)
    finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  constexpr std::int64_t kLittleGpuTime = 1'000'000;
  const bool is_short = context.steps() < 3 || context.busy_ns() < kLittleGpuTime;
  if (is_short) finding.confidence = lower(finding.confidence);
  if (!context.path().usable()) finding.confidence = lower(finding.confidence);
  std::ranges::stable_sort(finding.where, std::ranges::greater{}, &FindingPlace::time_ns);
  if (finding.where.size() > kMostPlaces) finding.where.resize(kMostPlaces);
  return finding;
}

// What a rule finds depends on what those before it have taken. Several threads ask all of them as if that
// were nothing; a rule that asked about an event which then was taken is asked once more in its turn.
std::vector<Candidate> ask_rules(DiagnosisContext& context, bool graphs_are_whole) {
  struct Guess {
    std::optional<Draft> draft;
    EventSet asked;
  };
  std::vector<const Rule*> rules;
  for (const Rule* const rule : all_rules())
    if (is_wanted(*rule, context.options) && (graphs_are_whole || !rule->needs_whole_graphs))
      rules.push_back(rule);
  const auto ask = [&context](const Rule& rule) {
    return rule.find(context, Numbers{rule.id, rule.numbers, context.settings});
  };
  const int threads = threads_on_path(context);
  std::vector<Guess> guesses(threads > 1 ? rules.size() : 0);
  io::for_each_part(threads, guesses.size(), [&](std::size_t i) {
    const Listening to_this_rule{guesses[i].asked};
    guesses[i].draft = ask(*rules[i]);
  });
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    std::optional<Draft> draft;
    const bool is_right = !guesses.empty() && !context.taken().has_any(guesses[i].asked);
    if (is_right) draft = std::move(guesses[i].draft);
    if (!guesses.empty()) guesses[i] = {};  // makes room
    if (!is_right) draft = ask(*rules[i]);
    if (!draft) continue;
    for (const auto& change : draft->edit.gpu()) context.taken().take(change.event);
    for (const EventId event : draft->owned) context.taken().take(event);
    candidates.push_back({.rule = rules[i], .draft = *std::move(draft)});
  }
  for (Candidate& candidate : candidates)
    candidate.is_generic =
        candidate.rule->is_generic || std::ranges::any_of(candidates, [&](const Candidate& other) {
          return std::ranges::find(candidate.rule->explained_by, other.rule->id) !=
                 candidate.rule->explained_by.end();
        });
  return candidates;
}

// Whether a finding that was never reached is still to be shown.
bool is_worth_showing(const DiagnosisContext& context, const Candidate& candidate,
                      double least_percent) {
  if (!changes_anything(candidate.draft.edit) || candidate.is_one_off) return true;
  if (candidate.rule->is_generic) return false;
  return context.share(candidate.alone.mid_ns) >= least_percent || !candidate.locked_by.empty();
}

// Only GPU time that is worth saving, once something else no longer hides it, is locked.
void unlock_the_rest(const DiagnosisContext& context, std::vector<Candidate>& candidates) {
  for (Candidate& candidate : candidates)
    if (context.share(candidate.alone.mid_ns) >= 1 ||
        context.busy_share(candidate.gpu_saving_ns) < 1)
      candidate.locked_by.clear();
}

void fill_in_run(const DiagnosisContext& context, Diagnosis& diagnosis) {
  const Trace& trace = context.trace;
  diagnosis.files = {trace.source().name};
  diagnosis.format = trace.source().format;
  diagnosis.gpu = device_name(trace);
  if (diagnosis.gpu.empty() && context.gpu() != nullptr) diagnosis.gpu = context.gpu()->name;
  diagnosis.devices = context.gpu_events().empty() ? 0 : context.gpu_times().devices;
  diagnosis.start_ns = context.time().start - trace_span(trace).start_ns;
  diagnosis.corrected_ns = context.length_ns();
  diagnosis.length_ns =
      context.path().usable() ? context.path().recorded_ns() : diagnosis.corrected_ns;
  for (const Step& step : context.window.steps) diagnosis.steps.push_back(step.name);
  for (const DroppedStep& step : context.window.dropped)
    diagnosis.dropped_steps.push_back(step.name);
  diagnosis.gpu_busy_ns = context.gpu_times().busy_ns;
  diagnosis.gpu_idle_ns = context.gpu_times().idle_ns();
  if (context.path().usable())
    for (std::size_t i = 0; i < kBoundByNames.size(); ++i)
      if (const std::int64_t ns = context.path().bound_by()[i]; ns > 0)
        diagnosis.path.emplace_back(kBoundByNames[i], ns);
  std::ranges::stable_sort(diagnosis.path, std::ranges::greater{},
                           &std::pair<std::string, std::int64_t>::second);
}

// What takes longest to make, by several threads at once.
void prepare(const DiagnosisContext& context) {
  const int threads = io::thread_count(context.options.threads);
  if (threads < 2 || context.gpu_events().empty()) return;
  io::for_each_part(threads, 3, [&context](std::size_t part) {
    if (part == 0) (void)context.path();
    if (part == 1) {
      (void)context.op_groups();
      (void)context.fusion();
    }
    if (part == 2) {
      (void)context.syncs();
      (void)context.queues();
    }
  });
}

void list_tables(Diagnosis& diagnosis) {
  for (const Finding& finding : diagnosis.findings)
    for (const Evidence& row : finding.evidence)
      if (!row.table.empty() &&
          std::ranges::find(diagnosis.tables, row.table) == diagnosis.tables.end())
        diagnosis.tables.push_back(row.table);
}

}  // namespace

void check_options(const DiagnoseOptions& options) {
  check_step_choice(options.steps);
  check_ids(options.only, "--only");
  check_ids(options.skip, "--skip");
  (void)chosen_gpu(options.gpu, nullptr);
  check_settings(read_rule_settings(options.rules_file));
}

Diagnosis diagnose(const Trace& trace, const DiagnoseOptions& options) {
  return diagnose_rank(trace, options, nullptr);
}

Diagnosis diagnose_rank(const Trace& trace, const DiagnoseOptions& options, const JobFacts* job) {
  check_step_choice(options.steps);
  check_ids(options.only, "--only");
  check_ids(options.skip, "--skip");
  const RuleSettings settings = read_rule_settings(options.rules_file);
  check_settings(settings);
  DiagnosisContext context{trace, options, settings, job};
  prepare(context);
  Diagnosis diagnosis;
  fill_in_run(context, diagnosis);
  std::vector<Candidate> candidates;
  if (!context.gpu_events().empty() && context.length_ns() > 0)
    candidates = ask_rules(context, are_graphs_whole(context));
  diagnosis.quality = quality_notes(context);
  context.forget_ops_and_host();
  const Numbers n{kEngineId, kEngineNumbers, settings};
  const auto part = [&](double percent) {
    return static_cast<std::int64_t>(percent * kOnePercent *
                                     static_cast<double>(context.length_ns()));
  };
  estimate_alone(context, candidates);
  for (Candidate& candidate : candidates) {
    candidate.is_one_off = is_in_few_steps(context, candidate.draft) &&
                           candidate.alone.mid_ns < part(n["one_off_pct"]);
  }
  diagnosis.saving_all_ns = order_by_savings(context, candidates,
                                             {.least_ns = part(options.min_saving_percent),
                                              .specific_ns = part(n["specific_pct"]),
                                              .unlocked_ns = part(n["unlocked_pct"])});
  unlock_the_rest(context, candidates);
  // The reached ones in their order; behind them those that others swallowed or hide, by what they
  // save alone.
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    if (a.place.has_value() != b.place.has_value()) return a.place.has_value();
    if (a.place) return *a.place < *b.place;
    return a.alone.mid_ns > b.alone.mid_ns;
  });
  for (Candidate& candidate : candidates) {
    if (candidate.place || is_worth_showing(context, candidate, options.min_saving_percent))
      diagnosis.findings.push_back(finding_of(context, candidate));
    else
      ++diagnosis.below_minimum;
  }
  diagnosis.verdict = verdict_on(context, diagnosis);
  list_tables(diagnosis);
  return diagnosis;
}

Table rule_list() {
  const ColumnSpec columns[] = {
      {"rule", Kind::kText, "", "id of the rule"},
      {"title", Kind::kText, "", "what it is about"},
      {"number", Kind::kText, "", "key of a number that a file of rules may set"},
      {"value", Kind::kReal, "", "its value"},
      {"meaning", Kind::kText, "text", "what it limits or scales"},
  };
  Table table{"rules", "The rules of diagnose and their numbers", columns};
  const auto add = [&](std::string_view id, std::string_view title,
                       std::span<const Number> numbers) {
    if (numbers.empty()) table.add_row(id, title, kMissing, kMissing, kMissing);
    for (const Number& number : numbers)
      table.add_row(id, title, fmt::format("{}.{}", id, number.key), number.value, number.meaning);
  };
  for (const Rule* const rule : all_rules()) add(rule->id, rule->title, rule->numbers);
  table.sort_by("rule");
  add(kEngineId, "how findings are put in order", kEngineNumbers);
  add(kOverheadId, "what recording costs the host", overhead_numbers());
  return table;
}

}  // namespace tracelens
