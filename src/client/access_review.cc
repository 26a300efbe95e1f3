#include "client/access_review.h"

#include <absl/strings/ascii.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/quoted_text.h"
#include "client/authorization.h"

namespace knx::client {
namespace {

constexpr std::string_view kAnonymous = "system:anonymous";
constexpr std::string_view kUnauthenticatedGroup = "system:unauthenticated";
constexpr std::string_view kAuthenticatedGroup = "system:authenticated";
constexpr std::string_view kMastersGroup = "system:masters";
constexpr std::string_view kCredentialKey = "authentication.kubernetes.io/credential-id";
constexpr Duration kReviewTimeout = Duration::Seconds(10);

bool IsIn(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// Whoever could prove who it is belongs to a group for that.
Caller Authenticated(Caller caller) {
  if (caller.user != kAnonymous && !IsIn(caller.groups, kAuthenticatedGroup) &&
      !IsIn(caller.groups, kUnauthenticatedGroup)) {
    caller.groups.emplace_back(kAuthenticatedGroup);
  }
  return caller;
}

// The token of "Bearer TOKEN"; nothing if it is another kind of authorization.
std::optional<std::string> BearerToken(std::string_view header) {
  header = TrimToken(header);
  const std::size_t blank = header.find(' ');
  std::string kind(header.substr(0, blank));
  absl::AsciiStrToLower(&kind);
  if (kind != "bearer" || blank == std::string_view::npos) return std::nullopt;
  const std::string_view rest = header.substr(blank + 1);
  const std::string_view token = rest.substr(0, rest.find(' '));
  if (token.empty()) return std::nullopt;
  return std::string(token);
}

std::string_view WithoutSlash(std::string_view path) {
  return path.substr(path.starts_with('/') ? 1 : 0);
}

std::string JsonList(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? "," : "") + QuotedText(text);
  return out + "]";
}

std::string JsonMap(const std::map<std::string, std::vector<std::string>>& map) {
  std::string out = "{";
  for (const auto& [key, values] : map) {
    out += fmt::format("{}{}:{}", out.size() > 1 ? "," : "", QuotedText(key), JsonList(values));
  }
  return out + "}";
}

using Json = simdjson::simdjson_result<simdjson::dom::element>;

std::string TextAt(Json json) {
  std::string_view text;
  return json.get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

bool BoolAt(Json json) {
  bool value = false;
  return json.get(value) == simdjson::SUCCESS && value;
}

std::vector<std::string> TextsAt(Json json) {
  std::vector<std::string> out;
  simdjson::dom::array array;
  if (json.get(array) != simdjson::SUCCESS) return out;
  for (const simdjson::dom::element one : array)
    out.push_back(TextAt(Json(simdjson::dom::element(one))));
  return out;
}

Caller CallerAt(Json json) {
  Caller out;
  out.user = TextAt(json["username"]);
  out.uid = TextAt(json["uid"]);
  out.groups = TextsAt(json["groups"]);
  simdjson::dom::object extra;
  if (json["extra"].get(extra) == simdjson::SUCCESS) {
    for (const auto& [key, values] : extra)
      out.extra[std::string(key)] = TextsAt(Json(simdjson::dom::element(values)));
  }
  return out;
}

}  // namespace

SendCall SendThrough(ApiClient& api) {
  return [&api](ApiClient::Call call, ApiClient::Done done) {
    api.Send(std::move(call), std::move(done));
  };
}

Status AccessReview::CheckPaths(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.find('*') < path.size() - 1) {
      return InvalidError(fmt::format("only a trailing * is allowed in {}", QuotedText(path)));
    }
  }
  return Ok();
}

AccessReview::AccessReview(SendCall send, Options options)
    : send_(std::move(send)),
      options_(std::move(options)),
      owners_(options_.remembered, options_.most_remembered),
      authorizations_(options_.remembered, options_.most_remembered) {}

void AccessReview::Trust(std::shared_ptr<const net::ClientAuthorities> authorities) {
  authorities_ = std::move(authorities);
}

// ---- who ----

void AccessReview::Ask(const Question& question, const Done& done) {
  if (auto caller = CallerBehind(proxies_, question.certificates, question.headers)) {
    return Authorize(Authenticated(*std::move(caller)), question, done);
  }
  bool bad_certificate = false;
  if (authorities_ != nullptr && !question.certificates.empty()) {
    if (const auto subject = authorities_->Verify(question.certificates); !subject.ok()) {
      bad_certificate = true;
    } else if (!subject->common_name.empty()) {
      Caller caller{
          .user = subject->common_name, .uid = "", .groups = subject->organizations, .extra = {}};
      caller.extra[std::string(kCredentialKey)] = {"X509SHA256=" + subject->fingerprint};
      return Authorize(Authenticated(std::move(caller)), question, done);
    }
  }
  if (const std::optional<std::string> token = BearerToken(question.authorization)) {
    return ReviewToken(*token, [this, question, done](const Result<Owner>& owner) {
      if (!owner.ok() || !owner->known) {
        return done({Verdict::kUnauthenticated, "",
                     owner.ok() ? "invalid bearer token" : owner.error().message});
      }
      Authorize(Authenticated(owner->caller), question, done);
    });
  }
  if (bad_certificate) {
    return done({Verdict::kUnauthenticated, "", "the certificate is not trusted"});
  }
  Authorize({.user = std::string(kAnonymous),
             .uid = "",
             .groups = {std::string(kUnauthenticatedGroup)},
             .extra = {}},
            question, done);
}

void AccessReview::ReviewToken(const std::string& token, RememberedAnswers<Owner>::Told told) {
  if (!owners_.Ask(token, options_.now(), std::move(told))) return;
  const auto answer = [](const Result<Response>& response) -> Result<Owner> {
    if (!response.ok()) return response.error();
    if (!response->ok()) return ErrorOf(*response);
    simdjson::dom::parser parser;
    const Json status = parser.parse(response->body)["status"];
    if (status.error() != simdjson::SUCCESS) {
      return InvalidError("the API server's answer is no TokenReview");
    }
    Owner out;
    out.known = BoolAt(status["authenticated"]);
    if (out.known) out.caller = CallerAt(status["user"]);
    return out;
  };
  Review(send_, "/apis/authentication.k8s.io/v1/tokenreviews",
         fmt::format(R"({{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview",)"
                     R"("spec":{{"token":{}}}}})",
                     QuotedText(token)),
         [this, token, answer](const Result<Response>& response) {
           const Result<Owner> owner = answer(response);
           if (!owner.ok()) Complain("a token cannot be reviewed", owner.error());
           owners_.Put(token, options_.now(), owner);
         });
}

// ---- may they ----

bool AccessReview::IsAlwaysAllowed(std::string_view path) const {
  path = WithoutSlash(path);
  return std::any_of(options_.always_allow_paths.begin(), options_.always_allow_paths.end(),
                     [path](std::string_view allowed) {
                       allowed = WithoutSlash(allowed);
                       return allowed.ends_with('*')
                                  ? path.starts_with(allowed.substr(0, allowed.size() - 1))
                                  : path == allowed;
                     });
}

void AccessReview::Authorize(const Caller& caller, const Question& question, const Done& done) {
  if (IsIn(caller.groups, kMastersGroup) || IsAlwaysAllowed(question.path)) {
    return done({Verdict::kAllowed, caller.user, ""});
  }
  const std::string spec = fmt::format(
      R"({{"nonResourceAttributes":{{"path":{},"verb":{}}},"user":{},"uid":{},"groups":{},"extra":{}}})",
      QuotedText(question.path), QuotedText(question.verb), QuotedText(caller.user),
      QuotedText(caller.uid), JsonList(caller.groups), JsonMap(caller.extra));
  const auto told = [user = caller.user, done](const Result<Authorization>& answer) {
    if (!answer.ok()) return done({Verdict::kFailed, user, answer.error().message});
    done({answer->allowed ? Verdict::kAllowed : Verdict::kForbidden, user, answer->reason});
  };
  if (!authorizations_.Ask(spec, options_.now(), told)) return;
  const auto read = [](const Result<Response>& response) -> Result<Authorization> {
    if (!response.ok()) return response.error();
    if (!response->ok()) return ErrorOf(*response);
    simdjson::dom::parser parser;
    const Json status = parser.parse(response->body)["status"];
    if (status.error() != simdjson::SUCCESS) {
      return InvalidError("the API server's answer is no SubjectAccessReview");
    }
    const bool allowed = BoolAt(status["allowed"]), denied = BoolAt(status["denied"]);
    if (allowed && denied) return InvalidError("the API server both allows and denies it");
    return Authorization{allowed, TextAt(status["reason"])};
  };
  Review(options_.authorize ? options_.authorize : send_,
         "/apis/authorization.k8s.io/v1/subjectaccessreviews",
         fmt::format(R"({{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview",)"
                     R"("spec":{}}})",
                     spec),
         [this, spec, read](const Result<Response>& response) {
           const Result<Authorization> answer = read(response);
           if (!answer.ok()) Complain("access cannot be reviewed", answer.error());
           authorizations_.Put(spec, options_.now(), answer);
         });
}

void AccessReview::Review(const SendCall& send, std::string path, std::string body,
                          std::function<void(const Result<Response>& response)> done) {
  ApiClient::Call call;
  call.method = "POST";
  call.path = std::move(path);
  call.body = std::move(body);
  call.timeout = kReviewTimeout;
  send(std::move(call),
       [this, alive = alive_, done = std::move(done)](const Result<Response>& response) {
         if (!*alive) return;
         if (response.ok() && response->ok()) last_complaint_.clear();
         done(response);
       });
}

// Once for the same reason, however often it is met. Of a missing right the client speaks.
void AccessReview::Complain(std::string_view what, const Error& error) {
  std::string complaint = fmt::format("{}: {}", what, error.message);
  if (!options_.log || complaint == last_complaint_) return;
  if (error.kind == ErrorKind::kForbidden) return;
  last_complaint_ = std::move(complaint);
  options_.log(last_complaint_);
}

}  // namespace knx::client
