// Random lives of claims, volumes and pods: counters equal a recount, and what is remembered about
// classes equals asking every plugin about every node.
#include <gtest/gtest.h>
// After gtest, which it extends.
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "cluster/testing/volume_builders.h"
#include "engine/testing/harness.h"

namespace knx::engine {
namespace {

using cluster::testing::ClaimBuilder;
using cluster::testing::NodeBuilder;
using cluster::testing::PodBuilder;
using cluster::testing::VolumeBuilder;

constexpr const char* kDriver = "disks.example.com";

// Does one thing, chosen by three numbers.
class VolumeLife {
 public:
  void Do(std::uint8_t what, std::uint8_t first, std::uint8_t second) {
    const std::string a = std::to_string(first % 4);
    const std::string b = std::to_string(second % 4);
    switch (what % 12) {
      case 0:
        return harness_.Node(Node("n" + a, b));
      case 1:
        return Upsert(
            VolumeBuilder("v" + a).Class("c" + b).Size(b + "Gi").Version(Next()).OnlyWhere("zone",
                                                                                           {b}));
      case 2:
        return Upsert(VolumeBuilder("v" + a)
                          .Csi(kDriver, "h" + a)
                          .For("x" + b)
                          .Version(Next())
                          .Label("topology.kubernetes.io/zone", b));
      case 3:
        return Upsert(ClaimBuilder("x" + a).Class("c" + b).Asks(b + "Gi").Version(Next()));
      case 4:
        return Upsert(ClaimBuilder("x" + a).Class("c" + b).BoundTo("v" + a).Version(Next()).Mode(
            k8s::AccessMode::kReadWriteOncePod));
      case 5:
        return Upsert(cluster::testing::MakeClass(
            "c" + a, second % 2 == 0 ? kDriver : "kubernetes.io/no-provisioner"));
      case 6:
        return Upsert(cluster::testing::MakeCsiNode("n" + a, {{kDriver, second % 3}}));
      case 7:
        return Upsert(cluster::testing::MakeAttachment("t" + a, kDriver, "n" + b, "v" + a));
      case 8:
        return harness_.PodGone("p" + a + b);
      case 9:
        return Remove(a, second);
      case 10:
        return harness_.Pod(PodBuilder("p" + a + b).Asks("cpu", "1").Claim("x" + b).Claim("x" + a));
      default:
        return harness_.Pod(
            PodBuilder("p" + a + b).Asks("cpu", "1").Disk(k8s::VolumeSource::kAwsEbs, "vol-" + b));
    }
  }
  void Decide(std::uint8_t answer) {
    harness_.Schedule();
    while (answered_ < harness_.questions().size()) {
      const ActionId action = harness_.questions()[answered_++].first;
      harness_.Answer(action, {answer % 2 == 0, "refused", false});
    }
    harness_.Pass(Duration::Seconds(answer % 5));
  }
  std::string Wrong() {
    if (auto difference = harness_.engine().Verify()) return *difference;
    return harness_.engine().VerifyCaches().value_or("");
  }

 private:
  static NodeBuilder Node(const std::string& name, const std::string& zone) {
    return NodeBuilder(name)
        .Has("cpu", "4")
        .Has("memory", "8Gi")
        .Has("pods", "9")
        .Label("zone", zone)
        .Label("topology.kubernetes.io/zone", zone);
  }
  std::string Next() { return std::to_string(++version_); }
  void Upsert(const k8s::Object& object) {
    harness_.engine().Handle(ObjectUpserted{object}, harness_.now());
  }
  void Remove(const std::string& a, std::uint8_t which) {
    const k8s::Object objects[] = {VolumeBuilder("v" + a), ClaimBuilder("x" + a),
                                   cluster::testing::MakeClass("c" + a, kDriver),
                                   cluster::testing::MakeCsiNode("n" + a, {}),
                                   cluster::testing::MakeAttachment("t" + a, "", "", "")};
    harness_.engine().Handle(ObjectDeleted{objects[which % std::size(objects)]}, harness_.now());
  }

  testing::Harness harness_;
  std::size_t answered_ = 0;
  int version_ = 0;
};

RC_GTEST_PROP(VolumesInTheEngine, AreCountedAndRememberedRight, ()) {
  const auto choices = *rc::gen::container<std::vector<std::array<std::uint8_t, 3>>>(
      rc::gen::arbitrary<std::array<std::uint8_t, 3>>());
  VolumeLife life;
  for (const auto& [what, first, second] : choices) {
    life.Do(what, first, second);
    if (second % 3 == 0) life.Decide(first);
    const std::string wrong = life.Wrong();
    RC_ASSERT(wrong == "");
  }
}

}  // namespace
}  // namespace knx::engine
