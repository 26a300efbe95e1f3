#include "k8s/wire_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace knx::k8s {
namespace {

using namespace std::string_literals;

struct SeenField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;
  std::string bytes;
  friend bool operator==(const SeenField&, const SeenField&) = default;
};

// What can be read before the end, or before the bytes turn out to be broken.
std::vector<SeenField> Walk(const std::string& bytes, bool& ok) {
  // Exactly as large as the input, so that a sanitizer sees every read beyond its end.
  const std::vector<char> exact(bytes.begin(), bytes.end());
  WireReader reader(std::string_view(exact.data(), exact.size()));
  std::vector<SeenField> seen;
  WireField field;
  while (reader.Next(field)) {
    const bool number = field.type != WireType::kBytes && field.type != WireType::kGroup;
    seen.push_back({field.number, field.type, number ? field.value : 0,
                    field.type == WireType::kBytes ? std::string(field.bytes) : ""});
  }
  ok = reader.ok();
  EXPECT_FALSE(reader.Next(field)) << "the end stays the end";
  return seen;
}

TEST(WireReader, ReadsFieldsOfEveryType) {
  struct Case {
    std::string name, bytes;
    std::vector<SeenField> want;
  };
  const Case cases[] = {
      {"nothing", "", {}},
      {"a small number", "\x08\x05", {{1, WireType::kVarint, 5, ""}}},
      {"a number of two bytes", "\x08\xAC\x02", {{1, WireType::kVarint, 300, ""}}},
      {"a number of three bytes", "\x08\x80\x80\x01", {{1, WireType::kVarint, 1 << 14, ""}}},
      {"the largest number",
       "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",
       {{1, WireType::kVarint, UINT64_MAX, ""}}},
      {"zero, written longer than it need be", "\x08\x80\x00"s, {{1, WireType::kVarint, 0, ""}}},
      {"a text", "\x12\x02hi", {{2, WireType::kBytes, 0, "hi"}}},
      {"an empty text at the end", "\x12\x00"s, {{2, WireType::kBytes, 0, ""}}},
      {"a text of 200 bytes",
       "\x12\xC8\x01" + std::string(200, 'x'),
       {{2, WireType::kBytes, 0, std::string(200, 'x')}}},
      {"a field number of two bytes", "\xC2\x02\x01z", {{40, WireType::kBytes, 0, "z"}}},
      {"the largest field number",
       "\xF8\xFF\xFF\xFF\x0F\x01",
       {{(1U << 29) - 1, WireType::kVarint, 1, ""}}},
      {"fixed ones",
       "\x0D\x01\x00\x00\x80\x11\x02\x00\x00\x00\x00\x00\x00\x80"s,
       {{1, WireType::kFixed32, 0x80000001, ""}, {2, WireType::kFixed64, 0x8000000000000002, ""}}},
      {"a group with a group in it, and what follows",
       "\x0B\x12\x01x\x13\x14\x0C\x18\x07",
       {{1, WireType::kGroup, 0, ""}, {3, WireType::kVarint, 7, ""}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    bool ok = false;
    EXPECT_EQ(Walk(c.bytes, ok), c.want);
    EXPECT_TRUE(ok);
  }
}

TEST(WireReader, SaysThatBytesAreBroken) {
  const std::pair<std::string, std::string> cases[] = {
      {"a tag alone", "\x08"},
      {"a tag that does not end", "\x88"},
      {"the field number 0", "\x00\x01"s},
      {"a field number of more than 29 bits", "\xF8\xFF\xFF\xFF\x1F\x01"},
      {"a number that does not end", "\x08\x80\x80"},
      {"a number of more than 64 bits", "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"},
      {"a number of eleven bytes", "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"s},
      {"a text without a length", "\x12"},
      {"a text that is cut off", "\x12\x05hell"},
      {"a long text that is cut off", "\x12\xC8\x01" + std::string(199, 'x')},
      {"a text of nearly 2^64 bytes", "\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01x"},
      {"a fixed one that is cut off", "\x0D\x01\x02\x03"},
      {"a longer fixed one that is cut off", "\x11\x01\x02\x03\x04\x05\x06\x07"},
      {"an unknown type", "\x0E\x01"},
      {"another unknown type", "\x0F\x01"},
      {"the end of no group", "\x0C\x01"},
      {"a group without an end", "\x0B\x12\x01x"},
      {"groups without end in each other", std::string(1000, '\x0B')},
  };
  for (const auto& [name, bytes] : cases) {
    SCOPED_TRACE(name);
    bool ok = true;
    EXPECT_TRUE(Walk(bytes, ok).empty());
    EXPECT_FALSE(ok);
  }
}

TEST(WireReader, BeginsAtAnyField) {
  const std::string bytes = "\x08\x05\x12\x02hi\x18\x07";
  WireReader reader(bytes, 2);
  WireField field;
  ASSERT_TRUE(reader.Next(field));
  EXPECT_EQ(field.bytes, "hi");
  EXPECT_EQ(reader.offset(), 6U);
}

}  // namespace
}  // namespace knx::k8s
