// A reflector of nodes that follows a server of the test, and what it told.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/reflector.h"
#include "client/testing/api_server.h"
#include "k8s/kind_name.h"
#include "net/testing/run_until.h"

namespace knx::client {

class ReflectorTest : public ::testing::Test {
 protected:
  void Follow(bool optional = false) {
    api_ = std::make_unique<ApiClient>(
        loop_,
        ApiClient::Options{.endpoint = server_.endpoint(),
                           .log = [this](std::string_view line) { said_.emplace_back(line); },
                           .longest_answer = longest_answer_});
    reflector_ = MakeReflector("/api/v1/nodes", optional);
  }
  std::unique_ptr<Reflector> MakeReflector(const std::string& path, bool optional) {
    auto made = std::make_unique<Reflector>(
        loop_, *api_, Collection{path, "a=b,c!=d", optional, {}, false, left_out_},
        Reflector::Callbacks{
            .upserted = [this](k8s::Object object) { Note("+", MetaOf(object)); },
            .gone = [this](const k8s::Object& object) { Note("-", MetaOf(object)); },
            .synced = [this] { told_.emplace_back("synced"); },
            .trouble =
                [this](std::string_view collection, const Error& error) {
                  troubles_.push_back(fmt::format("{}: {}", collection, error.message));
                },
            .refused = refused_,
            .opened = [this](bool everything) { opened_ += everything ? 'a' : 'n'; },
            .failed = [this] { ++failures_; }},
        ReflectorTiming{.first_pause = Duration::Milliseconds(10),
                        .longest_pause = Duration::Milliseconds(500),
                        .long_enough = Duration::Milliseconds(30),
                        .page_timeout = page_timeout_,
                        .look_for_optional = Duration::Milliseconds(50),
                        .longest_silence = Duration::Milliseconds(200)});
    if (optional) made->MoveTo(path);
    return made;
  }
  void Note(std::string_view what, const k8s::ObjectMeta& meta) {
    told_.push_back(fmt::format("{}{}:{}", what, meta.name, meta.uid));
  }
  // Waits for so much to have been told, and takes it.
  std::vector<std::string> Told(std::size_t count) {
    EXPECT_TRUE(net::testing::RunUntil(loop_, [&] { return told_.size() >= count; }));
    return std::exchange(told_, {});
  }
  [[nodiscard]] std::string Query(std::size_t request) const {
    const std::string& path = server_.asked().at(request).path;
    return path.substr(path.find('?') + 1);
  }

  net::EventLoop loop_;
  testing::ApiServer server_{loop_};
  std::vector<std::string> told_, said_, troubles_;
  std::string opened_;  // for all that is there: a; for what is new: n
  int failures_ = 0;
  std::size_t longest_answer_ = 1'000'000;
  Duration page_timeout_ = Duration::Seconds(60);
  std::function<bool(const k8s::Object&)> left_out_;
  std::function<void(const k8s::RefusedObject&, bool news)> refused_;
  std::unique_ptr<ApiClient> api_;
  std::unique_ptr<Reflector> reflector_;
};

}  // namespace knx::client
