#include "client/access_review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "net/testing/certificates.h"

namespace knx::client {
namespace {

using net::testing::Authority;
using net::testing::DerOfPem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Verdict = AccessReview::Verdict;

// An API server that knows the token "good", of jane, and lets her read /metrics.
class FakeReviews {
 public:
  SendCall send() {
    return [this](const ApiClient::Call& call, ApiClient::Done done) {
      bodies.push_back(call.body);
      EXPECT_EQ(call.method, "POST");
      if (later) {
        waiting.push_back([this, call, done = std::move(done)] { done(AnswerTo(call)); });
      } else {
        done(AnswerTo(call));
      }
    };
  }

  std::optional<Result<Response>> always;  // whatever is asked
  bool later = false;
  std::vector<std::string> bodies;
  std::vector<std::function<void()>> waiting;

 private:
  [[nodiscard]] Result<Response> AnswerTo(const ApiClient::Call& call) const {
    if (always) return *always;
    const auto has = [&](std::string_view text) {
      return call.body.find(text) != std::string::npos;
    };
    if (call.path == "/apis/authentication.k8s.io/v1/tokenreviews") {
      return Response{201,
                      {},
                      has(R"("token":"good")")
                          ? R"({"status":{"authenticated":true,"user":{"username":"jane",)"
                            R"("uid":"u1","groups":["dev"],"extra":{"k":["v","w"]}}}})"
                          : R"({"status":{"user":{},"error":"unknown token"}})"};
    }
    EXPECT_EQ(call.path, "/apis/authorization.k8s.io/v1/subjectaccessreviews");
    const bool allowed = has(R"("user":"jane")") && has(R"({"path":"/metrics","verb":"get"})");
    return Response{201,
                    {},
                    allowed ? R"({"status":{"allowed":true,"reason":"RBAC"}})"
                            : R"({"status":{"allowed":false,"reason":"no rule"}})"};
  }
};

struct Fixture {
  FakeReviews api;
  Time now;
  std::vector<std::string> logged;
  AccessReview review{api.send(),
                      {.log = [this](std::string_view line) { logged.emplace_back(line); },
                       .now = [this] { return now; }}};

  std::optional<AccessReview::Answer> Ask(AccessReview::Question question) {
    std::optional<AccessReview::Answer> out;
    review.Ask(question, [&](const AccessReview::Answer& answer) { out = answer; });
    return out;
  }
};

AccessReview::Question Get(std::string path, std::string authorization = "") {
  return {"get", std::move(path), std::move(authorization), {}};
}

TEST(AccessReview, DecidesByTokenAndPath) {
  struct Case {
    std::string_view name;
    AccessReview::Question question;
    Verdict want;
    std::string_view user;
    std::size_t calls;
  };
  const Case cases[] = {
      {"anybody may ask how we are", Get("/healthz"), Verdict::kAllowed, "system:anonymous", 0},
      {"not what is below", Get("/healthz/ping"), Verdict::kForbidden, "system:anonymous", 1},
      {"nobody may read metrics", Get("/metrics"), Verdict::kForbidden, "system:anonymous", 1},
      {"jane may", Get("/metrics", "Bearer good"), Verdict::kAllowed, "jane", 2},
      {"in any writing", Get("/metrics", " bEARER good "), Verdict::kAllowed, "jane", 2},
      {"but not all", Get("/configz", "Bearer good"), Verdict::kForbidden, "jane", 2},
      {"nor do all", {"post", "/metrics", "Bearer good", {}}, Verdict::kForbidden, "jane", 2},
      {"a bad token", Get("/metrics", "Bearer bad"), Verdict::kUnauthenticated, "", 1},
      {"even where all may", Get("/healthz", "Bearer bad"), Verdict::kUnauthenticated, "", 1},
      {"no token", Get("/metrics", "Bearer"), Verdict::kForbidden, "system:anonymous", 1},
      {"an empty token", Get("/metrics", "Bearer  x"), Verdict::kForbidden, "system:anonymous", 1},
      {"a password", Get("/metrics", "Basic good"), Verdict::kForbidden, "system:anonymous", 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Fixture fixture;
    const auto answer = fixture.Ask(c.question);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->verdict, c.want);
    EXPECT_EQ(answer->user, c.user);
    EXPECT_EQ(fixture.api.bodies.size(), c.calls);
  }
}

TEST(AccessReview, SaysWhoAsksForWhat) {
  Fixture fixture;
  (void)fixture.Ask(Get("/metrics", "Bearer good"));
  (void)fixture.Ask(Get("/a\"b"));
  EXPECT_THAT(
      fixture.api.bodies,
      ElementsAre(
          R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"good"}})",
          R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{)"
          R"("nonResourceAttributes":{"path":"/metrics","verb":"get"},"user":"jane","uid":"u1",)"
          R"("groups":["dev","system:authenticated"],"extra":{"k":["v","w"]}}})",
          R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{)"
          R"("nonResourceAttributes":{"path":"/a\"b","verb":"get"},"user":"system:anonymous",)"
          R"("uid":"","groups":["system:unauthenticated"],"extra":{}}})"));
}

TEST(AccessReview, AlwaysAllowsPathsAndWhatBeginsLikeThem) {
  FakeReviews api;
  AccessReview review(api.send(), {.always_allow_paths = {"/open", "pages/*", "/"}});
  const auto allowed = [&](const std::string& path) {
    bool out = false;
    review.Ask(Get(path), [&](const auto& answer) { out = answer.verdict == Verdict::kAllowed; });
    return out;
  };
  EXPECT_TRUE(allowed("/open"));
  EXPECT_TRUE(allowed("/pages/"));
  EXPECT_TRUE(allowed("/pages/a/b"));
  EXPECT_TRUE(allowed("/"));
  EXPECT_FALSE(allowed("/open/"));
  EXPECT_FALSE(allowed("/pages"));
  EXPECT_FALSE(allowed("/other"));
  EXPECT_TRUE(AccessReview::CheckPaths({"/a", "/b/*", "*", ""}).ok());
  EXPECT_EQ(AccessReview::CheckPaths({"/a*/b"}).error().message,
            "only a trailing * is allowed in \"/a*/b\"");
}

TEST(AccessReview, BelievesCertificatesOfTheAuthorityAlone) {
  const Authority authority("ca"), stranger("stranger");
  const auto chain = [](const Authority& issuer, const net::testing::IssueOptions& options) {
    return std::vector<std::string>{DerOfPem(issuer.Issue(options).cert_pem)};
  };
  const auto jane = chain(authority, {.common_name = "jane", .organizations = {"dev"}});
  const auto master =
      chain(authority, {.common_name = "root", .organizations = {"system:masters"}});
  const auto forged = chain(stranger, {.common_name = "root", .organizations = {"system:masters"}});
  Fixture fixture;
  const auto ask = [&](const std::vector<std::string>& certificates, std::string token = "") {
    AccessReview::Question question = Get("/metrics", std::move(token));
    question.certificates = certificates;
    return fixture.Ask(question);
  };
  EXPECT_EQ(ask(jane)->user, "system:anonymous") << "nobody is trusted yet";
  const auto trusted = net::ClientAuthorities::Make(authority.pem());
  ASSERT_TRUE(trusted.ok());
  fixture.review.Trust(*trusted);
  EXPECT_EQ(ask(jane)->verdict, Verdict::kAllowed);
  EXPECT_THAT(fixture.api.bodies.back(), HasSubstr(R"("groups":["dev","system:authenticated"])"));
  EXPECT_THAT(fixture.api.bodies.back(),
              HasSubstr(R"("authentication.kubernetes.io/credential-id":["X509SHA256=)"));
  const std::size_t asked = fixture.api.bodies.size();
  EXPECT_EQ(ask(master)->verdict, Verdict::kAllowed);
  EXPECT_EQ(fixture.api.bodies.size(), asked) << "masters may do everything";
  EXPECT_EQ(ask(forged)->verdict, Verdict::kUnauthenticated);
  EXPECT_EQ(ask({"garbage"})->verdict, Verdict::kUnauthenticated);
  EXPECT_EQ(ask(forged, "Bearer good")->user, "jane") << "the token counts";
  EXPECT_EQ(ask(chain(authority, {.common_name = ""}))->user, "system:anonymous");
}

TEST(AccessReview, RemembersAnswersForSomeSeconds) {
  Fixture fixture;
  const auto ask = [&] { return fixture.Ask(Get("/metrics", "Bearer good"))->verdict; };
  EXPECT_EQ(ask(), Verdict::kAllowed);
  fixture.api.always = Response{201, {}, R"({"status":{}})"};
  fixture.now = Time{} + Duration::Milliseconds(9'999);
  EXPECT_EQ(ask(), Verdict::kAllowed);
  EXPECT_EQ(fixture.api.bodies.size(), 2U);
  fixture.now = Time{} + Duration::Seconds(10);
  EXPECT_EQ(ask(), Verdict::kUnauthenticated);
  EXPECT_EQ(fixture.api.bodies.size(), 3U);
}

TEST(AccessReview, AsksOnceForManyWhoAskTheSame) {
  Fixture fixture;
  fixture.api.later = true;
  int allowed = 0;
  for (int i = 0; i < 50; ++i) {
    fixture.review.Ask(Get("/metrics", "Bearer good"), [&](const AccessReview::Answer& answer) {
      allowed += answer.verdict == Verdict::kAllowed ? 1 : 0;
    });
  }
  while (!fixture.api.waiting.empty()) {
    for (const auto& answer : std::exchange(fixture.api.waiting, {})) answer();
  }
  EXPECT_EQ(allowed, 50);
  EXPECT_EQ(fixture.api.bodies.size(), 2U);
}

TEST(AccessReview, FailsClosedWhenNobodyCanSay) {
  const Result<Response> broken[] = {
      Error{ErrorKind::kUnavailable, "connection refused", {}},
      Response{403, {}, R"({"message":"may not create reviews"})"},
      Response{500, {}, ""},
      Response{201, {}, "no JSON"},
      Response{201, {}, "[]"},
      Response{201, {}, R"({"status":{"allowed":true,"denied":true}})"},
      Response{201, {}, R"({"status":{"allowed":"yes","authenticated":"yes"}})"},
  };
  for (const Result<Response>& answer : broken) {
    Fixture fixture;
    fixture.api.always = answer;
    EXPECT_NE(fixture.Ask(Get("/metrics"))->verdict, Verdict::kAllowed);
    EXPECT_NE(fixture.Ask(Get("/metrics", "Bearer good"))->verdict, Verdict::kAllowed);
    EXPECT_EQ(fixture.Ask(Get("/healthz"))->verdict, Verdict::kAllowed);
  }
}

TEST(AccessReview, LogsTheSameTroubleOnce) {
  Fixture fixture;
  fixture.api.always = Response{403, {}, R"({"message":"may not create reviews"})"};
  for (int i = 0; i < 5; ++i) (void)fixture.Ask(Get("/metrics"));
  EXPECT_THAT(fixture.logged, ElementsAre("access cannot be reviewed: may not create reviews"));
  fixture.api.always.reset();
  (void)fixture.Ask(Get("/metrics"));
  fixture.now = Time{} + Duration::Minutes(1);
  fixture.api.always = Response{403, {}, R"({"message":"may not create reviews"})"};
  (void)fixture.Ask(Get("/metrics"));
  EXPECT_EQ(fixture.logged.size(), 2U);
}

TEST(AccessReview, LeavesItToTheClientToNameAMissingRight) {
  Fixture fixture;
  fixture.api.always = Response{403, {}, R"({"message":"User \"we\" cannot create resource"})"};
  EXPECT_EQ(fixture.Ask(Get("/metrics"))->verdict, Verdict::kFailed);
  EXPECT_THAT(fixture.logged, IsEmpty());
}

TEST(AccessReview, MayAskInTwoPlaces) {
  FakeReviews who, may;
  AccessReview review(who.send(), {.authorize = may.send()});
  std::optional<AccessReview::Answer> got;
  review.Ask(Get("/metrics", "Bearer good"), [&](const auto& answer) { got = answer; });
  EXPECT_EQ(got->verdict, Verdict::kAllowed);
  EXPECT_THAT(who.bodies, ElementsAre(HasSubstr("TokenReview")));
  EXPECT_THAT(may.bodies, ElementsAre(HasSubstr("SubjectAccessReview")));
}

TEST(AccessReview, AnAnswerAfterItHasGoneDoesNothing) {
  FakeReviews api;
  api.later = true;
  bool told = false;
  {
    AccessReview review(api.send(), {});
    review.Ask(Get("/metrics", "Bearer good"), [&](const auto&) { told = true; });
  }
  api.waiting.front()();
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace knx::client
