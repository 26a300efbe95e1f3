#include "client/leader_lease.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/quoted_text.h"
#include "client/access_rule.h"
#include "client/lease_json.h"
#include "client/url.h"

namespace knx::client {
namespace {

using Request = LeaseElection::Request;

// Long enough for a slow server, short enough for a second try before the deadline.
Duration CallTimeout(const LeaseElection::Options& options) {
  const Duration half{options.renew_deadline.ns / 2};
  return std::min(std::max(half, Duration::Seconds(1)), options.renew_deadline);
}

}  // namespace

std::string LeaseIdentity() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host.front() = '\0';
  std::array<std::uint8_t, 16> uuid{};
  KNX_CHECK(getrandom(uuid.data(), uuid.size(), 0) == static_cast<ssize_t>(uuid.size()),
            "the system has no random bytes");
  constexpr std::uint8_t kVersion = 0x40, kVariant = 0x80;
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0FU) | kVersion);
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3FU) | kVariant);
  std::string out = fmt::format("{}_", host.data());
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02x}", uuid[i]);
  }
  return out;
}

LeaderLease::LeaderLease(net::EventLoop& loop, Options options, Callbacks callbacks)
    : loop_(loop),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      election_(options_.election) {
  ApiClient::Options& reach = options_.reach;
  reach.write_connections = 1;
  reach.may_send = nullptr;
  reach.server_timeout = [timeout = CallTimeout(options_.election)] { return timeout; };
  reach.calls_per_second = 0;
  reach.answered = [this, others = std::move(reach.answered)](std::string_view method, int status) {
    last_status_ = status;
    if (others) others(method, status);
  };
  Connect();
}

LeaderLease::~LeaderLease() {
  *alive_ = false;
  loop_.Cancel(wake_);
  loop_.Cancel(give_up_);
}

void LeaderLease::Replace(const net::Endpoint& endpoint) {
  options_.reach.endpoint = endpoint;
  if (api_ != nullptr) api_->Replace(endpoint);
}

void LeaderLease::Connect() { api_ = std::make_unique<ApiClient>(loop_, options_.reach); }

Duration LeaderLease::SinceConfirmed() const {
  return leading() ? options_.now() - election_.confirmed() : Duration{};
}

Duration LeaderLease::TimeForWrites() const {
  const Duration second = Duration::Seconds(1);
  const Duration left = election_.TimeForWrites(options_.now());
  return Duration::Seconds(std::max(left.ns / second.ns, std::int64_t{1}));
}

bool LeaderLease::MayWrite() {
  if (election_.MayWrite(options_.now())) return true;
  // The timers of a machine that slept are late; whoever asks must not have to wait for them.
  if (election_.leading() && !std::exchange(step_posted_, true)) {
    loop_.Post([this, alive = alive_] {
      if (!*alive) return;
      step_posted_ = false;
      Step();
    });
  }
  return false;
}

void LeaderLease::Release(std::function<void()> done) {
  released_ = std::move(done);
  election_.Release();
  Step();
}

// ---- asking ----

void LeaderLease::Step() {
  const auto alive = alive_;
  loop_.Cancel(std::exchange(wake_, {}));
  if (const auto request = election_.Next(options_.now(), options_.wall())) Ask(*request);
  Report();
  if (!*alive) return;
  const Time wake = election_.NextWake();
  if (wake == kNever) return;
  wake_ = loop_.After(wake - options_.now(), [this] {
    wake_ = {};
    Step();
  });
}

void LeaderLease::Ask(const Request& request) {
  const std::uint64_t number = ++asked_;
  const std::string all = fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases",
                                      UrlEscaped(options_.namespace_));
  ApiClient::Call call;
  call.timeout = CallTimeout(options_.election);
  call.says_what_is_forbidden = true;
  call.path = request.kind == Request::Kind::kCreate
                  ? all
                  : fmt::format("{}/{}", all, UrlEscaped(options_.name));
  if (request.kind == Request::Kind::kCreate) {
    call.method = "POST";
    call.body = WriteLease(request.record, NewLeaseMetadata(options_.namespace_, options_.name));
  } else if (request.kind == Request::Kind::kUpdate) {
    call.method = "PUT";
    call.body = WriteLease(request.record, request.metadata);
  }
  const std::string method = call.method;
  last_status_ = 0;
  api_->Send(std::move(call), [this, number, method](Result<Response> response) {
    if (!response.ok()) return OnAnswer(number, method, response.error());
    if (response->ok()) return OnAnswer(number, method, ReadLease(response->body));
    Error error = ErrorOf(*response);
    if (error.kind == ErrorKind::kForbidden) {
      error.message = NotAllowedLease(method, options_.namespace_, options_.name);
    }
    OnAnswer(number, method, error);
  });
  give_up_ = loop_.After(CallTimeout(options_.election), [this, number, method] {
    give_up_ = {};
    GiveUp(number, method);
  });
}

// Whatever keeps the call from being answered, the next one gets a connection of its own.
void LeaderLease::GiveUp(std::uint64_t number, const std::string& method) {
  std::string why = api_->not_sent_because();
  // A server that puts us off is asked again for as long as there is time.
  if (why.empty() && last_status_ != 0) why = fmt::format("the server answered {}", last_status_);
  Connect();
  if (!why.empty()) why = fmt::format(", because {}", why);
  OnAnswer(number, method,
           Error{ErrorKind::kUnavailable, fmt::format("no answer in time{}", why), {}});
}

void LeaderLease::OnAnswer(std::uint64_t number, const std::string& method,
                           const Result<StoredLease>& answer) {
  if (number <= answered_) return;
  answered_ = number;
  loop_.Cancel(std::exchange(give_up_, {}));
  election_.OnAnswer(answer, options_.now());
  Complain(method, answer);
  Step();
}

// ---- telling ----

// What an answer says that somebody has to do something about.
std::optional<Error> LeaderLease::TroubleOf(const std::string& method,
                                            const Result<StoredLease>& answer) const {
  if (answer.ok()) return std::nullopt;
  Error error = answer.error();
  if (error.kind == ErrorKind::kNotFound && method == "POST") {
    error.message = fmt::format(
        "it cannot be made in namespace {} (leaderElection.resourceNamespace, "
        "--leader-elect-resource-namespace): {}",
        QuotedText(options_.namespace_), error.message);
    return error;
  }
  // That there is no lease yet, or that another replica was faster, is as it should be.
  const bool changed = error.kind == ErrorKind::kNotFound || error.kind == ErrorKind::kConflict;
  if (changed && (method == "GET" || election_.refusals() < 2)) return std::nullopt;
  return error;
}

void LeaderLease::Complain(const std::string& method, const Result<StoredLease>& answer) {
  const std::optional<Error> trouble = TroubleOf(method, answer);
  const std::string message = trouble ? trouble->message : "";
  if (message == std::exchange(last_troubles_[method], message)) return;
  if (trouble) callbacks_.trouble(*trouble);
}

void LeaderLease::Report() {
  const auto alive = alive_;
  if (election_.lost() && !std::exchange(told_lost_, true)) callbacks_.lost(*election_.lost());
  if (!*alive) return;
  if (election_.leading() && !std::exchange(was_leading_, true)) callbacks_.leading();
  if (!*alive) return;
  if (election_.holder() != seen_holder_) {
    seen_holder_ = election_.holder();
    // Who lost it has been told whose it is, and does not wait for it.
    if (seen_holder_ != identity() && !election_.lost()) callbacks_.seen(seen_holder_);
  }
  if (!*alive || !election_.over() || !released_) return;
  std::exchange(released_, nullptr)();
}

}  // namespace knx::client
