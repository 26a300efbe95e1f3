// Words of a pod, looked up among the words of the nodes.
// A word that no node has yet has no symbol: nothing can be equal to it now, but a node that comes
// may bring it. What was prepared from such words asks Current() and is prepared anew once one of
// them is known.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/symbol.h"

namespace knx::plugins {

class WordLookup {
 public:
  explicit WordLookup(const SymbolTable& words) : words_(&words), size_(words.size()) {}

  // Invalid if nobody has the word; then it is remembered.
  Symbol Find(std::string_view text) {
    const Symbol symbol = words_->Find(text);
    if (!symbol.valid()) unknown_.emplace_back(text);
    return symbol;
  }
  [[nodiscard]] std::string_view Text(Symbol symbol) const { return words_->Text(symbol); }

  // False once a word that was not known is. Not to be called while nodes are judged.
  [[nodiscard]] bool Current() const {
    if (unknown_.empty() || words_->size() == size_) return true;
    if (std::any_of(unknown_.begin(), unknown_.end(),
                    [this](const std::string& word) { return words_->Find(word).valid(); })) {
      return false;
    }
    size_ = words_->size();
    return true;
  }

 private:
  const SymbolTable* words_;
  std::vector<std::string> unknown_;
  mutable std::size_t size_;  // of the table, when the words were last found to be unknown
};

}  // namespace knx::plugins
