// Folders and files for tests: real ones that go away afterwards, and some that are only in memory.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace knx::client::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = ::testing::TempDir() + "knx_client_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

  // The path of the file.
  std::string Write(std::string_view name, std::string_view text) const {
    const std::string path = path_ + "/" + std::string(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  // A program: the lines of a shell script.
  std::string Script(std::string_view name, std::string_view lines) const {
    const std::string path = Write(name, "#!/bin/sh\n" + std::string(lines) + "\n");
    ::chmod(path.c_str(), 0755);
    return path;
  }

 private:
  std::string path_;
};

// Files in memory: path to text.
struct MemoryFiles {
  std::map<std::string, std::string> files;

  Result<std::string> operator()(const std::string& path) const {
    const auto at = files.find(path);
    if (at == files.end()) return NotFoundError(path + ": cannot be read: not there");
    return at->second;
  }
};

// Looks like a certificate or key, which is all that is asked here.
inline std::string Pem(std::string_view block, std::string_view body = "AAAA") {
  return "-----BEGIN " + std::string(block) + "-----\n" + std::string(body) + "\n-----END " +
         std::string(block) + "-----\n";
}

}  // namespace knx::client::testing
