#include "client/binding_writer.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace knx::client {
namespace {

struct Whereabouts {
  std::string uid, node;
};

std::optional<Whereabouts> ReadWhereabouts(const std::string& body) {
  simdjson::dom::parser parser;
  simdjson::dom::element pod;
  std::string_view uid, node;
  if (parser.parse(body).get(pod) != simdjson::SUCCESS) return std::nullopt;
  if (pod["metadata"]["uid"].get(uid) != simdjson::SUCCESS) return std::nullopt;
  // Absent as long as it has none.
  if (pod["spec"]["nodeName"].get(node) != simdjson::SUCCESS) node = {};
  return Whereabouts{std::string(uid), std::string(node)};
}

bool Is(ErrorKind kind, const Status& outcome) {
  return !outcome.ok() && outcome.error().kind == kind;
}

}  // namespace

struct BindingWriter::Doubt {
  PodName pod;
  std::string node;
  Status outcome = Ok();  // as far as it was told
  Done done;
  Time certain_at;  // what is not done then never will be
  Duration pause;
};

void BindingWriter::Bind(const PodName& pod, const std::string& node, Done done,
                         std::function<bool()> wanted) {
  auto doubt = std::make_shared<Doubt>();
  doubt->pod = pod;
  doubt->node = node;
  doubt->done = std::move(done);
  doubt->pause = patience_.first_pause;
  pods_.Bind(
      pod, node,
      [this, alive = alive_, doubt](const Status& outcome) {
        if (!*alive) return;
        // The server may have done it, or may be about to.
        const bool may_still_be = Is(ErrorKind::kUnavailable, outcome) && api_.may_be_done();
        // What is in the way may be the binding itself: a server that asks to come back later may
        // have done it, and then refuses the second attempt. And there are answers that look like
        // a success and do not say that it was one.
        const bool may_be = api_.may_be_done() || Is(ErrorKind::kConflict, outcome);
        if (outcome.ok() || !may_be) return doubt->done(outcome);
        ++uncertain_;
        doubt->outcome = outcome;
        doubt->certain_at =
            net::EventLoop::Now() + (may_still_be ? patience_.given_up_after : Duration{});
        Look(doubt);
      },
      std::move(wanted));
}

void BindingWriter::Look(const std::shared_ptr<Doubt>& doubt) {
  api_.Send(
      {.path = fmt::format("/api/v1/namespaces/{}/pods/{}", doubt->pod.namespace_, doubt->pod.name),
       .attempts = 1},
      ApiClient::Done([this, alive = alive_, doubt](Result<Response> response) {
        if (*alive) OnSeen(doubt, std::move(response));
      }));
}

void BindingWriter::OnSeen(const std::shared_ptr<Doubt>& doubt, Result<Response> response) {
  if (!response.ok()) return LookAgain(doubt);
  const Status seen = response->ok() ? Ok() : Status(ErrorOf(*response));
  const bool certain = net::EventLoop::Now() >= doubt->certain_at;
  if (!seen.ok()) {
    const ErrorKind kind = seen.error().kind;
    // Who may not look can only wait.
    const bool over = kind == ErrorKind::kNotFound || (kind != ErrorKind::kUnavailable && certain);
    if (!over) return LookAgain(doubt);
    const bool says_more =
        kind == ErrorKind::kNotFound || Is(ErrorKind::kUnavailable, doubt->outcome);
    return Settle(doubt, says_more ? seen : doubt->outcome);
  }
  const std::optional<Whereabouts> where = ReadWhereabouts(response->body);
  if (!where) return LookAgain(doubt);
  if (where->uid != doubt->pod.uid) {
    return Settle(doubt, Error{ErrorKind::kNotFound, "another pod has that name now", {}});
  }
  if (where->node == doubt->node) return Settle(doubt, Ok());
  if (!where->node.empty()) {
    return Settle(
        doubt,
        Error{ErrorKind::kConflict, fmt::format("somebody else bound it to {}", where->node), {}});
  }
  certain ? Settle(doubt, doubt->outcome) : LookAgain(doubt);
}

void BindingWriter::LookAgain(const std::shared_ptr<Doubt>& doubt) {
  loop_.After(doubt->pause, [this, alive = alive_, doubt] {
    if (*alive) Look(doubt);
  });
  doubt->pause = std::min(doubt->pause * 2, patience_.longest_pause);
}

void BindingWriter::Settle(const std::shared_ptr<Doubt>& doubt, const Status& outcome) {
  --uncertain_;
  doubt->done(outcome);
}

}  // namespace knx::client
