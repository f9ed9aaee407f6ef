// precompiled.hpp: the headers nearly every file includes, compiled once per build (tl_precompile).
// A file still includes what it uses: the presets without precompiled headers see to it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <tracelens/value.hpp>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
