#include "client/token_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "client/testing/files.h"

namespace knx::client {
namespace {

using testing::TemporaryFolder;

constexpr Time kStart{1'800'000'000'000'000'000};

ApiAccess With(CredentialSource credential) {
  ApiAccess access;
  access.server = *ParseServerUrl("https://a");
  access.credential = std::move(credential);
  return access;
}

// The header, or what there is instead.
std::string HeaderAt(TokenSource& source, Duration after, bool wait = true) {
  const Time now = kStart + after;
  const auto got = wait ? source.GetOrWait(now) : source.Get(now);
  if (!got.ok()) return got.error().message;
  return *got == nullptr ? "running" : (*got)->authorization;
}

TEST(TokenSource, SendsWhatNeverChanges) {
  TokenSource none(With(NoCredential{}));
  EXPECT_EQ(HeaderAt(none, {}), "");
  TokenSource token(With(TokenCredential{"abc"}));
  EXPECT_EQ(HeaderAt(token, {}), "Bearer abc");
  token.Refused((*token.Get(kStart))->generation);
  EXPECT_EQ(HeaderAt(token, {}), "Bearer abc");
  TokenSource basic(With(BasicCredential{"me", "p:w"}));
  EXPECT_EQ(HeaderAt(basic, {}), "Basic bWU6cDp3");
  EXPECT_EQ(basic.fd(), -1);
}

TEST(TokenSource, ReadsATokenFileOnceAMinuteAndAfterARefusal) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("token", "one\n");
  TokenSource source(With(TokenFileCredential{path, ""}));
  EXPECT_EQ(HeaderAt(source, {}), "Bearer one");
  const std::uint64_t first = (*source.Get(kStart))->generation;
  folder.Write("token", "two");
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(59)), "Bearer one");
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(60)), "Bearer two");
  const std::uint64_t second = (*source.Get(kStart + Duration::Seconds(60)))->generation;
  EXPECT_NE(first, second);

  folder.Write("token", "three");
  source.Refused(first);  // an answer that comes late says nothing of the newest
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(61)), "Bearer two");
  source.Refused(second);
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(61)), "Bearer three");

  folder.Write("token", "four");
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(-3600)), "Bearer four");  // the clock was set back
}

TEST(TokenSource, KeepsTheOldTokenWhileTheFileIsBroken) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("token", "one");
  TokenSource source(With(TokenFileCredential{path, ""}));
  EXPECT_EQ(HeaderAt(source, {}), "Bearer one");
  EXPECT_FALSE(source.failure().has_value());
  folder.Write("token", "");
  EXPECT_EQ(HeaderAt(source, Duration::Minutes(2)), "Bearer one");
  ASSERT_TRUE(source.failure().has_value());
  EXPECT_EQ(source.failure()->message,
            path + ": what it holds must be one line of printable ASCII characters");
  folder.Write("token", "two");
  EXPECT_EQ(HeaderAt(source, Duration::Minutes(4)), "Bearer two");
  EXPECT_FALSE(source.failure().has_value());
}

TEST(TokenSource, UsesTheTokenBesideAFileUntilThereIsOne) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/token";
  TokenSource alone(With(TokenFileCredential{path, ""}));
  EXPECT_EQ(HeaderAt(alone, {}), path + ": cannot be read: No such file or directory");
  TokenSource source(With(TokenFileCredential{path, "beside"}));
  EXPECT_EQ(HeaderAt(source, {}), "Bearer beside");
  folder.Write("token", "inside");
  EXPECT_EQ(HeaderAt(alone, Duration::Seconds(1)), "Bearer inside");
  EXPECT_EQ(HeaderAt(source, Duration::Minutes(1)), "Bearer inside");
}

// A plugin that counts its runs and prints the `status` it is given, in which @ is that number.
class PluginFiles {
 public:
  explicit PluginFiles(std::string_view status, std::string_view before = "") {
    plugin_.command =
        folder_.Script("plugin", fmt::format("{0}\necho x >> {1}/runs\nn=$(wc -l < {1}/runs)\n"
                                             "sed \"s/@/$n/\" {1}/answer",
                                             before, folder_.path()));
    Answer(status);
  }
  void Answer(std::string_view status) const {
    folder_.Write("answer", fmt::format("{{\"kind\": \"ExecCredential\", \"apiVersion\": "
                                        "\"client.authentication.k8s.io/v1\", \"status\": {}}}\n",
                                        status));
  }
  [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }
  [[nodiscard]] const ExecPlugin& plugin() const { return plugin_; }

 private:
  TemporaryFolder folder_;
  ExecPlugin plugin_;
};

TEST(TokenSource, RunsAPluginAgainWhenItsTokenExpires) {
  const Time expires = kStart + Duration::Minutes(10);
  const PluginFiles files(
      fmt::format(R"({{"token": "t@", "expirationTimestamp": "{}"}})", FormatTime(expires)));
  TokenSource source(With(files.plugin()));
  EXPECT_EQ(HeaderAt(source, {}), "Bearer t1");
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(599)), "Bearer t1");
  EXPECT_EQ(source.fd(), -1);
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(600)), "Bearer t2");
  // The second one is expired as it comes; the server may say so, but nobody runs in circles.
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(604)), "Bearer t2");
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(605)), "Bearer t3");
}

TEST(TokenSource, RunsAPluginAgainAfterARefusalButNotAtOnce) {
  const PluginFiles files(R"({"token": "t@"})");
  TokenSource source(With(files.plugin()));
  EXPECT_EQ(HeaderAt(source, {}), "Bearer t1");
  EXPECT_EQ(HeaderAt(source, Duration::Minutes(60 * 24)), "Bearer t1");
  const std::uint64_t first = (*source.Get(kStart))->generation;
  source.Refused(first);
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(4)), "Bearer t1");
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(5)), "Bearer t2");
  source.Refused(first);
  EXPECT_EQ(HeaderAt(source, Duration::Minutes(5)), "Bearer t2");
}

TEST(TokenSource, TakesCertificatesFromAPlugin) {
  const PluginFiles files(R"({"clientCertificateData": "cert@", "clientKeyData": "key"})");
  TokenSource source(With(files.plugin()));
  const auto got = source.GetOrWait(kStart);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ((*got)->authorization, "");
  EXPECT_EQ((*got)->client_certificate_pem, "cert1");
  EXPECT_EQ((*got)->client_key_pem, "key");
}

TEST(TokenSource, DoesNotWaitForAPlugin) {
  const PluginFiles files(R"({"token": "t@"})", "while [ ! -e \"$GO\" ]; do sleep 0.01; done");
  ExecPlugin plugin = files.plugin();
  const std::string go = files.folder().path() + "/go";
  plugin.env = {{"GO", go}};
  TokenSource source(With(plugin));
  EXPECT_EQ(HeaderAt(source, {}, false), "running");
  ASSERT_GE(source.fd(), 0);
  EXPECT_EQ(HeaderAt(source, Duration::Minutes(5), false), "running");
  files.folder().Write("go", "");
  while (HeaderAt(source, Duration::Seconds(1), false) == "running") {
    pollfd ready = {.fd = source.fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&ready, 1, 60'000), 1);
  }
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(1), false), "Bearer t1");
}

TEST(TokenSource, WaitsLongerAfterEachFailureOfAPlugin) {
  const PluginFiles files(R"({"token": "t@"})",
                          "[ -e \"$GO\" ] || { echo no >> \"$GO.no\"; echo "
                          "not logged in >&2; exit 3; }");
  ExecPlugin plugin = files.plugin();
  const std::string go = files.folder().path() + "/go";
  plugin.env = {{"GO", go}};
  TokenSource source(With(plugin));
  const std::string want =
      fmt::format("credential plugin \"{}\": exit code 3: not logged in", plugin.command);
  const auto runs = [&] { return std::filesystem::file_size(go + ".no") / 3; };
  // After the first second, two more, four more, ...: 0, 1, 3, 7, 15, 31, 63, 123.
  for (int second = 0; second < 130; ++second) {
    EXPECT_EQ(HeaderAt(source, Duration::Seconds(second)), want);
  }
  EXPECT_EQ(runs(), 8U);
  files.folder().Write("go", "");
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(182)), want);
  EXPECT_EQ(HeaderAt(source, Duration::Seconds(183)), "Bearer t1");
  EXPECT_FALSE(source.failure().has_value());
}

TEST(TokenSource, SaysWhichPluginIsMissingOrSlow) {
  const TemporaryFolder folder;
  ExecPlugin plugin;
  plugin.command = folder.path() + "/gone";
  plugin.install_hint = "ask the platform team";
  TokenSource missing(With(plugin));
  EXPECT_EQ(HeaderAt(missing, {}),
            fmt::format("credential plugin \"{}\": cannot be started: No such file or directory; "
                        "ask the platform team",
                        plugin.command));
  plugin.command = folder.Script("slow", "echo open the browser >&2; sleep 100");
  TokenSource slow(With(plugin), Duration::Milliseconds(300));
  EXPECT_EQ(HeaderAt(slow, {}),
            fmt::format("credential plugin \"{}\": no answer within 300ms: open the browser",
                        plugin.command));
}

TEST(TokenSource, SaysThatAPluginIsSlowAndEndsItWhenNobodyWaitsAnyMore) {
  const TemporaryFolder folder;
  ExecPlugin plugin;
  plugin.command = folder.Script("slow", "echo $$ > " + folder.path() + "/pid; sleep 100");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::vector<std::string> said;
  pid_t pid = 0;
  const PluginWait wait{.interrupt = ends[0],
                        .patience = Duration::Milliseconds(50),
                        .slow = [&](std::string_view line) {
                          said.emplace_back(line);
                          while (pid == 0) std::ifstream(folder.path() + "/pid") >> pid;
                          EXPECT_EQ(::write(ends[1], "x", 1), 1);
                        }};
  TokenSource source(With(plugin));
  const auto got = source.GetOrWait(kStart, wait);
  ASSERT_FALSE(got.ok());
  const std::string name = fmt::format("credential plugin \"{}\": ", plugin.command);
  EXPECT_EQ(got.error().message, name + "ended before it answered, because we are to end");
  EXPECT_THAT(
      said, ::testing::ElementsAre(name + "has not answered yet; it is waited for, 1m0s at most"));
  EXPECT_NE(::kill(pid, 0), 0) << "it is still there";
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace knx::client
