// What is odd about the objects that a run is given, and changes what its result means: said as
// warnings, because the run goes on.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/store.h"

namespace knx::sim {

class InputRemarks : public StoreListener {
 public:
  explicit InputRemarks(Store& store);

  using StoreListener::OnWrite;
  void OnWrite(const Write<k8s::Pod>& write) override;
  void OnWrite(const Write<k8s::Node>& write) override;
  void OnWrite(const Write<k8s::ResourceReservation>& write) override;

  // To be called when objects have been given: are nodes fuller than full now?
  void LookAtNodes();

  [[nodiscard]] std::vector<std::string> Texts() const;

 private:
  // A few of many, in the order they came.
  struct Names {
    std::vector<std::string> first;
    std::size_t count = 0;
    void Add(std::string name);
    [[nodiscard]] std::string ToString() const;
  };

  Store& store_;
  std::map<std::string, std::vector<std::string>> elsewhere_;  // pods by a node that is not there
  std::set<std::string> given_;  // nodes that pods came with, not looked at yet
  std::set<std::string> overfull_names_;
  Names overfull_;
  Names unread_;  // fields of reservations
};

}  // namespace knx::sim
