// Which pods does somebody mean? Conditions on namespace and labels, all of which must hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "k8s/objects.h"

namespace knx::cluster {

struct PodCondition {
  std::vector<std::string> namespaces;  // sorted, unique
  // Namespaces with such labels, besides those listed; an empty selector means all.
  std::optional<k8s::LabelSelector> namespace_selector;
  std::optional<k8s::LabelSelector> labels;  // absent: no pod is meant
};

struct PodQuery {
  std::vector<PodCondition> conditions;

  // Lets go of selectors that are malformed, as they match nothing. To be called before Matches(),
  // which is asked about many pods and takes them for sound.
  void DropMalformed();
  // `namespace_labels`: of the Namespace object; empty if it is not known.
  [[nodiscard]] bool Matches(std::string_view pod_namespace, const k8s::StringMap& namespace_labels,
                             const k8s::StringMap& labels) const;
  // The labels of namespaces play a role.
  [[nodiscard]] bool asks_about_namespaces() const;
  // A label that every pod it means has, if there is one; a good place to look for the query.
  [[nodiscard]] std::optional<std::pair<std::string_view, std::string_view>> RequiredLabel() const;
  // The namespaces of all pods it can mean; nullptr: any.
  [[nodiscard]] const std::vector<std::string>* Namespaces() const;
  // Equal for two queries exactly if they are written alike.
  [[nodiscard]] std::string Key() const;
};

}  // namespace knx::cluster
