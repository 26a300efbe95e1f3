// Scores of kube-scheduler: its formulas were run in Go on random nodes and pods, and this is what
// they gave.
#pragma once

#include <cstdint>
#include <string>

#include "cluster/testing/builders.h"

namespace knx::plugins::testing {

// cpu in thousandths, memory in bytes, GPUs.
struct Amounts {
  std::int64_t cpu, memory, gpu;
};

struct ScoredCase {
  Amounts node, used, pod;
  // NodeResourcesFit with weights 3, 1, 5, by strategy; the shape is 0:0 33:7 80:1 100:10.
  std::int64_t least_allocated, most_allocated, ratio;
  // NodeResourcesBalancedAllocation over cpu and memory, and over all three.
  std::int64_t balanced_two, balanced_three;
};

inline constexpr ScoredCase kScoredCases[] = {
    {{0, 671088640, 0}, {0, 484303449, 0}, {1, 76736531, 1}, 16, 83, 23, 75, 75},
    {{0, 3457345912832, 7}, {0, 3705975409374, 5}, {1, 1572329553084, 1}, 11, 87, 43, 75, 78},
    {{0, 140611305001, 2}, {0, 116267698641, 0}, {1, 61160690434, 1}, 41, 58, 58, 75, 83},
    {{195585, 639277989888, 0},
     {211660, 334077577909, 0},
     {50682, 68975340325, 1},
     9,
     90,
     83,
     77,
     77},
    {{79873, 3982239989760, 0},
     {16525, 3973413150491, 0},
     {1198, 896719731370, 1},
     57,
     41,
     60,
     75,
     75},
    {{47001, 1567860195328, 0},
     {43826, 514169339, 0},
     {18959, 240435813264, 1},
     21,
     78,
     83,
     77,
     77},
    {{110593, 3370241537001, 7},
     {112088, 2410274380207, 7},
     {7142, 1521882288154, 1},
     0,
     100,
     100,
     82,
     82},
    {{236001, 1073741825, 2}, {260326, 604718759, 1}, {114805, 495678870, 1}, 0, 100, 100, 86, 86},
    {{58332, 4160749569, 4}, {24038, 4185877566, 0}, {826, 1040578598, 1}, 60, 39, 60, 75, 79},
    {{108668, 980764371954, 3},
     {2508, 1064687055590, 2},
     {1041, 27392734187, 2},
     32,
     67,
     69,
     75,
     72},
    {{171001, 4283697201152, 7},
     {139648, 2816512014542, 5},
     {42270, 151067157006, 1},
     11,
     88,
     54,
     71,
     72},
    {{183694, 356241113088, 8},
     {166665, 305689734200, 0},
     {83674, 70497656473, 3},
     34,
     65,
     81,
     76,
     81},
    {{231425, 1433763053568, 5},
     {142000, 743742619373, 2},
     {63008, 712243671391, 1},
     25,
     73,
     46,
     74,
     71},
    {{5377, 1518483800064, 2}, {581, 679273782628, 1}, {1166, 413038813875, 2}, 25, 74, 80, 73, 70},
    {{72366, 2617245696, 4}, {32377, 2594214869, 4}, {31672, 909506383, 3}, 3, 96, 82, 86, 85},
    {{32001, 1275068416, 7}, {24939, 300158306, 6}, {11689, 46522385, 3}, 8, 91, 95, 70, 71},
    {{112641, 671088641, 1}, {87712, 176942306, 0}, {18794, 76992019, 1}, 8, 91, 87, 73, 77},
    {{218625, 2831335555072, 5},
     {139515, 1289201372016, 2},
     {85914, 298525774523, 2},
     15,
     84,
     43,
     69,
     71},
};

inline cluster::testing::PodBuilder PodThatAsksFor(std::string name, const Amounts& amounts) {
  return cluster::testing::PodBuilder(std::move(name))
      .Asks("cpu", std::to_string(amounts.cpu) + "m")
      .Asks("memory", std::to_string(amounts.memory))
      .Asks("nvidia.com/gpu", std::to_string(amounts.gpu));
}

struct ScoredState {
  cluster::NodeRow row;
  cluster::PodId pod;
};

// A node with one pod on it, and the pod to score it for.
inline ScoredState Fill(cluster::State& state, const ScoredCase& c) {
  cluster::testing::NodeBuilder node("n");
  node.Has("cpu", std::to_string(c.node.cpu) + "m").Has("memory", std::to_string(c.node.memory));
  if (c.node.gpu > 0) node.Has("nvidia.com/gpu", std::to_string(c.node.gpu));
  ScoredState out;
  out.row = AddNode(state, node);
  AddPod(state, PodThatAsksFor("present", c.used).On("n"));
  out.pod = AddPod(state, PodThatAsksFor("scored", c.pod));
  return out;
}

}  // namespace knx::plugins::testing
