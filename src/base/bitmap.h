// A set of small numbers, mostly rows of the node table. Grows by itself; what was never set is not
// in it.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace knx {

class Bitmap {
 public:
  [[nodiscard]] bool Test(std::uint32_t i) const {
    return (i >> 6) < words_.size() && ((words_[i >> 6] >> (i & 63)) & 1U) != 0;
  }
  void Set(std::uint32_t i) {
    if ((i >> 6) >= words_.size()) words_.resize((i >> 6) + 1);
    words_[i >> 6] |= std::uint64_t{1} << (i & 63);
  }
  void Reset(std::uint32_t i) {
    if ((i >> 6) < words_.size()) words_[i >> 6] &= ~(std::uint64_t{1} << (i & 63));
  }
  void Assign(std::uint32_t i, bool value) { value ? Set(i) : Reset(i); }

  [[nodiscard]] std::size_t Count() const {
    std::size_t n = 0;
    for (const std::uint64_t word : words_) n += static_cast<std::size_t>(std::popcount(word));
    return n;
  }
  [[nodiscard]] bool Any() const {
    for (const std::uint64_t word : words_) {
      if (word != 0) return true;
    }
    return false;
  }

  // Calls visit(i) for every member, ascending.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
        visit(
            static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(word))));
      }
    }
  }

  [[nodiscard]] std::size_t bytes() const { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace knx
