// Asks extenders over HTTP what the core wants to know, and lets them bind.
//
// They get the pod as the API server has it, fetched right before they are asked. Extenders that
// keep nodes of their own get names; the others whole nodes, which are watched for them. That watch
// may be later than the one by which the core knows of a node: it is waited for, but not for long.
// Nobody is asked without it: nothing would try the pod again once it is there. Bindings go over
// connections of their own, which end when the API client may not write any more: who does not lead
// binds nothing, by whomever.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/api_client.h"
#include "engine/actions.h"
#include "engine/events.h"
#include "framework/extender_config.h"
#include "live/node_documents.h"
#include "net/event_loop.h"
#include "net/http1_client.h"

namespace knx::live {

class ExtenderCalls {
 public:
  using Log = std::function<void(std::string_view line)>;
  // In the order of EngineOptions. An error: a URL or a certificate cannot be used.
  static Result<std::unique_ptr<ExtenderCalls>> Make(net::EventLoop& loop, client::ApiClient& api,
                                                     std::vector<framework::Extender> extenders,
                                                     Log log);
  ~ExtenderCalls();
  ExtenderCalls(const ExtenderCalls&) = delete;
  ExtenderCalls& operator=(const ExtenderCalls&) = delete;

  // Each is called once, and not from within, unless we are destroyed before.
  using Answered = std::function<void(engine::ExtenderAnswer answer)>;
  void Ask(const engine::AskExtender& ask, Answered answered);
  // `wanted`: asked right before it is sent; false: it is not, because somebody else was faster.
  void Bind(const engine::BindByExtender& bind, std::function<void(const Status& outcome)> done,
            std::function<bool()> wanted = {});

  [[nodiscard]] std::size_t outstanding() const { return outstanding_; }

 private:
  struct Known {
    framework::Extender config;
    std::string base_path;
    std::unique_ptr<net::Http1Client> client;
    std::unique_ptr<net::Http1Client> binder;  // if it binds
  };
  struct Question;
  struct Message {
    std::size_t extender = 0;
    std::string verb, body;
    bool binds = false;
    std::function<bool()> wanted = {};
  };

  ExtenderCalls(net::EventLoop& loop, client::ApiClient& api, Log log)
      : loop_(loop), api_(api), log_(std::move(log)) {}
  static Result<Known> Reach(net::EventLoop& loop, const client::ApiClient& api,
                             framework::Extender extender);

  void FetchPod(const std::shared_ptr<Question>& question);
  void FetchVictims(const std::shared_ptr<Question>& question);
  // Once all nodes that it is about are known, or a failure after a while.
  void AwaitNodes(const std::shared_ptr<Question>& question, Time until);
  [[nodiscard]] std::vector<std::string> UnknownNodes(const Question& question) const;
  void SendQuestion(const std::shared_ptr<Question>& question);
  void Finish(Question& question, Result<engine::ExtenderAnswer> answer);
  using Read = std::function<void(Result<std::string> body)>;
  void Post(Message message, Read read);
  // As JSON, or why not.
  void Fetch(const engine::PodRef& pod, Read read);

  net::EventLoop& loop_;
  client::ApiClient& api_;
  Log log_;
  std::vector<Known> extenders_;
  std::unique_ptr<NodeDocuments> nodes_;  // if an extender needs them
  std::size_t outstanding_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace knx::live
