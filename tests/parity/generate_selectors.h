// Random labels, selectors, affinities and constraints, from a vocabulary small enough that they
// often meet.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dice.h"

namespace knx::parity {

using Labels = std::vector<std::pair<std::string, std::string>>;

const std::vector<std::string>& Namespaces();
std::string LabelsJson(const Labels& labels);
Labels PodLabels(Dice& dice);
// A LabelSelector, now and then an empty one.
std::string SelectorJson(Dice& dice);
std::string NodeAffinityJson(Dice& dice);
std::string PodAffinityJson(Dice& dice);
std::string PodAntiAffinityJson(Dice& dice);
std::string SpreadConstraintsJson(Dice& dice);
std::string TolerationsJson(Dice& dice);
std::string NodeSelectorJson(Dice& dice);

}  // namespace knx::parity
