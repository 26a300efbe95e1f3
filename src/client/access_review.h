// Who calls our server, and may they? Decided as kube-scheduler does: a proxy that we believe says
// who it is, or there is a certificate that the clients' authority has signed, or a bearer token
// that the API server knows (TokenReview), or nobody in particular; and then the API server is
// asked whether that user may do it (SubjectAccessReview). Answers are remembered for some seconds.
//
// Holds tokens while it remembers their owners: nothing of it belongs into a log.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/api_client.h"
#include "client/remembered_answers.h"
#include "client/trusted_proxies.h"
#include "net/client_authorities.h"
#include "net/event_loop.h"

namespace knx::client {

// How calls reach the API server.
using SendCall = std::function<void(ApiClient::Call call, ApiClient::Done done)>;
SendCall SendThrough(ApiClient& api);

class AccessReview {
 public:
  struct Options {
    // What everybody may ask; with a * at the end, all that begins so.
    std::vector<std::string> always_allow_paths = {"/healthz", "/readyz", "/livez"};
    Duration remembered = Duration::Seconds(10);
    std::size_t most_remembered = 2048;
    // Where it is asked what somebody may; empty: where it is asked who it is.
    SendCall authorize = {};
    std::function<void(std::string_view line)> log = {};  // of reviews that fail
    std::function<Time()> now = &net::EventLoop::Now;
  };
  // Refuses a path with a * that is not at its end.
  static Status CheckPaths(const std::vector<std::string>& paths);

  AccessReview(SendCall send, Options options);
  ~AccessReview() { *alive_ = false; }
  AccessReview(const AccessReview&) = delete;
  AccessReview& operator=(const AccessReview&) = delete;

  // Who may vouch for clients. Until this is called, certificates say nothing.
  void Trust(std::shared_ptr<const net::ClientAuthorities> authorities);
  // The same for proxies who tell for whom they ask.
  void TrustProxies(TrustedProxies proxies) { proxies_ = std::move(proxies); }

  struct Question {
    std::string verb;                       // the method in small letters
    std::string path;                       // decoded
    std::string authorization;              // the header; may be empty
    std::vector<std::string> certificates;  // in DER; may be empty
    net::Headers headers = {};              // all of them, for what a proxy says
  };
  enum class Verdict {
    kAllowed,
    kUnauthenticated,  // who it claims to be could not be confirmed
    kForbidden,
    kFailed,  // nobody could say
  };
  struct Answer {
    Verdict verdict = Verdict::kFailed;
    std::string user;
    std::string reason;
  };
  // `done` is called once, now or later; not after we were destroyed.
  using Done = std::function<void(const Answer& answer)>;
  void Ask(const Question& question, const Done& done);

 private:
  struct Authorization {
    bool allowed = false;
    std::string reason;
  };
  struct Owner {
    bool known = false;  // otherwise it is nobody's token
    Caller caller;
  };

  void ReviewToken(const std::string& token, RememberedAnswers<Owner>::Told told);
  void Authorize(const Caller& caller, const Question& question, const Done& done);
  void Review(const SendCall& send, std::string path, std::string body,
              std::function<void(const Result<Response>& response)> done);
  [[nodiscard]] bool IsAlwaysAllowed(std::string_view path) const;
  void Complain(std::string_view what, const Error& error);

  SendCall send_;
  Options options_;
  std::shared_ptr<const net::ClientAuthorities> authorities_;
  TrustedProxies proxies_;
  RememberedAnswers<Owner> owners_;  // by token
  RememberedAnswers<Authorization> authorizations_;
  std::string last_complaint_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::client
