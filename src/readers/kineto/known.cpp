// Events that are written like others before them.
#include "readers/kineto/event.hpp"
#include "readers/kineto/fields.hpp"
#include "readers/kineto/layouts.hpp"
#include "readers/kineto/values.hpp"
#include "readers/kineto/words.hpp"

namespace tracelens::kineto {
namespace {

void listen(const Layouts::Step& step, EventFields& fields) {
  using What = Layouts::Said::What;
  if (step.phase != 0) fields.phase = step.phase;
  if (step.has_category) {
    fields.category = step.category;
    fields.category_text = step.category_text;
  }
  for (std::size_t i = 0; i < step.said_count; ++i) {
    const auto& [what, arg, value] = step.said[i];
    if (what == What::kNumber)
      fields.numbers[arg] = value;
    else
      (what == What::kPid ? fields.track.pid : fields.track.tid) = {RawTrackPart::Kind::kInt,
                                                                    value};
  }
}

}  // namespace

const char* EventParser::parse_known(const char* p, const char* end, EventFields& fields) {
  using Step = Layouts::Step;
  // What begins an event may follow any that has ended.
  Step* parent = &layouts_->last_end();
  if (parent->next == nullptr) parent->next = layouts_->root().next;
  for (;;) {
    Step* const likely = parent->next;
    if (likely == nullptr) return nullptr;
    Step* step = likely;
    while (!is_same(p, step->text)) {
      step = step->other;
      if (step == likely) return nullptr;
    }
    parent->next = step;
    p += step->text.size();
    if (step->says) listen(*step, fields);
    const char* const value = p;
    switch (step->reading) {
      case Reading::kTime:
        p = parse_time(p, end, step->head, fields.*step->number);
        break;
      case Reading::kInteger:
        p = parse_integer(p, end, fields.*step->number);
        break;
      case Reading::kPid:
        p = parse_track_part(p, end, fields.track.pid);
        break;
      case Reading::kTid:
        p = parse_track_part(p, end, fields.track.tid);
        break;
      case Reading::kName:
        fields.trail = &step->trail;
        fields.expected = layouts_->recall().after(step->trail);
        p = parse_name(p, end, fields);
        break;
      case Reading::kNumber:
        p = parse_integer(p, end, fields.numbers[step->arg]);
        break;
      case Reading::kMemory:
        p = parse_integer(p, end, fields.memory.*step->memory);
        break;
      case Reading::kSignature:
        p = parse_signature_part(step->part, p, end, fields);
        break;
      case Reading::kCallStack:
        p = parse_call_stack(p, end, fields);
        break;
      case Reading::kSkip:
        p = skip_number(p, end);
        break;
      case Reading::kArg:
        p = parse_arg(step->key, p, end, fields);
        break;
      case Reading::kEnd:
        layouts_->set_last_end(*step);
        return p;
    }
    if (p == nullptr) return nullptr;
    if (step->is_detail || (step->may_be_counter && is_counter(step->key, between(value, p))))
      details_.push_back(between(value - step->key_distance(), p));
    parent = step;
  }
}

}  // namespace tracelens::kineto
