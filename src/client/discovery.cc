#include "client/discovery.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <string_view>

namespace knx::client {
namespace {

// Everything in one answer; v2beta1 is what servers before 1.30 have.
constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

using Json = simdjson::simdjson_result<simdjson::dom::element>;

std::string_view TextIn(Json json) {
  std::string_view text;
  return json.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// Nothing, where there is no list.
std::vector<Json> ListIn(Json json) {
  std::vector<Json> out;
  simdjson::dom::array array;
  if (json.get(array) != simdjson::SUCCESS) return out;
  for (const simdjson::dom::element one : array) out.emplace_back(simdjson::dom::element(one));
  return out;
}

bool CanBeWatched(Json resource) {
  const std::vector<Json> verbs = ListIn(resource["verbs"]);
  return std::any_of(verbs.begin(), verbs.end(),
                     [](const Json& verb) { return TextIn(verb) == "watch"; });
}

// "/apis/group/v1/things" in another version.
std::string InVersion(std::string_view path, std::string_view version) {
  const std::size_t resource = path.rfind('/');
  const std::size_t before = path.rfind('/', resource - 1);
  return fmt::format("{}/{}{}", path.substr(0, before), version, path.substr(resource));
}

}  // namespace

Discovery::Discovery(net::EventLoop& loop, ApiClient& api, Duration again)
    : loop_(loop), api_(api), again_(again), unanswered_(Duration::Milliseconds(100), again) {}

Discovery::~Discovery() {
  *alive_ = false;
  loop_.Cancel(next_);
}

void Discovery::Guide(Collection collection, Reflector& reflector) {
  guided_.emplace_back(std::move(collection), &reflector);
  if (answered_) return Move(guided_.back().first, reflector);
  if (guided_.size() == 1) Ask();
}

void Discovery::Ask() {
  api_.Send({.path = "/apis", .urgent = false, .accept = kAggregated, .attempts = 1, .etag = etag_},
            ApiClient::Done([this, alive = alive_](const Result<Response>& response) {
              if (*alive) OnAnswer(response);
            }));
}

// What cannot be had or read changes nothing. Whoever was never told watches where its kind should
// be, and finds out by itself.
void Discovery::OnAnswer(const Result<Response>& response) {
  constexpr int kFirstOfServerErrors = 500;
  const bool heard = response.ok() && response->status < kFirstOfServerErrors;
  if (heard) unanswered_.Reset();
  next_ = loop_.After(heard ? again_ : unanswered_.Next(), [this] {
    next_ = {};
    Ask();
  });
  bool news = !std::exchange(answered_, true);
  if (response.ok() && response->ok()) {
    if (auto served = Read(*response); served.ok()) {
      news = news || served_ != *served;
      served_ = *std::move(served);
      etag_ = net::FindHeader(response->headers, "etag");
    }
  }
  if (!news) return;
  for (const auto& [collection, reflector] : guided_) Move(collection, *reflector);
}

Result<Discovery::Paths> Discovery::Read(const Response& response) const {
  simdjson::dom::parser parser;
  const Json list = parser.parse(response.body);
  const bool has_items = list["items"].is_array();
  if (!has_items || TextIn(list["kind"]) != "APIGroupDiscoveryList") {
    return InvalidError("no discovery");
  }
  Paths out;
  for (const Json& group : ListIn(list["items"])) {
    for (const Json& version : ListIn(group["versions"])) {
      const std::string prefix = fmt::format("/apis/{}/{}/", TextIn(group["metadata"]["name"]),
                                             TextIn(version["version"]));
      // Whoever answers for it is away for a while: what it had, it will have again.
      if (served_ && TextIn(version["freshness"]) == "Stale") {
        for (auto at = served_->lower_bound(prefix); at != served_->end(); ++at) {
          if (!at->starts_with(prefix)) break;
          out.insert(*at);
        }
      }
      for (const Json& resource : ListIn(version["resources"])) {
        if (CanBeWatched(resource)) out.insert(prefix + std::string(TextIn(resource["resource"])));
      }
    }
  }
  return out;
}

void Discovery::Move(const Collection& collection, Reflector& reflector) const {
  reflector.MoveTo(served_ ? PathOf(collection) : collection.path);
}

std::string Discovery::PathOf(const Collection& collection) const {
  if (served_->contains(collection.path)) return collection.path;
  for (const std::string& version : collection.older_versions) {
    std::string path = InVersion(collection.path, version);
    if (served_->contains(path)) return path;
  }
  return "";
}

}  // namespace knx::client
