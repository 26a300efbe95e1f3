#include "live/extender_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/read_file.h"
#include "client/url.h"
#include "live/extender_messages.h"

namespace knx::live {
namespace {

using engine::ExtenderVerb;
using framework::Extender;

constexpr int kStatusOk = 200;
// The watches of nodes are milliseconds apart, unless something is wrong.
constexpr Duration kLookForNodesEvery = Duration::Milliseconds(20);
constexpr Duration kWaitForNodes = Duration::Seconds(1);

const std::string& VerbFor(const Extender& extender, ExtenderVerb verb) {
  if (verb == ExtenderVerb::kFilter) return extender.filter_verb;
  return verb == ExtenderVerb::kPrioritize ? extender.prioritize_verb : extender.preempt_verb;
}

std::string UrlOf(const Extender& extender, const std::string& verb) {
  std::string url = extender.url_prefix;
  while (url.ends_with('/')) url.pop_back();
  return url + "/" + verb;
}

// What stands in the first line of a request must not end it.
Status CheckVerbs(const Extender& extender) {
  for (const std::string* verb : {&extender.filter_verb, &extender.prioritize_verb,
                                  &extender.preempt_verb, &extender.bind_verb}) {
    const bool fine =
        std::all_of(verb->begin(), verb->end(), [](char c) { return c > ' ' && c < 0x7F; });
    if (!fine) return InvalidError(fmt::format("{:?} cannot be part of a URL", *verb));
  }
  return Ok();
}

// The text itself, or what the file says.
Result<std::string> Pem(const std::string& data, const std::string& file) {
  if (!data.empty() || file.empty()) return data;
  return client::ReadFile(file);
}

Result<std::shared_ptr<const net::TlsContext>> TlsFor(const Extender& extender) {
  net::TlsOptions options;
  options.http2 = false;
  if (const auto& tls = extender.tls) {
    options.skip_verify = tls->insecure;
    KNX_TRY(options.ca_pem, Pem(tls->ca_data, tls->ca_file));
    KNX_TRY(options.cert_pem, Pem(tls->cert_data, tls->cert_file));
    KNX_TRY(options.key_pem, Pem(tls->key_data, tls->key_file));
  }
  // As in kube-scheduler: who asks for HTTPS and names nobody to be trusted trusts everybody.
  if (extender.enable_https && options.ca_pem.empty()) options.skip_verify = true;
  return net::TlsContext::MakeClient(options);
}

}  // namespace

struct ExtenderCalls::Question {
  engine::AskExtender ask;
  Answered answered;
  std::string pod;                             // JSON
  std::map<std::string, std::string> victims;  // JSON, by uid
  std::size_t to_fetch = 0;
};

Result<ExtenderCalls::Known> ExtenderCalls::Reach(net::EventLoop& loop,
                                                  const client::ApiClient& api, Extender extender) {
  KNX_TRY_DONE(CheckVerbs(extender));
  KNX_TRY(const client::ServerUrl url, client::ParseServerUrl(extender.url_prefix));
  net::Http1Client::Options options;
  options.endpoint.host = url.host;
  options.endpoint.port = url.port;
  options.authority = url.Authority();
  if (extender.tls) options.endpoint.server_name = extender.tls->server_name;
  if (url.tls) {
    KNX_TRY(options.endpoint.tls, TlsFor(extender));
  }
  Known known{std::move(extender), url.base_path, nullptr, nullptr};
  known.client = std::make_unique<net::Http1Client>(loop, options);
  if (known.config.bind_verb.empty()) return known;
  options.endpoint.may_send = [&api] { return api.MayWrite(); };
  known.binder = std::make_unique<net::Http1Client>(loop, std::move(options));
  return known;
}

Result<std::unique_ptr<ExtenderCalls>> ExtenderCalls::Make(net::EventLoop& loop,
                                                           client::ApiClient& api,
                                                           std::vector<Extender> extenders,
                                                           Log log) {
  std::unique_ptr<ExtenderCalls> out(new ExtenderCalls(loop, api, log));
  bool whole_nodes = false;
  for (Extender& extender : extenders) {
    // A URL that holds a password is refused, and not repeated.
    const std::string& url = extender.url_prefix;
    const std::string name =
        url.find('@') == std::string::npos ? fmt::format("{} {:?}", extender.place, url)
                                           : extender.place;
    const bool sees_nodes = !extender.filter_verb.empty() || !extender.prioritize_verb.empty();
    if (sees_nodes && !extender.node_cache_capable) whole_nodes = true;
    auto known = Reach(loop, api, std::move(extender));
    if (!known.ok()) {
      return std::move(known).error().Within(name);
    }
    out->extenders_.push_back(*std::move(known));
  }
  if (whole_nodes) out->nodes_ = std::make_unique<NodeDocuments>(loop, api, std::move(log));
  return out;
}

ExtenderCalls::~ExtenderCalls() { *alive_ = false; }

// ---- questions ----

void ExtenderCalls::Ask(const engine::AskExtender& ask, Answered answered) {
  ++outstanding_;
  auto question = std::make_shared<Question>();
  question->ask = ask;
  question->answered = std::move(answered);
  const Extender& extender = extenders_[ask.extender].config;
  if (ask.verb == ExtenderVerb::kPreempt || extender.node_cache_capable) return FetchPod(question);
  nodes_->WhenSynced([this, question] { FetchPod(question); });
}

void ExtenderCalls::Fetch(const engine::PodRef& pod, Read read) {
  api_.Send({.method = "GET",
             .path = fmt::format("/api/v1/namespaces/{}/pods/{}", pod.namespace_, pod.name),
             .body = {}},
            client::ApiClient::Done([alive = alive_, uid = pod.uid,
                                     read = std::move(read)](Result<client::Response> response) {
              if (!*alive) return;
              if (!response.ok()) return read(response.error());
              if (!response->ok()) return read(client::ErrorOf(*response));
              // Another pod by the same name is not the one that is to be placed.
              if (response->body.find(uid) == std::string::npos) {
                return read(NotFoundError("the pod is gone"));
              }
              read(std::move(response->body));
            }));
}

void ExtenderCalls::FetchPod(const std::shared_ptr<Question>& question) {
  Fetch(question->ask.pod, [this, question](Result<std::string> body) {
    if (!body.ok()) return Finish(*question, std::move(body).error().Within("fetching the pod"));
    question->pod = *std::move(body);
    const bool whole_victims = question->ask.verb == ExtenderVerb::kPreempt &&
                               !extenders_[question->ask.extender].config.node_cache_capable;
    whole_victims ? FetchVictims(question)
                  : AwaitNodes(question, net::EventLoop::Now() + kWaitForNodes);
  });
}

// Victims that are gone are left out.
void ExtenderCalls::FetchVictims(const std::shared_ptr<Question>& question) {
  std::vector<engine::PodRef> pods;
  for (const auto& on_node : question->ask.victims) {
    pods.insert(pods.end(), on_node.pods.begin(), on_node.pods.end());
  }
  if (pods.empty()) return SendQuestion(question);
  question->to_fetch = pods.size();
  for (const engine::PodRef& pod : pods) {
    Fetch(pod, [this, question, uid = pod.uid](Result<std::string> body) {
      if (body.ok()) question->victims[uid] = *std::move(body);
      if (--question->to_fetch == 0) SendQuestion(question);
    });
  }
}

std::vector<std::string> ExtenderCalls::UnknownNodes(const Question& question) const {
  std::vector<std::string> out;
  const bool names_only = extenders_[question.ask.extender].config.node_cache_capable;
  if (question.ask.verb == ExtenderVerb::kPreempt || names_only) return out;
  for (const std::string& name : question.ask.nodes) {
    if (nodes_->Find(name) == nullptr) out.push_back(name);
  }
  return out;
}

void ExtenderCalls::AwaitNodes(const std::shared_ptr<Question>& question, Time until) {
  const std::vector<std::string> unknown = UnknownNodes(*question);
  if (unknown.empty()) return SendQuestion(question);
  if (net::EventLoop::Now() < until) {
    loop_.After(kLookForNodesEvery, [this, alive = alive_, question, until] {
      if (*alive) AwaitNodes(question, until);
    });
    return;
  }
  const std::string others =
      unknown.size() == 1 ? "" : fmt::format(" and {} more", unknown.size() - 1);
  Finish(*question, Error{ErrorKind::kUnavailable,
                          fmt::format("the API server has not told of node {:?}{} yet",
                                      unknown.front(), others),
                          {}});
}

void ExtenderCalls::SendQuestion(const std::shared_ptr<Question>& question) {
  const engine::AskExtender& ask = question->ask;
  const Extender& extender = extenders_[ask.extender].config;
  std::string body;
  if (ask.verb == ExtenderVerb::kPreempt) {
    body = WriteVictims(question->pod, ask.victims,
                        extender.node_cache_capable ? nullptr : &question->victims);
  } else {
    NodesMessage message{
        .pod = question->pod, .names_only = extender.node_cache_capable, .names = ask.nodes};
    if (!message.names_only) {
      for (const std::string& name : ask.nodes) {
        message.documents.push_back(nodes_->Find(name));
      }
    }
    body = WriteNodes(message);
  }
  Post({.extender = ask.extender, .verb = VerbFor(extender, ask.verb), .body = std::move(body)},
       [this, question](Result<std::string> answer) {
         const engine::AskExtender& asked = question->ask;
         const bool names_only = extenders_[asked.extender].config.node_cache_capable;
         if (!answer.ok()) {
           Finish(*question, answer.error());
         } else if (asked.verb == ExtenderVerb::kFilter) {
           Finish(*question, ReadFilterAnswer(*answer, names_only));
         } else {
           Finish(*question, asked.verb == ExtenderVerb::kPrioritize ? ReadScores(*answer)
                                                                     : ReadVictims(*answer));
         }
       });
}

void ExtenderCalls::Finish(Question& question, Result<engine::ExtenderAnswer> answer) {
  --outstanding_;
  if (answer.ok()) return question.answered(*std::move(answer));
  const Extender& extender = extenders_[question.ask.extender].config;
  const bool matters = !extender.ignorable && question.ask.verb != ExtenderVerb::kPrioritize;
  // The pod's condition has kube-scheduler's words, which do not name the extender.
  log_(fmt::format("{} extender {:?} for {}/{}: {}",
                   matters ? "no usable answer of" : "going on without", extender.url_prefix,
                   question.ask.pod.namespace_, question.ask.pod.name, answer.error().message));
  question.answered({.failure = std::move(answer).error().message});
}

// ---- binding ----

void ExtenderCalls::Bind(const engine::BindByExtender& bind,
                         std::function<void(const Status& outcome)> done,
                         std::function<bool()> wanted) {
  ++outstanding_;
  Post({.extender = bind.extender,
        .verb = extenders_[bind.extender].config.bind_verb,
        .body = WriteBinding(bind),
        .binds = true,
        .wanted = std::move(wanted)},
       [this, done = std::move(done)](Result<std::string> body) {
         --outstanding_;
         done(body.ok() ? ReadBindingAnswer(*body) : Status(body.error()));
       });
}

// ---- HTTP ----

void ExtenderCalls::Post(Message message, Read read) {
  const Known& known = extenders_[message.extender];
  net::Request request;
  request.method = "POST";
  request.path = known.base_path + "/" + message.verb;
  request.headers = {{"content-type", "application/json"},
                     {"user-agent", "kubenexus-scheduler"},
                     {"accept-encoding", "identity"}};
  request.body = std::move(message.body);
  request.timeout = known.config.http_timeout;
  request.wanted = std::move(message.wanted);
  (message.binds ? known.binder : known.client)
      ->Send(std::move(request), !message.binds,
             [verb = message.verb, url = UrlOf(known.config, message.verb),
              read = std::move(read)](net::Http1Client::Outcome outcome) {
               // In the words of kube-scheduler, which are Go's.
               if (!outcome.response.ok()) {
                 return read(
                     Error{ErrorKind::kUnavailable,
                           fmt::format("Post {:?}: {}", url,
                                       outcome.timed_out
                                           ? "context deadline exceeded (Client.Timeout exceeded "
                                             "while awaiting headers)"
                                           : outcome.response.error().message),
                           {}});
               }
               if (outcome.response->status != kStatusOk) {
                 return read(InvalidError(fmt::format("failed {} with extender at URL {}, code {}",
                                                      verb, url, outcome.response->status)));
               }
               read(std::move(outcome.response->body));
             });
}

}  // namespace knx::live
