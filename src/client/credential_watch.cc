#include "client/credential_watch.h"

#include <utility>

namespace knx::client {

CredentialWatch::CredentialWatch(net::EventLoop& loop, TokenSource& source,
                                 const Credentials& first, std::function<Time()> wall)
    : loop_(loop), source_(source), newest_(first), wall_(std::move(wall)) {}

CredentialWatch::~CredentialWatch() { Unwatch(); }

void CredentialWatch::Unwatch() {
  if (watched_ >= 0) loop_.Unwatch(std::exchange(watched_, -1));
}

Authorization CredentialWatch::Current() {
  Unwatch();  // asking may close the descriptor
  const auto got = source_.Get(wall_());
  if (!got.ok()) {
    if (callbacks_.trouble) callbacks_.trouble(got.error().message);
  } else if (*got != nullptr) {
    Take(**got);
  }
  if (source_.fd() >= 0) {
    watched_ = source_.fd();
    loop_.Watch(watched_, net::kReadable, [this](std::uint32_t) { Current(); });
  }
  Authorization out(newest_.authorization, newest_.generation);
  out.pending = watched_ >= 0;
  return out;
}

void CredentialWatch::Take(const Credentials& credentials) {
  if (credentials.generation == newest_.generation) return;
  const bool other = credentials.client_certificate_pem != newest_.client_certificate_pem ||
                     credentials.client_key_pem != newest_.client_key_pem;
  newest_ = credentials;
  if (other && callbacks_.certificate_changed) callbacks_.certificate_changed(newest_);
}

}  // namespace knx::client
