#include "facts/step_annotation.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace tracelens {
namespace {

using Group = StepTokens::Group;
using Piece = re2::StringPiece;

std::string_view view(const Piece& piece) { return {piece.data(), piece.size()}; }
Piece piece(std::string_view text) { return {text.data(), text.size()}; }

// Sums of a few of these stay far from the border of int64.
constexpr std::int64_t kLargest = 1'000'000'000'000'000;

// 0 when the text is not a whole number.
std::int64_t number(const Piece& text) {
  const char* const end = text.data() + text.size();
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ptr != end || read.ec == std::errc::invalid_argument) return 0;
  if (read.ec == std::errc::result_out_of_range) return kLargest;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, kLargest));
}

std::int64_t first_non_zero(std::int64_t a, std::int64_t b, std::int64_t c = 0) {
  return a != 0 ? a : b != 0 ? b : c;
}

std::int64_t tokens_of(const StepTokens& tokens) {
  return static_cast<std::int64_t>(tokens.context.sq + tokens.generation.sq);
}

// The value of the last pair with this key; empty: none. `pattern` has two groups, key and value.
Piece value_of(Piece pairs, const RE2& pattern, std::string_view wanted) {
  Piece found, key, value;
  while (RE2::FindAndConsume(&pairs, pattern, &key, &value))
    if (view(key) == wanted) found = value;
  return found;
}

std::optional<StepAnnotation> parse_vllm_detailed(Piece name) {
  static const RE2 kPattern{R"(^execute_\d+_context_(\d+)\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\))"
                            R"(_generation_(\d+)\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\))"};
  std::array<Piece, 10> n;
  if (!RE2::PartialMatch(name, kPattern, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7],
                         &n[8], &n[9]))
    return std::nullopt;
  const auto group = [&](std::size_t first) {
    const auto at = [&](std::size_t i) { return static_cast<double>(number(n[first + i])); };
    return Group{.sq = at(0), .sk = at(1), .sqsq = at(2), .sqsk = at(3)};
  };
  StepAnnotation step{.kind = AnnotationKind::kVllmDetailed};
  step.context_requests = number(n[0]);
  step.context_sum = number(n[1]);
  step.generation_requests = number(n[5]);
  step.generation_sum = number(n[6]);
  step.tokens = {.context = group(1), .generation = group(6)};
  step.batch_size = tokens_of(step.tokens);
  step.has_all_tokens = true;
  return step;
}

std::optional<StepAnnotation> parse_vllm(Piece name) {
  static const RE2 kPattern{R"(^execute_context_(\d+)\((\d+)\)_generation_(\d+)\((\d+)\))"};
  std::array<Piece, 4> n;
  if (!RE2::PartialMatch(name, kPattern, &n[0], &n[1], &n[2], &n[3])) return std::nullopt;
  StepAnnotation step{.kind = AnnotationKind::kVllm};
  step.context_requests = number(n[0]);
  step.context_sum = number(n[1]);
  step.generation_requests = number(n[2]);
  step.generation_sum = number(n[3]);
  step.tokens.context.sq = static_cast<double>(step.context_sum);
  step.tokens.generation.sq = static_cast<double>(step.generation_sum);
  step.batch_size = tokens_of(step.tokens);
  return step;
}

bool looks_sglang_detailed(const Piece& name) {
  static const RE2 kPattern{R"(^step\[(?:EXTEND|DECODE|MIXED)\b[^\]]*sqsq=\d+[^\]]*\])"};
  return RE2::PartialMatch(name, kPattern);
}

bool looks_sglang(const Piece& name) {
  static const RE2 kPattern{R"(^step\[(?:EXTEND|DECODE|MIXED)\b.*\])"};
  return RE2::PartialMatch(name, kPattern);
}

std::optional<StepAnnotation> parse_sglang_detailed(Piece name) {
  if (!looks_sglang_detailed(name)) return std::nullopt;
  static const RE2 kPair{R"((\w+)=(\d+))"}, kMode{R"(^\s*(\S+))"};
  const std::size_t open = name.find('[') + 1;
  const Piece pairs = name.substr(open, name.rfind(']') - open);
  const auto value = [&](const std::string& key) { return number(value_of(pairs, kPair, key)); };
  const auto group = [&](const std::string& prefix) {
    const auto sum = [&](const char* key) { return static_cast<double>(value(prefix + key)); };
    return Group{.sq = sum("sq"), .sk = sum("sk"), .sqsq = sum("sqsq"), .sqsk = sum("sqsk")};
  };
  StepAnnotation step{.kind = AnnotationKind::kSglangDetailed};
  Piece mode;
  RE2::PartialMatch(pairs, kMode, &mode);
  step.mode = view(mode);
  step.tokens = {.context = group("c_"), .generation = group("g_")};
  step.has_all_tokens = true;
  const bool is_mixed = step.mode == "MIXED";
  if (step.mode == "EXTEND" || is_mixed) {
    step.context_requests = value(is_mixed ? "c" : "bs");
    step.context_sum = value("c_sq");
  }
  if (step.mode == "DECODE" || is_mixed) {
    step.generation_requests = value(is_mixed ? "g" : "bs");
    step.generation_sum = value("g_sq");
  }
  step.batch_size = first_non_zero(tokens_of(step.tokens), value("toks"), value("bs"));
  return step;
}

std::optional<StepAnnotation> parse_sglang(Piece name) {
  static const RE2 kPattern{R"(^step\[(\w+)\s+bs=(\d+)(?:\s+toks=(\d+))?\])"};
  Piece mode, requests, tokens;
  if (!looks_sglang(name) || !RE2::PartialMatch(name, kPattern, &mode, &requests, &tokens))
    return std::nullopt;
  StepAnnotation step{.kind = AnnotationKind::kSglang};
  step.mode = view(mode);
  if (step.mode == "DECODE") {
    step.generation_requests = step.generation_sum = number(requests);
  } else {
    step.context_requests = number(requests);
    step.context_sum = number(tokens);
  }
  step.tokens.context.sq = static_cast<double>(step.context_sum);
  step.tokens.generation.sq = static_cast<double>(step.generation_sum);
  step.batch_size = first_non_zero(tokens_of(step.tokens), number(requests));
  return step;
}

bool looks_atom_detailed(const Piece& name) {
  static const RE2 kPattern{R"(^(?:prefill|decode)\[.*sqsq=\d+.*\])"};
  return RE2::PartialMatch(name, kPattern);
}

std::optional<StepAnnotation> parse_atom(Piece name, Edition edition) {
  static const RE2 kPattern{R"(^(prefill|decode)\[(.*)\])"}, kFirstNumber{R"((\d+))"},
      kPair{R"((\w+)=(\[[^\]]*\](?:\.\.\.\+\d+)?|\S+))"};
  Piece mode, pairs;
  if (!RE2::PartialMatch(name, kPattern, &mode, &pairs)) return std::nullopt;
  const auto text = [&](std::string_view key) { return value_of(pairs, kPair, key); };
  const auto value = [&](std::string_view key) { return number(text(key)); };
  const auto sum = [&](std::string_view key) { return static_cast<double>(value(key)); };
  StepAnnotation step{.kind = looks_atom_detailed(name) ? AnnotationKind::kAtomDetailed
                                                        : AnnotationKind::kAtom};
  step.mode = view(mode);
  Piece digits;  // of 117 in bs=117/128
  RE2::PartialMatch(text("bs"), kFirstNumber, &digits);
  const std::int64_t requests = number(digits), tokens = value("tok");
  const Group group{.sq = sum("tok"), .sk = sum("sk"), .sqsq = sum("sqsq"), .sqsk = sum("sqsk")};
  step.batch_size = tokens;
  step.has_all_tokens = !text("sqsq").empty() && !text("sqsk").empty();
  if (step.mode == "prefill") {
    step.context_requests = requests;
    step.context_sum = tokens;
    step.tokens.context = group;
    return step;
  }
  step.generation_requests = requests;
  step.generation_sum = tokens;
  step.tokens.generation = group;
  step.prefills = value("p");
  step.decodes = value("d");
  step.speculated = value("spec");
  if (edition == Edition::kExtended && step.prefills > 0) {
    // A request that decodes has one token, and those guessed ahead. 1e15 stands for all numbers
    // that are too large, so the product is made of doubles.
    const double decoded =
        static_cast<double>(step.decodes) * (static_cast<double>(step.speculated) + 1);
    step.context_requests = step.prefills;
    step.generation_requests = step.decodes;
    step.generation_sum = static_cast<std::int64_t>(std::min(decoded, static_cast<double>(tokens)));
    step.context_sum = tokens - step.generation_sum;
  }
  return step;
}

std::optional<StepAnnotation> parse_diffusion(Piece name, Edition edition) {
  static const RE2 kPattern{R"(^execute_diffusion_(\d+)_(\d+x\d+))"};
  Piece images, resolution;
  if (!RE2::PartialMatch(name, kPattern, &images, &resolution)) return std::nullopt;
  StepAnnotation step{.kind = AnnotationKind::kDiffusion};
  step.batch_size = number(images);
  step.resolution = view(resolution);
  if (edition == Edition::kExtended) step.generation_requests = step.batch_size;
  return step;
}

std::optional<StepAnnotation> parse_by_kind(std::string_view text, Edition edition) {
  const Piece name = piece(text);
  // Most annotations are none of these; the first letters tell.
  if (text.starts_with("execute_")) {
    if (auto step = parse_vllm_detailed(name)) return step;
    if (auto step = parse_vllm(name)) return step;
    return parse_diffusion(name, edition);
  }
  if (text.starts_with("step[")) {
    if (auto step = parse_sglang_detailed(name)) return step;
    return parse_sglang(name);
  }
  if (text.starts_with("prefill[") || text.starts_with("decode[")) return parse_atom(name, edition);
  return std::nullopt;
}

}  // namespace

std::string_view kind_name(AnnotationKind kind) {
  constexpr std::string_view kNames[] = {"vllm_detailed",   "vllm_native",   "sglang_detailed",
                                         "sglang_native",   "atom_detailed", "atom_native",
                                         "diffusion_native"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view phase_name(ServingPhase phase) {
  constexpr std::string_view kNames[kServingPhases] = {"", "prefill", "mixed", "decode", "denoise"};
  return kNames[static_cast<std::size_t>(phase)];
}

ServingPhase phase_of(std::int64_t context_requests, std::int64_t generation_requests) {
  if (context_requests > 0)
    return generation_requests > 0 ? ServingPhase::kMixed : ServingPhase::kPrefill;
  return generation_requests > 0 ? ServingPhase::kDecode : ServingPhase::kNone;
}

std::optional<StepAnnotation> parse_step_annotation(std::string_view name, Edition edition) {
  auto step = parse_by_kind(name, edition);
  if (!step) return step;
  step->phase = phase_of(step->context_requests, step->generation_requests);
  if (edition == Edition::kExtended && step->kind == AnnotationKind::kDiffusion)
    step->phase = ServingPhase::kDenoise;
  // What SGLang's short form does not divide, it still calls by its name.
  if (edition == Edition::kExtended && step->kind == AnnotationKind::kSglang &&
      step->mode == "MIXED" && step->phase == ServingPhase::kPrefill) {
    step->phase = ServingPhase::kMixed;
    step->is_divided = false;
  }
  return step;
}

int annotation_tier(std::string_view name) {
  if (name.starts_with("step["))
    return looks_sglang_detailed(piece(name)) ? 1 : looks_sglang(piece(name)) ? 2 : 0;
  const auto step = parse_by_kind(name, Edition::kReference);
  if (!step) return 0;
  return step->kind == AnnotationKind::kVllmDetailed || step->kind == AnnotationKind::kAtomDetailed
             ? 1
             : 2;
}

std::optional<StepTokens> parse_step_tokens(std::string_view annotation) {
  const auto step = parse_step_annotation(annotation);
  if (!step || !step->has_all_tokens) return std::nullopt;
  return step->tokens;
}

std::optional<CaptureAnnotation> parse_capture_annotation(std::string_view name) {
  static const RE2 kPattern{R"(^capture_(\d+)_(.*))"};
  Piece batch_size, mode;
  if (!RE2::PartialMatch(piece(name), kPattern, &batch_size, &mode)) return std::nullopt;
  return CaptureAnnotation{.batch_size = number(batch_size), .mode = view(mode)};
}

}  // namespace tracelens
