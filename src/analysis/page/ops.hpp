// ops.hpp: the ops that a page's slices and nodes name, once for each name, shapes and types.
//   PageOps ops;
//   TraceOps of_trace{trace, names, ops};
//   slice.op = of_trace.of(event);
#pragma once

#include <cstdint>
#include <map>
#include <tracelens/page.hpp>
#include <tracelens/table_text.hpp>
#include <tracelens/trace.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/page/names.hpp"

namespace tracelens {

class PageOps {
 public:
  // 1 + its place.
  [[nodiscard]] std::uint32_t of(const PageOp& op) {
    const auto [entry, is_new] = places_.try_emplace(std::tuple{op.name, op.shapes, op.types},
                                                     static_cast<std::uint32_t>(ops_.size() + 1));
    if (is_new) ops_.push_back(op);
    return entry->second;
  }
  [[nodiscard]] std::vector<PageOp> take() && { return std::move(ops_); }

 private:
  std::map<std::tuple<PageName, PageName, PageName>, std::uint32_t> places_;
  std::vector<PageOp> ops_;
};

// Those of one trace: each signature is looked at once.
class TraceOps {
 public:
  TraceOps(const Trace& trace, TraceNames& names, PageOps& ops)
      : trace_{trace}, names_{names}, ops_{ops}, known_(trace.signature_table().size()) {}
  // 1 + its place in Page::ops.
  [[nodiscard]] std::uint32_t of(EventId op) {
    const SignatureId id = trace_.signatures()[op.row];
    if (!id.valid()) return ops_.of({.name = names_.of(op)});
    std::uint32_t& known = known_[id.row];
    if (known == 0) {
      const Signature& arguments = trace_.signature(id);
      const auto text = [this](const Value& value) {
        return value.is_null() ? PageName{0} : names_.of(python_repr(value));
      };
      known = ops_.of({names_.of(op), text(arguments.dims), text(arguments.types)});
    }
    return known;
  }

 private:
  const Trace& trace_;
  TraceNames& names_;
  PageOps& ops_;
  std::vector<std::uint32_t> known_;  // by signature
};

}  // namespace tracelens
