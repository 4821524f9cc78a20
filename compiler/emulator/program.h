// A kernel in the emulator's own form: a flat list of ops on columns. A column holds one scalar of each of a warp's 32 lanes, as
// 32 or as 64 bits; every SSA value owns one column a scalar component (vectors and structs own several). No LLVM here.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/emulator/finding.h"
#include "runtime/spec/abi.h"

namespace nereid::emulator {

inline constexpr int kLanes = 32;
inline constexpr uint32_t kAllLanes = 0xFFFFFFFFu;

struct Op;
class Warp;

// What the interpreter does after an op.
enum class Flow : uint8_t {
  kNext,  // the op after it
  kJump,  // the warp's place was set; lanes may have parted or met
  kPark,  // the lanes wait; the op is executed again when they go on
  kStop,  // the block cannot go on
};
using Handler = Flow (*)(const Op& op, Warp& warp);

using Column = uint32_t;  // byte offset in a warp's registers

// One op. What `imm`, `aux` and `bits` mean is said at each handler.
struct Op {
  Handler run = nullptr;
  Column result = 0;
  Column a = 0, b = 0, c = 0;
  uint64_t imm = 0;
  uint64_t aux = 0;
  uint32_t bits = 0;
  uint32_t list = 0;  // start in Program::lists: result columns, then operand columns
  uint16_t results = 0, operands = 0;
  uint32_t index = 0;  // own index
};

struct OpInfo {
  std::string name;   // as in findings; empty for ops that cannot fail
  uint32_t line = 0;  // index in Program::lines
};

// A run of bytes in a column image: a constant that every warp's registers start with.
struct ColumnConstant {
  Column column;
  uint64_t value;
  bool wide;
};

// Address map. Buffers get windows of 2^kWindowBits bytes, so that no address computed from one buffer reaches another.
inline constexpr int kWindowBits = 40;
inline constexpr uint64_t kSharedWindow = 0xF0, kLocalWindow = 0xF1,
                          kDataWindow = 0xF2;  // generic addresses; 1…kMaxBuffers: buffers
inline constexpr uint64_t kMaxBuffers = 0xE0;
// Shared addresses start here, so that a null pointer is outside; the hardware reserves as much.
inline constexpr uint64_t kSharedBase = 1024;

struct Parameter {
  ArgType type = ArgType::kPointer;
  std::vector<Column> columns;
};

struct Program {
  std::string symbol;
  std::vector<Op> ops;
  std::vector<OpInfo> info;  // one an op
  std::vector<Column> lists;
  std::vector<SourceLine> lines;  // [0] is the unknown line
  std::vector<ColumnConstant> constants;
  std::vector<Parameter> parameters;
  uint32_t register_bytes = 0;       // of one warp
  uint32_t static_shared_bytes = 0;  // before the dynamic part
  uint32_t local_bytes = 0;          // of one thread (alloca)
  std::vector<uint8_t> data;         // constant and global variables with initialisers
  int max_registers = 0;             // launch bound, 0: none
  int max_threads = 0;               // launch bound, 0: none
  bool has_bulk_copies = false;      // ops of the async proxy
};

}  // namespace nereid::emulator
