// step_annotation.hpp: what a serving engine writes into the name of the annotation around a step.
//   const auto step = parse_step_annotation("step[DECODE bs=32 toks=32]");
//   if (step) use(step->phase, step->requests(), step->batch_size);
// Names may go on behind what is described here. Grammar and fields: docs/guide/split.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/model.hpp>

namespace tracelens {

// In the order in which they are tried. Those called detailed give all sums of StepTokens.
enum class AnnotationKind : std::uint8_t {
  kVllmDetailed,    // execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk9sqsq64sqsk9)
  kVllm,            // execute_context_2(60)_generation_3(3): requests(tokens)
  kSglangDetailed,  // step[DECODE bs=32 g_sq=32 g_sk=32785 g_sqsq=32 g_sqsk=32785]
  kSglang,          // step[EXTEND bs=2 toks=4096]
  kAtomDetailed,    // decode[bs=128 tok=384 sqsq=132612 sqsk=1114112 sk=258048]
  kAtom,            // prefill[bs=1 tok=8]
  kDiffusion,       // execute_diffusion_1_256x256
};
[[nodiscard]] std::string_view kind_name(AnnotationKind kind);  // "vllm_detailed", "vllm_native", …

// What a step does: works on new prompts (context), on one more token of each request (generation),
// on both, on images (diffusion), or on nothing.
enum class ServingPhase : std::uint8_t { kNone, kPrefill, kMixed, kDecode, kDenoise };
inline constexpr std::size_t kServingPhases = 5;
// "prefill", "mixed", "decode", "denoise", ""
[[nodiscard]] std::string_view phase_name(ServingPhase phase);
[[nodiscard]] ServingPhase phase_of(std::int64_t context_requests,
                                    std::int64_t generation_requests);

struct StepAnnotation {
  AnnotationKind kind = AnnotationKind::kVllmDetailed;
  ServingPhase phase = ServingPhase::kNone;
  std::int64_t batch_size = 1;  // tokens, where they are known
  std::int64_t context_requests = 0, generation_requests = 0;
  std::int64_t context_sum = 0, generation_sum = 0;  // tokens of these requests
  StepTokens tokens;
  bool has_all_tokens = false;  // the name gives the products too
  // False: the name does not tell which tokens are of prompts and which are generated; all count as
  // context here.
  bool is_divided = true;
  std::string_view mode;        // EXTEND, DECODE, MIXED, prefill, decode; empty: not said
  std::string_view resolution;  // 256x256
  // ATOM: requests being prefilled and decoded, guessed tokens per request.
  std::int64_t prefills = 0, decodes = 0, speculated = 0;

  [[nodiscard]] std::int64_t requests() const { return context_requests + generation_requests; }
};

// None when the name is no such annotation. The texts in the result point into the name. Numbers
// that are none count as 0; those beyond 1e15 stop there.
// In the reference edition a mixed ATOM step is one of decoding and a diffusion step works on
// nothing. In ours the requests of the first are divided (its tokens as far as they are known; the
// products in `tokens` cannot be), SGLang's short MIXED is mixed and not divided, and the second denoises its images.
[[nodiscard]] std::optional<StepAnnotation> parse_step_annotation(
    std::string_view name, Edition edition = Edition::kExtended);

// 1: the name of a detailed annotation, 2: of a plain one, 0: neither. Goes by the look of the name
// alone: a name of tier 2 need not parse.
[[nodiscard]] int annotation_tier(std::string_view name);

// The sums of an annotation; none when it has not all of them.
[[nodiscard]] std::optional<StepTokens> parse_step_tokens(std::string_view annotation);

// capture_128_FULL: what a graph was captured for.
struct CaptureAnnotation {
  std::int64_t batch_size = 0;
  std::string_view mode;  // free text, often FULL or PIECEWISE
};
[[nodiscard]] std::optional<CaptureAnnotation> parse_capture_annotation(std::string_view name);

}  // namespace tracelens
