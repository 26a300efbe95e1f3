#include "client/read_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "client/testing/files.h"

namespace knx::client {
namespace {

TEST(ReadFile, GivesTheWholeTextOrTheReason) {
  const testing::TemporaryFolder folder;
  const std::string large(100'000, 'x');
  EXPECT_EQ(*ReadFile(folder.Write("large", large)), large);
  EXPECT_EQ(*ReadRegularFile(folder.Write("large", large)), large);
  EXPECT_EQ(*ReadRegularFile(folder.path() + "/large", large.size()), large);
  EXPECT_EQ(ReadRegularFile(folder.path() + "/large", large.size() - 1).error().message,
            folder.path() + "/large: too large: at most 99999 bytes are allowed");

  const auto missing = ReadFile(folder.path() + "/gone");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(missing.error().message,
            folder.path() + "/gone: cannot be read: No such file or directory");

  const auto a_folder = ReadFile(folder.path());
  ASSERT_FALSE(a_folder.ok());
  EXPECT_EQ(a_folder.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(a_folder.error().message, folder.path() + ": cannot be read: Is a directory");

  const auto endless = ReadFile("/dev/zero");
  ASSERT_FALSE(endless.ok());
  EXPECT_EQ(endless.error().message, "/dev/zero: too large: at most 16777216 bytes are allowed");
}

TEST(ReadRegularFile, DoesNotWaitForAPipe) {
  const testing::TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto text = ReadRegularFile(pipe);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message, pipe + ": is not a regular file");
}

}  // namespace
}  // namespace knx::client
