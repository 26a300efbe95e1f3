#include "played_cluster.h"

namespace knx::storm {
namespace {

// Of ten events; the rest are those of pods that come and go.
constexpr int kOfNodes = 4, kOfResidents = 4, kAll = 10;
// The moulds of a node: two signs of life, one with less room, one with its room again.
constexpr std::size_t kBeats = 2, kLessRoom = 2;
// So many signs of life come to one change of a node's room.
constexpr int kBeatsToAChange = 50;
constexpr int kNoNode = -1;

}  // namespace

PlayedCluster::News PlayedCluster::Everything() const {
  News out;
  for (int i = 0; i < size_.nodes; ++i) {
    recording_.life(Role::kNode).added[0].Cast({i, i}, out.nodes);
  }
  for (int i = 0; i < size_.residents; ++i) {
    recording_.life(Role::kResident).added[0].Cast({i, i % size_.nodes}, out.pods);
  }
  for (int i = 0; i < size_.waiting; ++i) {
    recording_.life(Role::kWaits).added[0].Cast({i, 0}, out.pods);
  }
  for (const auto& [number, node] : canaries_) {
    const Life& life = recording_.life(Role::kCanary);
    (node == kNoNode ? life.added[0] : life.changed[0]).Cast({number, node}, out.pods);
  }
  for (const Passing& passing : passing_) {
    Passing again{.identity = passing.identity};
    while (again.next < passing.next) Live(again, out);
  }
  out.nodes += recording_.end_of_list();
  out.pods += recording_.end_of_list();
  return out;
}

void PlayedCluster::Happen(News& news) {
  const int turn = happened_++ % kAll;
  if (turn < kOfNodes) return NodeLives(news);
  if (turn < kOfNodes + kOfResidents) return ResidentChanges(news);
  SomebodyPasses(news);
}

void PlayedCluster::NodeLives(News& news) {
  const int node = beats_ % size_.nodes;
  const bool changes = beats_ % kBeatsToAChange == beats_ / size_.nodes % kBeatsToAChange;
  const std::size_t beat = static_cast<std::size_t>(beats_) % kBeats;
  ++beats_;
  recording_.life(Role::kNode).changed[changes ? kLessRoom : beat].Cast({node, node}, news.nodes);
}

void PlayedCluster::ResidentChanges(News& news) {
  const int pod = changes_ % size_.residents;
  const bool ready = changes_ / size_.residents % 2 != 0;
  ++changes_;
  recording_.life(Role::kResident).changed[ready ? 1 : 0].Cast({pod, pod % size_.nodes}, news.pods);
}

void PlayedCluster::SomebodyPasses(News& news) {
  if (static_cast<int>(passing_.size()) < size_.passing) {
    passing_.push_front({.identity = {came_, came_ % size_.nodes}});
    ++came_;
  }
  Passing passing = passing_.front();
  passing_.pop_front();
  if (Live(passing, news)) passing_.push_back(passing);
}

bool PlayedCluster::Live(Passing& passing, News& news) const {
  const Life& life = recording_.life(Role::kPassing);
  const std::size_t at = passing.next++;
  if (at == 0) {
    life.added[0].Cast(passing.identity, news.pods);
    return true;
  }
  if (at <= life.changed.size()) {
    life.changed[at - 1].Cast(passing.identity, news.pods);
    return true;
  }
  life.gone[0].Cast(passing.identity, news.pods);
  return false;
}

void PlayedCluster::Calm(News& news) {
  for (Passing& passing : passing_) {
    while (Live(passing, news)) {
    }
  }
  passing_.clear();
}

std::string PlayedCluster::AddCanary(int number, News& news) {
  const Mould& added = recording_.life(Role::kCanary).added[0];
  added.Cast({number, 0}, news.pods);
  canaries_[number] = kNoNode;
  return added.NameOf(number);
}

void PlayedCluster::BindCanary(int number, int node, News& news) {
  canaries_[number] = node;
  recording_.life(Role::kCanary).changed[0].Cast({number, node}, news.pods);
}

void PlayedCluster::RemoveCanary(int number, News& news) {
  recording_.life(Role::kCanary).gone[0].Cast({number, canaries_[number]}, news.pods);
  canaries_.erase(number);
}

}  // namespace knx::storm
