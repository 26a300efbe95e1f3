// A sink that remembers what it was told.
#pragma once

#include <memory>
#include <string>

#include "net/http_message.h"

namespace knx::net::testing {

struct Heard {
  int heads = 0, dones = 0;
  int status = 0;
  Headers headers;
  std::string body;
  bool ok = false, unsent = false;
  std::string error;
  ErrorKind kind = ErrorKind::kInvalid;
};

class HeardSink final : public ResponseSink {
 public:
  explicit HeardSink(std::shared_ptr<Heard> heard) : heard_(std::move(heard)) {}

  void OnHead(int status, const Headers& headers) override {
    ++heard_->heads;
    heard_->status = status;
    heard_->headers = headers;
  }
  void OnData(std::string_view bytes) override { heard_->body += bytes; }
  void OnDone(const Status& outcome, bool unsent) override {
    ++heard_->dones;
    heard_->ok = outcome.ok();
    heard_->unsent = unsent;
    if (outcome.ok()) return;
    heard_->error = outcome.error().message;
    heard_->kind = outcome.error().kind;
  }

 private:
  std::shared_ptr<Heard> heard_;
};

}  // namespace knx::net::testing
