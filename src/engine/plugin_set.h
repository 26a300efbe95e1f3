// A set of plugins of one profile, by index. Which profile is for the holder to know: the same
// index means another plugin in another profile.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace knx::engine {

class PluginSet {
 public:
  void Add(std::uint8_t plugin) { words_[plugin >> 6] |= std::uint64_t{1} << (plugin & 63); }
  [[nodiscard]] bool Contains(std::uint8_t plugin) const {
    return ((words_[plugin >> 6] >> (plugin & 63)) & 1U) != 0;
  }
  [[nodiscard]] bool empty() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  [[nodiscard]] bool Intersects(const PluginSet& other) const { return !(*this & other).empty(); }

  friend PluginSet operator&(PluginSet a, const PluginSet& b) {
    for (std::size_t w = 0; w < a.words_.size(); ++w) a.words_[w] &= b.words_[w];
    return a;
  }
  friend PluginSet operator|(PluginSet a, const PluginSet& b) {
    for (std::size_t w = 0; w < a.words_.size(); ++w) a.words_[w] |= b.words_[w];
    return a;
  }
  // Those of a that are not in b.
  friend PluginSet operator-(PluginSet a, const PluginSet& b) {
    for (std::size_t w = 0; w < a.words_.size(); ++w) a.words_[w] &= ~b.words_[w];
    return a;
  }
  friend bool operator==(const PluginSet&, const PluginSet&) = default;
  template <class H>
  friend H AbslHashValue(H h, const PluginSet& set) {
    return H::combine(std::move(h), set.words_[0], set.words_[1], set.words_[2], set.words_[3]);
  }

  // Whether test(plugin) holds for one of them; asks in ascending order and not beyond the first.
  template <class Test>
  [[nodiscard]] bool Any(Test test) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(word));
        if (test(static_cast<std::uint8_t>(w * 64 + bit))) return true;
      }
    }
    return false;
  }
  // Calls visit(plugin) for each, ascending.
  template <class Visit>
  void ForEach(Visit visit) const {
    (void)Any([&visit](std::uint8_t plugin) {
      visit(plugin);
      return false;
    });
  }

 private:
  std::array<std::uint64_t, 4> words_{};
};

}  // namespace knx::engine
