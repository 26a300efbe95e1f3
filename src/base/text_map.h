// A hash map with texts as keys that can be asked with views of texts.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/hash/hash.h>

#include <functional>
#include <string>
#include <string_view>

namespace knx {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return absl::HashOf(text); }
};

template <class Value>
using TextMap = absl::flat_hash_map<std::string, Value, TextHash, std::equal_to<>>;

}  // namespace knx
