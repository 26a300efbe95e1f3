#include "live/state_check.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "cluster/reservation_hold.h"
#include "live/watched_kinds.h"

namespace knx::live {
namespace {

constexpr Duration kMoment = Duration::Seconds(3);

}  // namespace

StateCheck::StateCheck(net::EventLoop& loop, client::ApiClient& api, const engine::Engine& engine,
                       Done done)
    : loop_(loop), engine_(engine), done_(std::move(done)) {
  pod_list_ = Follow(api, "/api/v1/pods");
  node_list_ = Follow(api, "/api/v1/nodes");
}

StateCheck::~StateCheck() { loop_.Cancel(again_); }

std::unique_ptr<client::Reflector> StateCheck::Follow(client::ApiClient& api,
                                                      const std::string& path) {
  client::Collection wanted;
  for (client::Collection& collection : WatchedCollections()) {
    if (collection.path == path) wanted = std::move(collection);
  }
  return std::make_unique<client::Reflector>(
      loop_, api, std::move(wanted),
      client::Reflector::Callbacks{
          .upserted = [this](const k8s::Object& object) { OnUpserted(object); },
          .gone = [this](const k8s::Object& object) { OnGone(object); },
          .synced = [this] { OnSynced(); },
          // Whoever follows the same kinds for the engine says so already.
          .trouble = [](std::string_view, const Error&) {}});
}

void StateCheck::OnUpserted(const k8s::Object& object) {
  if (const auto* pod = std::get_if<k8s::Pod>(&object)) {
    // Takes no room any more.
    if (pod->status.phase == k8s::PodPhase::kSucceeded) return OnGone(object);
    pods_[pod->meta.uid] = {fmt::format("{}/{}", pod->meta.namespace_, pod->meta.name),
                            pod->spec.node_name};
  } else if (const auto* node = std::get_if<k8s::Node>(&object)) {
    nodes_.insert(node->meta.name);
  }
}

void StateCheck::OnGone(const k8s::Object& object) {
  if (const auto* pod = std::get_if<k8s::Pod>(&object)) {
    pods_.erase(pod->meta.uid);
  } else if (const auto* node = std::get_if<k8s::Node>(&object)) {
    nodes_.erase(node->meta.name);
  }
}

void StateCheck::OnSynced() {
  if (pod_list_ == nullptr || node_list_ == nullptr) return;
  if (!pod_list_->synced() || !node_list_->synced() || again_.valid()) return;
  again_ = loop_.After({}, [this] { Compare(); });
}

void StateCheck::Compare() {
  const std::vector<std::string> differences = Differences();
  if (!differences.empty() && !std::exchange(looked_once_, true)) {
    again_ = loop_.After(kMoment, [this] { Compare(); });
    return;
  }
  const Done done = std::move(done_);
  done(differences);
}

std::vector<std::string> StateCheck::Differences() const {
  std::vector<std::string> differences;
  ListPods(differences);
  ListNodes(differences);
  return differences;
}

void StateCheck::ListPods(std::vector<std::string>& differences) const {
  const cluster::State& state = engine_.state();
  std::size_t known = 0;
  for (const auto& [uid, pod] : pods_) {
    const cluster::PodId id = state.pods().Find(uid);
    if (!id.valid()) {
      differences.push_back(fmt::format("pod {}: the API server has it, we do not", pod.name));
      continue;
    }
    ++known;
    const cluster::Pod& ours = state.pod(id);
    const std::string node = ours.node.valid() ? state.nodes().name(ours.node) : "";
    // A binding of ours that is on its way is known to us first.
    const bool on_its_way = ours.assumed && engine_.Standing(uid) != engine::PodStanding::kBound;
    if (node == pod.node || (on_its_way && pod.node.empty())) continue;
    differences.push_back(fmt::format("pod {}: the API server has it on {}, we have it on {}",
                                      pod.name, pod.node.empty() ? "no node" : pod.node,
                                      node.empty() ? "no node" : node));
  }
  if (known == state.pods().size()) return;
  for (std::uint32_t i = 0; i < state.pods().id_limit(); ++i) {
    const cluster::PodId id{i};
    if (!state.pods().Contains(id) || pods_.contains(state.pod(id).uid)) continue;
    if (cluster::IsHold(state.pod(id))) continue;
    differences.push_back(fmt::format("pod {}/{}: we have it, the API server does not",
                                      state.words().Text(state.pod(id).namespace_),
                                      state.pod(id).name));
  }
}

void StateCheck::ListNodes(std::vector<std::string>& differences) const {
  const cluster::NodeTable& nodes = engine_.state().nodes();
  for (const std::string& name : nodes_) {
    const cluster::NodeRow row = nodes.Find(name);
    if (row.valid() && nodes.has_node(row)) continue;
    differences.push_back(fmt::format("node {}: the API server has it, we do not", name));
  }
  nodes.present().ForEach([&](std::uint32_t row) {
    const std::string& name = nodes.name(cluster::NodeRow{row});
    if (nodes_.contains(name)) return;
    differences.push_back(fmt::format("node {}: we have it, the API server does not", name));
  });
}

}  // namespace knx::live
