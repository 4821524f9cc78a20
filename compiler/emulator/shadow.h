// What is known of each byte of memory: who wrote it last, who read it since, and whether a copy is still to write it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "compiler/emulator/clocks.h"

namespace nereid::emulator {

enum CellFlags : uint8_t {
  kWritten = 1,
  kPending = 2,     // a copy that was issued and has not arrived
  kAtomic = 4,      // last written by an atomic op
  kBarrierCell = 8  // holds a live mbarrier
};

struct Cell {
  uint32_t epoch = 0;   // of the last write; 0: none
  uint16_t writer = 0;  // its component
  uint8_t flags = 0;
  uint32_t op = 0;       // the op that wrote
  uint32_t readers = 0;  // ReadSets id; 0: none since the last write
  int32_t write_block = -1, read_block = -1;
  bool operator==(const Cell&) const = default;
};

struct Reader {
  uint16_t component;
  uint32_t epoch, op;
  bool operator==(const Reader&) const = default;
};

// Sets of readers, shared among the cells that have the same ones.
class ReadSets {
 public:
  explicit ReadSets(const Clocks& clocks) : clocks_(clocks), sets_(1) {}
  const std::vector<Reader>& at(uint32_t id) const { return sets_[id]; }
  // The set `id` with a read by `thread` through `component` (the thread itself, or its copies). Readers that are ordered before
  // the thread's clock are dropped: whoever comes after it comes after them.
  uint32_t add(uint32_t id, int thread, uint16_t component, uint32_t epoch, uint32_t op);

 private:
  struct Key {
    uint32_t id;
    uint16_t component;
    uint32_t epoch;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& k) const {
      return (k.id * 0x9E3779B97F4A7C15ull) ^ (k.epoch * 0xC2B2AE3D27D4EB4Full) ^ (uint64_t{k.component} << 40);
    }
  };
  const Clocks& clocks_;
  std::vector<std::vector<Reader>> sets_;
  std::unordered_map<Key, uint32_t, Hash> memo_;
};

// Cells of a range, made on first touch in chunks. A chunk has one cell for 16 bytes until an access takes less of them: most
// data moves in pieces of 16 bytes, and a cell is larger than a byte.
class Shadow {
 public:
  Shadow() = default;
  Shadow(uint64_t bytes, bool written) : chunks_((bytes + kChunk - 1) / kChunk), written_(written) {}
  // Calls f(Cell*, count, bytes a cell) for the pieces of [at, at + size).
  template <typename F>
  void forCells(uint64_t at, uint64_t size, F f) {
    while (size > 0) {
      const uint64_t offset = at % kChunk, bytes = std::min(size, kChunk - offset);
      Chunk& chunk = chunks_[at / kChunk];
      const bool whole = offset % kUnit == 0 && bytes % kUnit == 0;
      if (!chunk.cells) chunk.make(whole ? kUnit : 1, written_);
      if (chunk.unit != 1 && !whole) chunk.split();
      f(chunk.cells.get() + offset / chunk.unit, bytes / chunk.unit, chunk.unit);
      at += bytes;
      size -= bytes;
    }
  }

 private:
  static constexpr uint64_t kChunk = 1024, kUnit = 16;
  struct Chunk {
    std::unique_ptr<Cell[]> cells;
    uint64_t unit = 1;
    void make(uint64_t unit_, bool written) {
      unit = unit_;
      cells = std::make_unique<Cell[]>(kChunk / unit);
      if (written)
        for (uint64_t i = 0; i < kChunk / unit; i++) cells[i].flags = kWritten;
    }
    void split() {
      auto fine = std::make_unique<Cell[]>(kChunk);
      for (uint64_t i = 0; i < kChunk; i++) fine[i] = cells[i / unit];
      cells = std::move(fine);
      unit = 1;
    }
  };
  std::vector<Chunk> chunks_;
  bool written_ = false;
};

}  // namespace nereid::emulator
