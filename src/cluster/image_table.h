// Which container images are on which nodes, and how large they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/text_map.h"

namespace knx::cluster {

using ImageId = Id<struct ImageTag>;

class ImageTable {
 public:
  struct Image {
    std::string name;
    std::int64_t size_bytes = 0;  // as the first of the nodes that have it reported
    std::uint32_t nodes = 0;
    friend bool operator==(const Image&, const Image&) = default;
  };

  // One more node has `name`.
  ImageId AddToNode(std::string_view name, std::int64_t size_bytes);
  void RemoveFromNode(ImageId id);

  [[nodiscard]] ImageId Find(std::string_view name) const;
  [[nodiscard]] const Image& Get(ImageId id) const { return images_[id.index]; }
  // Grows whenever an image appears or vanishes or is on more or fewer nodes.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] std::size_t size() const { return index_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::vector<Image> images_;
  std::vector<ImageId> free_;
  TextMap<ImageId> index_;
  std::uint64_t version_ = 0;
};

}  // namespace knx::cluster
