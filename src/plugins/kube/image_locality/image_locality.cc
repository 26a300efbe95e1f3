#include "plugins/kube/image_locality/image_locality.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cluster/image_table.h"
#include "cluster/resources.h"

namespace knx::plugins {
namespace {

constexpr std::int64_t kMebibyte = 1024 * 1024;
constexpr std::int64_t kMinThreshold = 23 * kMebibyte;
constexpr std::int64_t kMaxThresholdPerContainer = 1000 * kMebibyte;

// What having an image is worth: its size, less the fewer nodes have it, so that pods do not flock
// to one node.
std::int64_t Worth(const cluster::ImageTable::Image& image, std::uint32_t node_count) {
  const double spread = static_cast<double>(image.nodes) / static_cast<double>(node_count);
  const double scaled = static_cast<double>(image.size_bytes) * spread;
  constexpr double limit = 9223372036854775808.0;  // 2^63, which is not an int64 any more
  return scaled >= limit ? INT64_MAX : static_cast<std::int64_t>(scaled);
}

std::int64_t ScoreOf(std::int64_t worth, std::int64_t containers) {
  const std::int64_t max_threshold = kMaxThresholdPerContainer * containers;
  if (worth < kMinThreshold) {
    worth = kMinThreshold;
  } else if (worth > max_threshold) {
    worth = max_threshold;
  }
  return framework::kMaxScore * (worth - kMinThreshold) / (max_threshold - kMinThreshold);
}

// An image of the pod, as the nodes had it when the scorer was prepared.
struct WantedImage {
  std::string name;
  std::int64_t times = 0;  // in the pod
  cluster::ImageId id;
  std::uint32_t nodes = 0;
  std::int64_t size_bytes = 0;
};

class ImageScorer final : public framework::NodeScorer {
 public:
  ImageScorer(const cluster::State& state, std::vector<WantedImage> wanted, std::int64_t containers)
      : state_(state),
        wanted_(std::move(wanted)),
        containers_(containers),
        version_(state.images().version()),
        node_count_(state.nodes().node_count()) {
    for (WantedImage& image : wanted_) {
      image.id = state.images().Find(image.name);
      if (!image.id.valid()) continue;
      const cluster::ImageTable::Image& known = state.images().Get(image.id);
      image.nodes = known.nodes;
      image.size_bytes = known.size_bytes;
      const std::int64_t worth = Worth(known, node_count_);
      for (std::int64_t i = 0; i < image.times; ++i) worth_.emplace_back(image.id, worth);
    }
    std::sort(worth_.begin(), worth_.end());
  }

  void Score(framework::NodeRows nodes, std::span<std::int64_t> raw) const override {
    const std::int64_t none = ScoreOf(0, containers_);
    if (worth_.empty()) {
      std::fill(raw.begin(), raw.end(), none);
      return;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      raw[i] = ScoreOf(WorthOn(state_.nodes().facts(nodes[i]).images), containers_);
    }
  }
  [[nodiscard]] bool Current() const override {
    // The number of nodes counts only together with an image that some of them have.
    if (!worth_.empty() && state_.nodes().node_count() != node_count_) return false;
    const cluster::ImageTable& images = state_.images();
    if (images.version() == version_) return true;
    for (const WantedImage& image : wanted_) {
      if (images.Find(image.name) != image.id) return false;
      if (!image.id.valid()) continue;
      const cluster::ImageTable::Image& known = images.Get(image.id);
      if (known.nodes != image.nodes || known.size_bytes != image.size_bytes) return false;
    }
    version_ = images.version();
    return true;
  }

 private:
  [[nodiscard]] std::int64_t WorthOn(const std::vector<cluster::ImageId>& present) const {
    std::int64_t sum = 0;
    for (const auto& [id, worth] : worth_) {
      if (!std::binary_search(present.begin(), present.end(), id)) continue;
      sum = cluster::SaturatingAdd(sum, worth);
    }
    return sum;
  }

  const cluster::State& state_;
  std::vector<WantedImage> wanted_;
  std::int64_t containers_;
  std::vector<std::pair<cluster::ImageId, std::int64_t>> worth_;  // of those that some node has
  mutable std::uint64_t
      version_;  // of the image table, when it was last found to be as prepared for
  std::uint32_t node_count_;
};

void Want(std::vector<WantedImage>& wanted, std::string_view name) {
  std::string normalized = NormalizedImageName(name);
  for (WantedImage& image : wanted) {
    if (image.name == normalized) {
      ++image.times;
      return;
    }
  }
  WantedImage& image = wanted.emplace_back();
  image.name = std::move(normalized);
  image.times = 1;
}

}  // namespace

std::string NormalizedImageName(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  const std::size_t slash = name.rfind('/');
  const bool tagged =
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  return std::string(name) + (tagged ? "" : ":latest");
}

framework::PreScoreResult ImageLocality::PreScore(const framework::PodView& pod) const {
  const k8s::PodSpec& spec = pod.pod_class.spec;
  std::vector<WantedImage> wanted;
  for (const k8s::Container& container : spec.init_containers) Want(wanted, container.image);
  for (const k8s::Container& container : spec.containers) Want(wanted, container.image);
  for (const std::string& reference : spec.image_volumes) Want(wanted, reference);
  const std::size_t containers = spec.init_containers.size() + spec.containers.size();
  framework::PreScoreResult result;
  result.scope = framework::Scope::kFacts;
  // Never a Skip, although most pods get 0 everywhere: a node that brings one of the images must be
  // noticed.
  result.scorer = std::make_unique<ImageScorer>(pod.state, std::move(wanted),
                                                static_cast<std::int64_t>(containers));
  return result;
}

}  // namespace knx::plugins
