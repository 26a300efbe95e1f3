#include "client/list_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "k8s/read_proto.h"

namespace knx::client {
namespace {

// As many objects as a cluster may have of one kind, from a server that sends a tenth of what it is
// asked for.
constexpr int kMostPages = k8s::kMaxListItems / 100;

// Of what a page may be: twice as many objects leave room then, unless they differ a lot.
constexpr double kRoomForMore = 0.25;

}  // namespace

bool IsJson(const net::Headers& headers) {
  return net::FindHeader(headers, "content-type").starts_with("application/json");
}

std::string NextPage(const Response& page) {
  if (IsJson(page.headers)) return "";
  auto meta = k8s::ReadProtoListMeta(page.body);
  return meta.ok() ? std::move(meta->continue_token) : "";
}

Status PageCount::Ask(const std::string& continue_token) {
  if (!continue_token.empty() && continue_token == token_) {
    return InvalidError("a list whose pages do not end: what follows a page is that page again");
  }
  if (++pages_ > kMostPages) {
    return InvalidError(fmt::format("a list of more than {} pages", kMostPages));
  }
  token_ = continue_token;
  return Ok();
}

bool PageSize::Halve() {
  if (now_ == 1) return false;
  now_ /= 2;
  return true;
}

void PageSize::Took(double part_of_limits) {
  if (part_of_limits < kRoomForMore) now_ = std::min(now_ * 2, kMost);
}

}  // namespace knx::client
