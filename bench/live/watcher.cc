#include "watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "objects.h"

namespace knx::bench {

// A watch in JSON sends one line for each event; none of them has to be understood.
class Watcher::EventLines final : public net::ResponseSink {
 public:
  explicit EventLines(Watcher& watcher) : watcher_(watcher) {}

  void OnHead(int status, const net::Headers&) override {
    if (status != 200) {
      watcher_.callbacks_.trouble(fmt::format("watching events: the server answers {}", status));
    }
  }
  void OnData(std::string_view bytes) override {
    watcher_.events_ += static_cast<int>(std::count(bytes.begin(), bytes.end(), '\n'));
    watcher_.callbacks_.news();
  }
  void OnDone(const Status& outcome, bool) override {
    watcher_.callbacks_.trouble(fmt::format("watching events has ended: {}",
                                            outcome.ok() ? "" : outcome.error().ToString()));
  }

 private:
  Watcher& watcher_;
};

Watcher::Watcher(net::EventLoop& loop, client::ApiClient& api, Callbacks callbacks)
    : api_(api), callbacks_(std::move(callbacks)) {
  pods_ = std::make_unique<client::Reflector>(
      loop, api, client::Collection{fmt::format("/api/v1/namespaces/{}/pods", kMeasured), ""},
      client::Reflector::Callbacks{
          .upserted =
              [this](k8s::Object object) {
                const auto* pod = std::get_if<k8s::Pod>(&object);
                if (pod == nullptr || pod->spec.node_name.empty()) return;
                if (bound_.emplace(pod->meta.name, net::EventLoop::Now()).second) {
                  callbacks_.news();
                }
              },
          .gone = [](const k8s::Object&) {},
          .synced = [this] { callbacks_.watching(); },
          .trouble =
              [this](std::string_view path, const Error& error) {
                callbacks_.trouble(fmt::format("watching {}: {}", path, error.ToString()));
              }});
  stream_ =
      api_.Open(fmt::format("/api/v1/namespaces/{}/events?watch=1&fieldSelector=reason%3DScheduled",
                            kMeasured),
                "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
                std::make_unique<EventLines>(*this));
}

Watcher::~Watcher() { api_.Close(stream_); }

}  // namespace knx::bench
