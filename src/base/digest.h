// A number that stands for a text.
#pragma once

#include <cstdint>
#include <string_view>

namespace knx {

// FNV-1a: for hashes that must not change with the machine, the library or the run.
class Digest {
 public:
  void Add(std::string_view text) {
    for (const char c : text) {
      value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

inline std::uint64_t DigestOf(std::string_view text) {
  Digest digest;
  digest.Add(text);
  return digest.value();
}

}  // namespace knx
