// The daemon against an API server of the test that takes its time over a binding.
#include "cmd/daemon.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>

#include "client/testing/api_server.h"
#include "client/testing/files.h"

namespace knx::cmd {
namespace {

using client::testing::ApiServer;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kMinimal =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
constexpr const char* kPodsPath = "/api/v1/pods";

std::string PodJson(std::string_view name) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"ns","name":"{0}",
           "uid":"uid of {0}","resourceVersion":"1"}},"spec":{{"schedulerName":"default-scheduler",
           "containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"1"}}}}}}]}}}})",
      name);
}

class DaemonTest : public ::testing::Test {
 protected:
  DaemonTest() {
    sigprocmask(SIG_BLOCK, nullptr, &mask_);
    server_.Otherwise([this](ApiServer&, const ApiServer::Asked& asked) { Serve(asked); });
    there_["/api/v1/nodes"] =
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"n","resourceVersion":"1"},
            "status":{"allocatable":{"cpu":"1","memory":"8Gi","pods":"110"}}})";
    there_[kPodsPath] = PodJson("p");
  }
  ~DaemonTest() override { sigprocmask(SIG_SETMASK, &mask_, nullptr); }

  // Runs one until it ends. Gives its exit code.
  int Run(DaemonOptions options = {}, std::string text = std::string(kMinimal)) {
    auto configuration = ReadDaemonConfiguration(options, text);
    EXPECT_TRUE(configuration.ok());
    const auto signals = DaemonSignals::Catch();
    EXPECT_TRUE(signals.ok());
    Daemon daemon({loop_, log_, metrics_, api_, options, **signals, plugin_wait_,
                   /*wait_for_answers=*/Duration::Milliseconds(200)},
                  *std::move(configuration), std::move(text),
                  {.endpoint = server_.endpoint(),
                   .server_timeout = [] { return client::kLongestWrite; },
                   .lists_by_pages = true});
    EXPECT_TRUE(daemon.Start().ok());
    const auto too_long = loop_.After(Duration::Seconds(20), [this] { loop_.Stop(); });
    const int code = daemon.Run();
    loop_.Cancel(too_long);
    return code;
  }
  void Serve(const ApiServer::Asked& asked) {
    const std::string path = asked.path.substr(0, asked.path.find('?'));
    if (path.find("/leases") != std::string::npos) return ServeLease(asked);
    if (path.ends_with("/binding")) {
      bindings_.push_back(asked);
      return on_binding_();
    }
    if (asked.method != "GET") return server_.http().Answer(asked, 201, "{}");
    if (asked.path.find("watch=true") != std::string::npos) {
      return server_.http().Begin(asked, 200, {{"content-type", "application/json"}});
    }
    const bool list = asked.path.find("limit=") != std::string::npos;
    server_.http().Answer(asked, list ? 200 : 404,
                          fmt::format(R"({{"apiVersion":"v1","kind":"SomeList","metadata":)"
                                      R"({{"resourceVersion":"1"}},"items":[{}]}})",
                                      there_[path]),
                          {{"content-type", "application/json"}});
  }
  void ServeLease(const ApiServer::Asked& asked) {
    if (asked.method != "GET") lease_ = asked.body;
    server_.http().Answer(asked, lease_.empty() ? 404 : 200, lease_);
  }
  void AnswerFirstBinding() { server_.http().Answer(bindings_.at(0), 201, "{}"); }

  sigset_t mask_{};
  net::EventLoop loop_;
  ApiServer server_{loop_};
  std::map<std::string, std::string> there_;  // by path
  std::string lease_;
  std::vector<ApiServer::Asked> bindings_;
  std::function<void()> on_binding_ = [] {};
  std::vector<std::string> lines_;
  observe::Log log_{{.now = [] { return Time{}; },
                     .write = [this](std::string_view line) { lines_.emplace_back(line); }}};
  observe::SchedulerMetrics metrics_;
  client::ApiClient api_{loop_, {.endpoint = server_.endpoint()}};
  client::PluginWait plugin_wait_;
};

TEST_F(DaemonTest, ReleasesTheLeaseWhenItIsKnownWhatBecameOfABinding) {
  on_binding_ = [this] {
    std::raise(SIGTERM);
    loop_.After(Duration::Milliseconds(50), [this] {
      EXPECT_THAT(lease_, Not(HasSubstr(R"("holderIdentity":"")")));
      AnswerFirstBinding();
    });
  };
  EXPECT_EQ(Run(), 0);
  EXPECT_THAT(lease_, HasSubstr(R"("holderIdentity":"")"));
}

// Whoever leads next would not know of it, and give its room away.
TEST_F(DaemonTest, KeepsTheLeaseAsLongAsABindingMayStillBeDone) {
  on_binding_ = [] { std::raise(SIGTERM); };
  EXPECT_EQ(Run(), 0);
  EXPECT_THAT(lease_, Not(HasSubstr(R"("holderIdentity":"")")));
  EXPECT_THAT(lines_, Contains(HasSubstr("Leaves the lease to run out")));
}

TEST_F(DaemonTest, AChangedConfigurationWaitsForABindingThatMayStillBeDone) {
  const client::testing::TemporaryFolder folder;
  DaemonOptions options;
  options.config_file = folder.Write("c.yaml", kMinimal);
  const auto said = [this](std::string_view what) {
    return std::any_of(lines_.begin(), lines_.end(), [what](const std::string& line) {
      return line.find(what) != std::string::npos;
    });
  };
  bool waited = false;
  on_binding_ = [&] {
    if (bindings_.size() > 1) return server_.http().Answer(bindings_.back(), 201, "{}");
    folder.Write("c.yaml", std::string(kMinimal) + "podMaxBackoffSeconds: 20\n");
    // Two looks at the file, and then longer than answers are waited for.
    loop_.After(Duration::Seconds(4), [&] {
      waited = said("Waits with the changed configuration") && !said("Takes over");
      AnswerFirstBinding();
    });
  };
  const auto take = [&](auto& self) -> void {
    if (said("Takes over")) return void(std::raise(SIGTERM));
    loop_.After(Duration::Milliseconds(10), [&] { self(self); });
  };
  take(take);
  EXPECT_EQ(Run(options), 0);
  EXPECT_TRUE(waited);
  EXPECT_TRUE(said("Takes over the changed configuration"));
}

}  // namespace
}  // namespace knx::cmd
