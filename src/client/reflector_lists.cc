// How a reflector is told everything by lists in pages.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "client/json_watch.h"
#include "client/reflector.h"
#include "client/url.h"
#include "k8s/read_proto.h"

namespace knx::client {
namespace {

// With one page; see TakeSome().
constexpr Duration kLongestTurn = Duration::Milliseconds(10);
constexpr int kStatusFine = 200, kStatusTimedOut = 504;

}  // namespace

void Reflector::AskPage(const std::string& continue_token) {
  if (const Status more = pages_.Ask(continue_token); !more.ok()) return OnBadList(more.error());
  SendForPage(continue_token);
}

void Reflector::SendForPage(const std::string& continue_token) {
  std::string path = fmt::format("{}?limit={}{}", collection_.path, page_size_.now(), Selection());
  if (!continue_token.empty()) path += "&continue=" + UrlEscaped(continue_token);
  api_.Send(
      {.path = std::move(path),
       .timeout = timing_.page_timeout,
       .accept = collection_.json ? "application/json"
                                  : "application/vnd.kubernetes.protobuf,application/json",
       .attempts = 1},
      ApiClient::Done([this, alive = alive_, round = round_, continue_token,
                       asked = net::EventLoop::Now()](Result<Response> page) {
        if (!*alive || round != round_) return;
        const Duration took = net::EventLoop::Now() - asked;
        if (!page.ok()) return OnNoPage(continue_token, page.error(), took);
        if (page->status == kStatusTimedOut) {
          return OnNoPage(continue_token, ErrorOf(*page), timing_.page_timeout);
        }
        page_size_.Took(std::max(
            static_cast<double>(page->body.size()) / static_cast<double>(api_.longest_answer()),
            static_cast<double>(took.ns) / static_cast<double>(timing_.page_timeout.ns)));
        OnPage(*std::move(page));
      }));
}

// Objects may be large, and the way to us slow. What follows a page may be asked for in pages of
// another size.
void Reflector::OnNoPage(const std::string& continue_token, const Error& error, Duration took) {
  const bool too_slow = took >= timing_.page_timeout && api_.not_sent_because().empty();
  if (!(api_.answer_too_long() || too_slow) || !page_size_.Halve()) return OnEnd(error, 0, "");
  Say({error.kind, error.message + "; smaller pages of the list are asked for", {}});
  SendForPage(continue_token);
}

void Reflector::OnPage(Response response) {
  if (!response.ok()) return OnEnd(Ok(), response.status, response.body);
  if (busy_) {
    waiting_ = std::move(response);
    return;
  }
  busy_ = true;
  const std::string next = NextPage(response);
  if (next.empty()) return TakePage(response, false);
  const std::uint64_t round = round_;
  AskPage(next);
  // After the question has left.
  loop_.Post([this, alive = alive_, round, page = std::move(response)] {
    if (*alive && round == round_) TakePage(page, true);
  });
}

void Reflector::OnBadList(const Error& error) {
  Say(error);
  ++round_;  // what was asked for meanwhile is of no use
  OnEnd(Ok(), kStatusFine, "");
}

void Reflector::TakePage(const Response& page, bool next_is_asked_for) {
  auto list = IsJson(page.headers) ? ReadJsonList(page.body) : k8s::ReadProtoList(page.body);
  if (!list.ok() || list->resource_version.empty()) {
    return OnBadList(list.ok() ? InvalidError("a list without a resource version") : list.error());
  }
  taking_ = {*std::move(list), 0, next_is_asked_for};
  TakeSome();
}

// There are objects that take long to be told of, and others wait meanwhile, such as the lease.
void Reflector::TakeSome() {
  const Time end = net::EventLoop::Now() + kLongestTurn;
  std::vector<k8s::ReceivedObject>& items = taking_.list.items;
  while (taking_.next < items.size()) {
    Take(k8s::ChangeType::kAdded, std::move(items[taking_.next++]));
    if (net::EventLoop::Now() < end) continue;
    return loop_.Post([this, alive = alive_, round = round_] {
      if (*alive && round == round_) TakeSome();
    });
  }
  OnPageTaken(std::exchange(taking_, {}));
}

void Reflector::OnPageTaken(const Taking& page) {
  busy_ = false;
  if (waiting_) return OnPage(*std::exchange(waiting_, std::nullopt));
  if (page.next_is_asked_for) return;
  if (!page.list.continue_token.empty()) return AskPage(page.list.continue_token);
  api_.troubles().ServerWorks();
  version_ = page.list.resource_version;
  OnInitialEnd();
  OpenWatch();
}

}  // namespace knx::client
