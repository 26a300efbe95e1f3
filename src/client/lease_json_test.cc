#include "client/lease_json.h"

#include <gtest/gtest.h>

namespace knx::client {
namespace {

const LeaseRecord kRecord{"host_1", 15, Time{} + Duration::Seconds(1'800'000'000),
                          Time{} + Duration::Milliseconds(1'800'000'000'250), 4};

TEST(LeaseJson, WhatIsWrittenIsReadAlike) {
  const std::string text = WriteLease(kRecord, NewLeaseMetadata("kube-system", "a \"name\""));
  const auto read = ReadLease(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->record, kRecord);
  EXPECT_EQ(read->metadata, R"({"namespace":"kube-system","name":"a \"name\""})");
  EXPECT_NE(text.find(R"("renewTime":"2027-01-15T08:00:00.250000Z")"), std::string::npos) << text;
}

TEST(LeaseJson, MetadataIsSentBackWhole) {
  const auto read = ReadLease(
      R"({"metadata":{"name":"x","resourceVersion":"17","labels":{"a":"b"},"unknown":[1,{}]},
          "spec":{"holderIdentity":null,"preferredHolder":"y"}})");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->record, LeaseRecord{});
  EXPECT_EQ(read->metadata,
            R"({"name":"x","resourceVersion":"17","labels":{"a":"b"},"unknown":[1,{}]})");
  EXPECT_NE(WriteLease(kRecord, read->metadata).find(R"("resourceVersion":"17")"),
            std::string::npos);
}

TEST(LeaseJson, WhatIsNoLeaseIsRefused) {
  for (const std::string_view text :
       {"", "{", "[]", "null", R"({"spec":{}})", R"({"metadata":3})",
        R"({"metadata":{},"spec":[]})", R"({"metadata":{},"spec":{"holderIdentity":5}})",
        R"({"metadata":{},"spec":{"leaseDurationSeconds":"15"}})",
        R"({"metadata":{},"spec":{"renewTime":{}}})",
        R"({"metadata":{},"spec":{"leaseTransitions":1e99}})"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(ReadLease(text).ok());
  }
}

TEST(LeaseJson, ATimeThatCannotBeReadDoesNoHarm) {
  const auto read =
      ReadLease(R"({"metadata":{},"spec":{"holderIdentity":"a","renewTime":"soon"}})");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->record.holder, "a");
}

}  // namespace
}  // namespace knx::client
