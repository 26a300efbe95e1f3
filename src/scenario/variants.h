// One scenario in several sizes and orders: names, each with the values that it has in turn.
//
//   variants: { n: [1, 4, 16], order: [forwards, shuffled] }
//
// makes six scenarios. In each of them $n and $(n*2+1) in any text stand for numbers, and $order
// for a word, before anything else is read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "k8s/yaml_reader.h"

namespace knx::scenario {

inline constexpr std::size_t kMaxVariants = 1'000;

struct Variant {
  std::vector<std::pair<std::string, std::string>> values;  // by name
  [[nodiscard]] std::string ToString() const;               // "n=4, order=shuffled"
};

// Those of a document, the values of the last name changing fastest. One without values if it has
// no `variants`.
Result<std::vector<Variant>> VariantsOf(const k8s::YamlNode& document, std::string_view file);

// The document with values in the stead of names, and without `variants`.
Result<k8s::YamlNode> InVariant(k8s::YamlNode document, const Variant& variant,
                                std::string_view file);

}  // namespace knx::scenario
