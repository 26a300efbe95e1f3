// A cluster in which much happens: nodes give signs of life, pods run and are now ready and now
// not, others come and go, some wait for room that never comes. All of it is bytes of a recording.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "recording.h"

namespace knx::storm {

class PlayedCluster {
 public:
  struct Size {
    int nodes = 1000, residents = 5000, passing = 400, waiting = 100;
  };
  // What those hear who watch.
  struct News {
    std::string nodes, pods;
  };
  PlayedCluster(const Recording& recording, const Size& size)
      : recording_(recording), size_(size) {}

  [[nodiscard]] const Size& size() const { return size_; }
  // Everything that is there, as the begin of a watch tells it.
  [[nodiscard]] News Everything() const;
  // One more thing happens.
  void Happen(News& news);
  // Those who were passing through leave.
  void Calm(News& news);

  // The name of a pod that fits on every node.
  std::string AddCanary(int number, News& news);
  void BindCanary(int number, int node, News& news);
  void RemoveCanary(int number, News& news);

 private:
  struct Passing {
    Identity identity;
    std::size_t next = 0;  // of the events of its life
  };
  void NodeLives(News& news);
  void ResidentChanges(News& news);
  void SomebodyPasses(News& news);
  // False: it was its last.
  bool Live(Passing& passing, News& news) const;

  const Recording& recording_;
  Size size_;
  int beats_ = 0, changes_ = 0, came_ = 0, happened_ = 0;
  std::deque<Passing> passing_;
  std::map<int, int> canaries_;  // and their nodes; -1: none
};

}  // namespace knx::storm
