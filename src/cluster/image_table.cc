#include "cluster/image_table.h"

#include "base/check.h"

namespace knx::cluster {

ImageId ImageTable::AddToNode(std::string_view name, std::int64_t size_bytes) {
  ++version_;
  if (const auto it = index_.find(name); it != index_.end()) {
    ++images_[it->second.index].nodes;
    return it->second;
  }
  ImageId id{static_cast<std::uint32_t>(images_.size())};
  if (free_.empty()) {
    images_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  images_[id.index] = {std::string(name), size_bytes, 1};
  index_.emplace(name, id);
  return id;
}

void ImageTable::RemoveFromNode(ImageId id) {
  ++version_;
  Image& image = images_[id.index];
  KNX_CHECK(image.nodes > 0, "an image is taken from a node that nobody reported");
  if (--image.nodes > 0) return;
  index_.erase(image.name);
  image = {};
  free_.push_back(id);
}

ImageId ImageTable::Find(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? ImageId{} : it->second;
}

std::size_t ImageTable::bytes() const {
  std::size_t total = images_.capacity() * sizeof(Image) + free_.capacity() * sizeof(ImageId) +
                      index_.capacity() * (sizeof(std::string) + sizeof(ImageId) + 1);
  for (const Image& image : images_) {
    if (image.name.capacity() > std::string().capacity()) total += 2 * image.name.capacity();
  }
  return total;
}

}  // namespace knx::cluster
