#include "live/serving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "client/testing/files.h"
#include "live/serving_certificate.h"
#include "net/testing/certificates.h"
#include "net/testing/raw_client.h"
#include "net/testing/served.h"

namespace knx::live {
namespace {

using net::testing::RawClient;
using net::testing::Served;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

HealthCheck Well(std::string name) {
  return {std::move(name), [] { return Ok(); }};
}
HealthCheck Ill(std::string name) {
  return {std::move(name), [] { return Status(InvalidError("secret reason")); }};
}

net::ServerResponse AskPage(Serving& serving, std::string path, std::string query = "",
                            std::string method = "GET") {
  net::ServerRequest request;
  request.method = std::move(method);
  request.target = path;
  request.path = std::move(path);
  request.query = std::move(query);
  std::optional<net::ServerResponse> out;
  serving.Handle(std::move(request), [&](net::ServerResponse response) { out = response; });
  EXPECT_TRUE(out.has_value());
  return out.value_or(net::ServerResponse{});
}

ServingPages SomePages() {
  ServingPages pages;
  pages.healthz = {Well("ping"), Well("leaderElection")};
  pages.readyz = {Well("ping"), Ill("informer-sync"), Well("shutdown")};
  pages.metrics = [] { return "metric 1\n"; };
  pages.resource_metrics = [] { return "resource 1\n"; };
  pages.configz = [] { return R"({"componentconfig":{}})"; };
  return pages;
}

TEST(Serving, AnswersInTheWordsOfKubeScheduler) {
  Serving serving(SomePages(), nullptr);
  struct Case {
    std::string path, query;
    int status;
    std::string body;
  };
  const Case cases[] = {
      {"/healthz", "", 200, "ok"},
      {"/healthz", "verbose", 200, "[+]ping ok\n[+]leaderElection ok\nhealthz check passed\n"},
      {"/healthz", "verbose=false", 200,
       "[+]ping ok\n[+]leaderElection ok\nhealthz check passed\n"},
      {"/healthz", "exclude=ping&verbose", 200,
       "[+]ping excluded: ok\n[+]leaderElection ok\nhealthz check passed\n"},
      {"/healthz", "exclude=b&exclude=a&verbose", 200,
       "[+]ping ok\n[+]leaderElection ok\n"
       "warn: some health checks cannot be excluded: no matches for \"a\",\"b\"\n"
       "healthz check passed\n"},
      {"/healthz/ping", "", 200, "ok"},
      {"/healthz/other", "", 404, "404 page not found\n"},
      {"/healthz/", "", 404, "404 page not found\n"},
      {"/livez", "verbose", 200, "[+]ping ok\nlivez check passed\n"},
      {"/livez/ping", "", 200, "ok"},
      {"/readyz", "", 500,
       "[+]ping ok\n[-]informer-sync failed: reason withheld\n[+]shutdown ok\n"
       "readyz check failed\n"},
      {"/readyz", "exclude=informer-sync", 200, "ok"},
      {"/readyz/informer-sync", "", 500, "internal server error: secret reason\n"},
      {"/metrics", "", 200, "metric 1\n"},
      {"/metrics/resources", "", 200, "resource 1\n"},
      {"/configz", "", 200, R"({"componentconfig":{}})"},
      {"/", "", 404, "404 page not found\n"},
      {"/metrics/", "", 404, "404 page not found\n"},
      {"//metrics", "", 404, "404 page not found\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.path + "?" + c.query);
    const net::ServerResponse response = AskPage(serving, c.path, c.query);
    EXPECT_EQ(response.status, c.status);
    EXPECT_EQ(response.body, c.body);
    EXPECT_EQ(net::FindHeader(response.headers, "cache-control"), "no-cache, private");
  }
}

TEST(Serving, PagesThatWereNotGivenAreNotFound) {
  Serving serving({}, nullptr);
  for (const std::string path : {"/metrics", "/metrics/resources", "/configz"}) {
    EXPECT_EQ(AskPage(serving, path).status, 404) << path;
  }
  EXPECT_EQ(AskPage(serving, "/readyz/ping").body, "ok");
}

TEST(Serving, DeletingTheMetricsResetsThem) {
  ServingPages pages = SomePages();
  Serving without(pages, nullptr);
  const net::ServerResponse refused = AskPage(without, "/metrics", "", "DELETE");
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.body, "Method Not Allowed\n");
  EXPECT_EQ(net::FindHeader(refused.headers, "allow"), "GET, HEAD");
  int resets = 0;
  pages.reset_metrics = [&] { ++resets; };
  Serving serving(pages, nullptr);
  EXPECT_EQ(AskPage(serving, "/metrics", "", "DELETE").body, "metrics reset\n");
  EXPECT_EQ(AskPage(serving, "/metrics", "", "POST").body, "metric 1\n");
  EXPECT_EQ(resets, 1);
}

TEST(Serving, LogsWhyACheckFailsOnceForTheSameReason) {
  std::vector<std::string> logged;
  ServingPages pages = SomePages();
  pages.log = [&](std::string_view line) { logged.emplace_back(line); };
  Serving serving(pages, nullptr);
  for (int i = 0; i < 3; ++i) (void)AskPage(serving, "/readyz");
  EXPECT_THAT(logged, ElementsAre("readyz check failed: informer-sync: secret reason"));
}

TEST(Serving, RefusesAsTheApiServerDoes) {
  client::AccessReview access(
      [](const client::ApiClient::Call& call, const client::ApiClient::Done& done) {
        if (call.body.find("TokenReview") != std::string::npos) {
          return done(client::Response{201, {}, R"({"status":{"authenticated":false}})"});
        }
        if (call.body.find("/configz") != std::string::npos) {
          return done(Error{ErrorKind::kUnavailable, "connection <refused>", {}});
        }
        done(client::Response{201, {}, R"({"status":{"allowed":false,"reason":"no rule"}})"});
      },
      {});
  Serving serving(SomePages(), &access);
  EXPECT_EQ(AskPage(serving, "/healthz").body, "ok");
  const net::ServerResponse forbidden = AskPage(serving, "/metrics<b>");
  EXPECT_EQ(forbidden.status, 403);
  EXPECT_EQ(forbidden.body,
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"forbidden: User \"system:anonymous\" cannot get path )"
            R"(\"/metrics&lt;b&gt;\": no rule","reason":"Forbidden","details":{},"code":403})"
            "\n");
  const net::ServerResponse failed = AskPage(serving, "/configz");
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.body, "Internal Server Error: \"/configz\": connection &lt;refused&gt;\n");
  net::ServerRequest request;
  request.method = "GET";
  request.path = "/healthz";
  request.headers = {{"authorization", "Bearer bad"}};
  serving.Handle(request, [](const net::ServerResponse& response) {
    EXPECT_EQ(response.status, 401);
    EXPECT_EQ(response.body,
              R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
              R"("message":"Unauthorized","reason":"Unauthorized","code":401})"
              "\n");
  });
}

// All of it together: a client with a token, TLS, and an API server that takes its time.
TEST(Serving, ServesOverTlsWithReviewsThatComeLater) {
  std::vector<std::function<void()>> reviews;
  client::AccessReview access(
      [&](const client::ApiClient::Call& call, const client::ApiClient::Done& done) {
        const bool token = call.body.find("TokenReview") != std::string::npos;
        reviews.push_back([token, done] {
          done(client::Response{
              201,
              {},
              token ? R"({"status":{"authenticated":true,"user":{"username":"prometheus"}}})"
                    : R"({"status":{"allowed":true}})"});
        });
      },
      {});
  Serving serving(SomePages(), &access);
  net::EventLoop for_certificate;
  auto certificate = ServingCertificate::Load(for_certificate, {.names = {"localhost"}});
  ASSERT_TRUE(certificate.ok()) << certificate.error().ToString();
  Served served(serving.handler(), {.tls = (*certificate)->tls()});
  RawClient client(served.port());
  ASSERT_TRUE(client.ShakeHands());
  client.Send(
      "GET /metrics HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\nConnection: close\r\n\r\n");
  for (int answered = 0; answered < 2;) {
    served.Do([&] {
      for (const auto& review : std::exchange(reviews, {})) {
        review();
        ++answered;
      }
    });
  }
  const std::string answer = client.ReceiveAll();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nmetric 1\n"));
}

TEST(ServingCertificate, TakesOverFilesThatChangeAndKeepsWhatIsGood) {
  const net::testing::Authority authority("ca");
  const client::testing::TemporaryFolder folder;
  const std::string cert_file = folder.path() + "/tls.crt", key_file = folder.path() + "/tls.key";
  const auto write = [&](const net::CertificateAndKey& identity) {
    std::ofstream(cert_file) << identity.cert_pem;
    std::ofstream(key_file) << identity.key_pem;
  };
  write(authority.Issue({.common_name = "first", .usage = "serverAuth"}));
  net::EventLoop loop;
  std::vector<std::string> logged;
  int renewals = 0;
  auto certificate = ServingCertificate::Load(
      loop, {.cert_file = cert_file,
             .key_file = key_file,
             .log = [&](std::string_view line) { logged.emplace_back(line); },
             .renewed = [&] { ++renewals; },
             .between_looks = Duration::Milliseconds(5)});
  ASSERT_TRUE(certificate.ok()) << certificate.error().ToString();
  auto server =
      net::HttpServer::Listen(loop, {.address = "127.0.0.1", .tls = (*certificate)->tls()},
                              [](const auto&, const auto&) {});
  ASSERT_TRUE(server.ok());
  const auto first = (*certificate)->tls();
  (*certificate)->Renew(**server);
  const auto run = [&] {
    loop.After(Duration::Milliseconds(50), [&] { loop.Stop(); });
    loop.Run();
  };
  run();
  EXPECT_EQ((*certificate)->tls(), first) << "nothing has changed";
  std::ofstream(key_file) << "half written";
  run();
  EXPECT_EQ((*certificate)->tls(), first);
  write(authority.Issue({.common_name = "second", .usage = "serverAuth"}));
  run();
  EXPECT_NE((*certificate)->tls(), first);
  EXPECT_THAT(logged, ElementsAre(HasSubstr("stays as it is: " + cert_file + " and " + key_file)));
  EXPECT_EQ(renewals, 1);
}

TEST(ServingCertificate, IsMadeWhereTheFilesMayBeMissingAndAre) {
  const client::testing::TemporaryFolder folder;
  const ServingCertificate::Options options{.cert_file = folder.path() + "/tls.crt",
                                            .key_file = folder.path() + "/tls.key",
                                            .may_be_missing = true,
                                            .names = {"localhost"}};
  net::EventLoop loop;
  const auto made = ServingCertificate::Load(loop, options);
  ASSERT_TRUE(made.ok()) << made.error().ToString();
  EXPECT_TRUE((*made)->self_signed());
  EXPECT_NE((*made)->tls(), nullptr);
  const net::testing::Authority authority("ca");
  const auto issued = authority.Issue({.common_name = "first", .usage = "serverAuth"});
  folder.Write("tls.crt", issued.cert_pem);
  EXPECT_THAT(ServingCertificate::Load(loop, options).error().ToString(), HasSubstr("/tls.key"))
      << "half of a pair is a mistake";
  folder.Write("tls.key", issued.key_pem);
  const auto read = ServingCertificate::Load(loop, options);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_FALSE((*read)->self_signed());
}

TEST(ServingCertificate, SaysWhatIsWrongWithIt) {
  net::EventLoop loop;
  EXPECT_EQ(ServingCertificate::Load(loop, {.cert_file = "/a"}).error().message,
            "a certificate for serving needs a key, and a key needs a certificate");
  EXPECT_THAT(ServingCertificate::Load(loop, {.cert_file = "/nowhere/a", .key_file = "/nowhere/b"})
                  .error()
                  .ToString(),
              HasSubstr("/nowhere/a"));
  EXPECT_FALSE(ServingCertificate::Load(loop, {}).ok()) << "no names";
}

}  // namespace
}  // namespace knx::live
