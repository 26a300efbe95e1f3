// Strings that are compared often, stored once and named by a number.
// For words of which a cluster has few (node label keys and values, resource names, namespaces): a
// symbol is never given back, so what is different for every pod must not become one.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/id.h"

namespace knx {

using Symbol = Id<struct SymbolTag>;

class SymbolTable {
 public:
  // The symbol for `text`, new if it was not there.
  Symbol Intern(std::string_view text);
  // The symbol for `text`, invalid if nobody interned it: then nothing in the table can be equal to
  // it.
  [[nodiscard]] Symbol Find(std::string_view text) const;
  [[nodiscard]] std::string_view Text(Symbol symbol) const { return texts_[symbol.index]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::deque<std::string> texts_;  // a deque, so that the views in index_ stay valid
  absl::flat_hash_map<std::string_view, Symbol> index_;
};

}  // namespace knx
