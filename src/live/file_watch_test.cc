#include "live/file_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace knx::live {
namespace {

namespace fs = std::filesystem;

TEST(SettledText, ATextCountsOnceItStayedTheSame) {
  SettledText text("old");
  EXPECT_EQ(text.Look("old"), std::nullopt);
  EXPECT_EQ(text.Look("ne"), std::nullopt);
  EXPECT_EQ(text.Look("new"), std::nullopt);
  EXPECT_EQ(text.Look("new"), "new");
  EXPECT_EQ(text.Look("new"), std::nullopt);
  EXPECT_EQ(text.Look(""), std::nullopt);
  EXPECT_EQ(text.Look("new"), std::nullopt);
  EXPECT_EQ(text.Look("old"), std::nullopt);
  EXPECT_EQ(text.Look("old"), "old");
}

TEST(FileWatch, FollowsTheLinksOfAMountedConfigMap) {
  const fs::path folder = fs::temp_directory_path() / fs::path("knx_file_watch_test");
  fs::remove_all(folder);
  for (const char* version : {"..1", "..2"}) {
    fs::create_directories(folder / version);
    std::ofstream(folder / version / "config.yaml") << version;
  }
  fs::create_symlink("..1", folder / "..data");
  fs::create_symlink("..data/config.yaml", folder / "config.yaml");

  net::EventLoop loop;
  std::vector<std::string> seen;
  int unreadable = 0;
  const FileWatch watch(loop, {folder / "config.yaml", "..1", 3}, Duration::Milliseconds(5),
                        {.changed =
                             [&](const std::string& text) {
                               seen.push_back(text);
                               loop.Stop();
                             },
                         .unreadable =
                             [&](const Error&) {
                               ++unreadable;
                               fs::create_symlink("..2", folder / "..data");
                             }});
  loop.After(Duration::Milliseconds(30), [&] { fs::remove(folder / "..data"); });
  loop.After(Duration::Seconds(20), [&] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(seen, std::vector<std::string>{"..2"});
  EXPECT_EQ(unreadable, 1);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace knx::live
