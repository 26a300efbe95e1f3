#include "k8s/proto_writer.h"

#include <gtest/gtest.h>

#include "k8s/wire_reader.h"

namespace knx::k8s {
namespace {

TEST(ProtoWriter, WritesWhatIsReadAgain) {
  const std::string long_text(300, 'x');
  ProtoWriter inner, writer;
  inner.Text(1, long_text);
  writer.Number(1, 127);
  writer.Number(2, 300);
  writer.Number(16, ~std::uint64_t{0});
  writer.Message(2047, inner);
  const std::string bytes = writer.Take();
  WireReader reader(bytes);
  WireField field;
  for (const auto& [number, value] :
       {std::pair(1U, std::uint64_t{127}), std::pair(2U, std::uint64_t{300}),
        std::pair(16U, ~std::uint64_t{0})}) {
    ASSERT_TRUE(reader.Next(field));
    EXPECT_EQ(field.number, number);
    EXPECT_EQ(field.value, value);
  }
  ASSERT_TRUE(reader.Next(field));
  EXPECT_EQ(field.number, 2047U);
  WireReader within(field.bytes);
  ASSERT_TRUE(within.Next(field));
  EXPECT_EQ(field.bytes, long_text);
  EXPECT_FALSE(reader.Next(field));
  EXPECT_TRUE(reader.ok());
}

TEST(ProtoWriter, LeavesOutWhatSaysNothingButNoMessage) {
  ProtoWriter writer;
  writer.Text(1, "");
  writer.Number(2, 0);
  writer.Message(3, ProtoWriter());
  EXPECT_EQ(writer.Take(), std::string("\x1A\0", 2));
}

TEST(ProtoWriter, SaysWhatABodyIs) {
  ProtoWriter writer;
  writer.Text(1, "a");
  EXPECT_EQ(writer.Enveloped("v1", "Pod"),
            std::string("k8s\0\x0A\x09\x0A\x02v1\x12\x03Pod\x12\x03\x0A\x01"
                        "a",
                        20));
}

}  // namespace
}  // namespace knx::k8s
