#include "client/authentication_config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/quoted_text.h"
#include "net/testing/certificates.h"

namespace knx::client {
namespace {

using net::testing::Authority;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Response ConfigMap(const std::string& pem) {
  return {200, {}, fmt::format(R"({{"data":{{"client-ca-file":{}}}}})", QuotedText(pem))};
}

// Reads as often as there are answers.
struct Reading {
  net::EventLoop loop;
  std::vector<Result<Response>> answers;
  std::size_t next = 0;
  int changes = 0;
  std::vector<TrustedProxies> proxies;
  std::vector<bool> first_reads;
  std::vector<std::string> logged, noted;

  void Run() {
    AuthenticationConfig config(
        loop,
        [this](const ApiClient::Call& call, const ApiClient::Done& done) {
          EXPECT_EQ(call.path,
                    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication");
          if (next == answers.size()) return loop.Stop();
          done(answers[next++]);
        },
        {.changed = [this](const std::shared_ptr<const net::ClientAuthorities>&) { ++changes; },
         .proxies_changed =
             [this](TrustedProxies trusted) { proxies.push_back(std::move(trusted)); },
         .first_read = [this](const Status& outcome) { first_reads.push_back(outcome.ok()); },
         .log = [this](std::string_view line) { logged.emplace_back(line); },
         .note = [this](std::string_view line) { noted.emplace_back(line); },
         .again = Duration::Milliseconds(1),
         .after_failure = Duration::Milliseconds(1)});
    config.Read();
    loop.Run();
  }
};

TEST(AuthenticationConfig, TellsOfEveryChange) {
  const Authority first("first"), second("second");
  Reading reading;
  reading.answers = {ConfigMap(first.pem()), ConfigMap(first.pem()), ConfigMap(second.pem())};
  reading.Run();
  EXPECT_EQ(reading.changes, 2);
  EXPECT_THAT(reading.first_reads, ElementsAre(true));
  EXPECT_THAT(reading.logged, IsEmpty());
}

TEST(AuthenticationConfig, TellsOfProxiesToo) {
  const Authority clients("clients"), front("front");
  const auto with = [&](std::string_view names) {
    return Response{
        200,
        {},
        fmt::format(R"({{"data":{{"client-ca-file":{},"requestheader-client-ca-file":{},)"
                    R"("requestheader-allowed-names":{},)"
                    R"("requestheader-username-headers":"[\"X-Remote-User\"]"}}}})",
                    QuotedText(clients.pem()), QuotedText(front.pem()), QuotedText(names))};
  };
  Reading reading;
  reading.answers = {ConfigMap(clients.pem()), with(R"(["a","b"])"), with(R"(["a","b"])"),
                     with("nonsense"),         with("[7]"),          ConfigMap(clients.pem())};
  reading.Run();
  EXPECT_EQ(reading.changes, 1);
  ASSERT_EQ(reading.proxies.size(), 2U);
  EXPECT_NE(reading.proxies[0].authorities, nullptr);
  EXPECT_THAT(reading.proxies[0].allowed_names, ElementsAre("a", "b"));
  EXPECT_THAT(reading.proxies[0].user_headers, ElementsAre("X-Remote-User"));
  EXPECT_THAT(reading.proxies[0].group_headers, IsEmpty()) << "what is not said is not believed";
  EXPECT_EQ(reading.proxies[1].authorities, nullptr);
  EXPECT_THAT(reading.logged,
              ElementsAre(HasSubstr("its requestheader-allowed-names is no list of texts")));
}

TEST(AuthenticationConfig, WarnsOnceAndGoesOnTrying) {
  const Authority authority("ca");
  const Response forbidden{403, {}, R"({"message":"may not get configmaps"})"};
  Reading reading;
  reading.answers = {forbidden, forbidden, forbidden, ConfigMap(authority.pem()), forbidden};
  reading.Run();
  EXPECT_EQ(reading.changes, 1);
  EXPECT_THAT(reading.first_reads, ElementsAre(false));
  EXPECT_THAT(reading.logged,
              ElementsAre(HasSubstr("their certificates say nothing: may not get configmaps"),
                          HasSubstr("what was read before still holds: may not get configmaps")));
}

TEST(AuthenticationConfig, WhereThereIsNoneThatIsNotedOnceAndNothingIsWrong) {
  const Authority authority("ca");
  const Response missing{404, {}, R"({"message":"configmaps \"x\" not found"})"};
  Reading reading;
  reading.answers = {missing, missing, ConfigMap(authority.pem()), missing};
  reading.Run();
  EXPECT_THAT(reading.logged, IsEmpty());
  EXPECT_THAT(reading.noted,
              ElementsAre(AllOf(HasSubstr("there is no configmap"),
                                HasSubstr("so their certificates say nothing; clients with a "
                                          "token are known all the same")),
                          HasSubstr("what was read before still holds")));
}

TEST(AuthenticationConfig, KeepsWhatIsGoodWhenNonsenseComes) {
  const Authority authority("ca");
  Reading reading;
  reading.answers = {ConfigMap(authority.pem()),
                     ConfigMap("nonsense"),
                     ConfigMap(""),
                     Response{200, {}, "{}"},
                     Response{200, {}, "nonsense"},
                     Response{200, {}, ""},
                     Error{ErrorKind::kUnavailable, "gone", {}},
                     ConfigMap(authority.pem())};
  reading.Run();
  EXPECT_EQ(reading.changes, 1);
  EXPECT_EQ(reading.next, reading.answers.size());
}

}  // namespace
}  // namespace knx::client
