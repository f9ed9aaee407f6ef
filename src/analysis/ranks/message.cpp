#include "analysis/ranks/message.hpp"

#include <algorithm>
#include <iterator>
#include <tracelens/table_text.hpp>

#include "analysis/kit/cells.hpp"
#include "trace/json_value.hpp"

namespace tracelens {
namespace {

constexpr CollectiveFieldText kTexts[kCollectiveFieldCount] = {
    {"Process Group Name", "process group the collective ran in"},
    {"Process Group Ranks", "ranks of that group"},
    {"Collective name", "operation"},
    {"Group size", "number of ranks"},
    {"dtype", "element type"},
    {"In msg nelems", "elements each rank sends"},
    {"Out msg nelems", "elements each rank receives"},
    {"In split size", "elements sent to each rank, when uneven"},
    {"Out split size", "elements received from each rank, when uneven"},
};

struct DtypeSize {
  std::string_view name;
  double bytes;
  Edition edition = Edition::kExtended;
};
constexpr DtypeSize kDtypes[] = {
    {"Float", 4, Edition::kReference},
    {"Int", 4, Edition::kReference},
    {"Long", 8, Edition::kReference},
    {"BFloat16", 2, Edition::kReference},
    {"Bool", 1, Edition::kReference},
    {"Byte", 1, Edition::kReference},
    {"Double", 8, Edition::kReference},
    {"Half", 2, Edition::kReference},
    {"Short", 2, Edition::kReference},
    {"Char", 1},
    {"UInt16", 2},
    {"UInt32", 4},
    {"UInt64", 8},
    {"ComplexHalf", 4},
    {"ComplexFloat", 8},
    {"ComplexDouble", 16},
    {"QInt8", 1},
    {"QUInt8", 1},
    {"QInt32", 4},
    {"Float8_e5m2", 1},
    {"Float8_e4m3fn", 1},
    {"Float8_e5m2fnuz", 1},
    {"Float8_e4m3fnuz", 1},
    {"Float8_e8m0fnu", 1},
    {"bytes", 1},  // of a message of several types; what follows are XLA's names
    {"pred", 1},
    {"s8", 1},
    {"u8", 1},
    {"s16", 2},
    {"u16", 2},
    {"s32", 4},
    {"u32", 4},
    {"s64", 8},
    {"u64", 8},
    {"bf16", 2},
    {"f16", 2},
    {"f32", 4},
    {"f64", 8},
    {"c64", 8},
    {"c128", 16},
};

struct KindName {
  std::string_view name;
  CollectiveKind kind;
  Edition edition = Edition::kExtended;
};
constexpr KindName kKinds[] = {
    {"allreduce", CollectiveKind::kAllReduce, Edition::kReference},
    {"allreduce_coalesced", CollectiveKind::kAllReduce, Edition::kReference},
    {"reducescatter", CollectiveKind::kReduceScatter, Edition::kReference},
    {"_reduce_scatter_base", CollectiveKind::kReduceScatter, Edition::kReference},
    {"reduce_scatter_tensor_coalesced", CollectiveKind::kReduceScatter, Edition::kReference},
    {"reduce_scatter", CollectiveKind::kReduceScatter},
    {"allgather", CollectiveKind::kAllGather, Edition::kReference},
    {"all_gather", CollectiveKind::kAllGather, Edition::kReference},
    {"_allgather_base", CollectiveKind::kAllGather, Edition::kReference},
    {"all_gather_into_tensor_coalesced", CollectiveKind::kAllGather, Edition::kReference},
    {"allgather_into_tensor_coalesced", CollectiveKind::kAllGather, Edition::kReference},
    {"all_to_all", CollectiveKind::kAllToAll, Edition::kReference},
    {"all_to_allv", CollectiveKind::kAllToAllV, Edition::kReference},
    {"broadcast", CollectiveKind::kBroadcast},
    {"_broadcast_oop", CollectiveKind::kBroadcast},
    {"reduce", CollectiveKind::kReduce},
    {"_reduce_oop", CollectiveKind::kReduce},
    {"gather", CollectiveKind::kGather},
    {"scatter", CollectiveKind::kScatter},
    {"barrier", CollectiveKind::kBarrier},
    {"collective_permute", CollectiveKind::kPermute},
    {"send", CollectiveKind::kSend},
    {"recv", CollectiveKind::kReceive},
};

bool is_in(Edition edition, Edition entry) {
  return edition == Edition::kExtended || entry == Edition::kReference;
}

int sign_of(double a, double b) { return static_cast<int>(b < a) - static_cast<int>(a < b); }

// Numbers, lists, text, blanks: one after the other.
int order_of(const Value& value) {
  if (value.is_number()) return 0;
  if (value.is_null()) return 3;
  return value.is_text() ? 2 : 1;
}

}  // namespace

const CollectiveFieldText& text_of(CollectiveField field) {
  return kTexts[static_cast<std::size_t>(field)];
}

CollectiveMessage collective_message(const Value& arguments) {
  CollectiveMessage message;
  for (std::size_t i = 0; i < kCollectiveFieldCount; ++i)
    if (const Value* value = arguments.find(kTexts[i].name)) message.fields[i] = *value;
  return message;
}

std::string key_of(const CollectiveMessage& message) {
  std::string key;
  for (const Value& field : message.fields) key += canonical_text(field) + '\0';
  return key + canonical_text(message.stream);
}

CollectiveKind kind_of(const Value& collective_name, Edition edition) {
  const auto* const found = std::ranges::find(kKinds, collective_name.as_text(), &KindName::name);
  if (found == std::end(kKinds)) return CollectiveKind::kUnknown;
  return is_in(edition, found->edition) ? found->kind : CollectiveKind::kUnknown;
}

bool is_synchronizing(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll:
      return true;
    default:
      return false;
  }
}

double bus_factor(CollectiveKind kind, double size) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * (size - 1) / size;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kAllToAllV:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      return (size - 1) / size;
    default:
      return 1;
  }
}

std::optional<double> dtype_bytes(const Value& dtype, Edition edition) {
  const auto* const found = std::ranges::find(kDtypes, dtype.as_text(), &DtypeSize::name);
  if (!dtype.is_text() || found == std::end(kDtypes) || !is_in(edition, found->edition))
    return std::nullopt;
  return found->bytes;
}

std::optional<double> message_mib(const CollectiveMessage& message, CollectiveField elements,
                                  Edition edition) {
  const auto bytes = dtype_bytes(message[CollectiveField::kDtype], edition);
  if (!bytes || !message[CollectiveField::kInElements].is_number() ||
      !message[elements].is_number())
    return std::nullopt;
  return message[elements].as_real() * *bytes / (1024.0 * 1024.0);
}

int compare_keys(const Value& a, const Value& b) {
  if (order_of(a) != order_of(b)) return order_of(a) - order_of(b);
  if (a.is_number()) return sign_of(a.as_real(), b.as_real());
  if (a.is_text()) return a.as_text().compare(b.as_text());
  const std::size_t shared = std::min(a.items().size(), b.items().size());
  for (std::size_t i = 0; i < shared; ++i) {
    const Value &x = a.items()[i], &y = b.items()[i];
    const int order = x.is_number() && y.is_number() ? sign_of(x.as_real(), y.as_real())
                                                     : python_repr(x).compare(python_repr(y));
    if (order != 0) return order;
  }
  return sign_of(static_cast<double>(a.items().size()), static_cast<double>(b.items().size()));
}

}  // namespace tracelens
