// A heap whose entries can be changed and taken out wherever they are. Entries lie in one vector,
// four children each; the position of every record is kept in a vector shared with the other places
// a record can be in. Never allocates beyond the growth of that vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace knx::engine {

// Entry: entry.record() names what it stands for, a < b says what comes first. No two entries may
// be equal.
template <class Entry>
class IndexedHeap {
 public:
  explicit IndexedHeap(std::vector<std::uint32_t>& positions) : positions_(positions) {}

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] const Entry& top() const { return entries_.front(); }
  // Parents before their children, otherwise in no order.
  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }

  void Push(const Entry& entry) {
    entries_.push_back(entry);
    Rise(entries_.size() - 1, entry);
  }

  void Erase(std::uint32_t record) {
    const std::size_t hole = positions_[record];
    const Entry last = entries_.back();
    entries_.pop_back();
    if (hole < entries_.size()) Place(hole, last);
  }

  // The entry of the same record takes this value.
  void Change(const Entry& entry) { Place(positions_[entry.record()], entry); }

  [[nodiscard]] std::size_t bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  static constexpr std::size_t kChildren = 4;

  void Put(std::size_t at, const Entry& entry) {
    entries_[at] = entry;
    positions_[entry.record()] = static_cast<std::uint32_t>(at);
  }

  // What is at `hole` is overwritten.
  void Place(std::size_t hole, const Entry& entry) {
    if (hole > 0 && entry < entries_[(hole - 1) / kChildren]) {
      Rise(hole, entry);
    } else {
      Sink(hole, entry);
    }
  }

  void Rise(std::size_t hole, const Entry& entry) {
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kChildren;
      if (!(entry < entries_[parent])) break;
      Put(hole, entries_[parent]);
      hole = parent;
    }
    Put(hole, entry);
  }

  void Sink(std::size_t hole, const Entry& entry) {
    while (true) {
      const std::size_t first = hole * kChildren + 1;
      if (first >= entries_.size()) break;
      const std::size_t end = std::min(first + kChildren, entries_.size());
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (entries_[child] < entries_[least]) least = child;
      }
      if (!(entries_[least] < entry)) break;
      Put(hole, entries_[least]);
      hole = least;
    }
    Put(hole, entry);
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t>& positions_;
};

}  // namespace knx::engine
