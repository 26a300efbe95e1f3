#include "base/symbol.h"

namespace knx {

Symbol SymbolTable::Intern(std::string_view text) {
  if (const auto it = index_.find(text); it != index_.end()) return it->second;
  const Symbol symbol{static_cast<std::uint32_t>(texts_.size())};
  index_.emplace(texts_.emplace_back(text), symbol);
  return symbol;
}

Symbol SymbolTable::Find(std::string_view text) const {
  const auto it = index_.find(text);
  return it == index_.end() ? Symbol{} : it->second;
}

std::size_t SymbolTable::bytes() const {
  std::size_t total = index_.capacity() * (sizeof(std::string_view) + sizeof(Symbol) + 1);
  for (const std::string& text : texts_) {
    total += sizeof(std::string);
    if (text.capacity() > std::string().capacity()) total += text.capacity() + 1;
  }
  return total;
}

}  // namespace knx
