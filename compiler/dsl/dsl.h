// The DSL: a kernel is a C++ function that computes with tiles; running it once records a program of the tile dialect.
//
//   auto program = dsl::record("axpy", {{"x", kPointer, 16}, {"y", kPointer, 16}, {"n", kI64}}, [](Builder& b) {
//     Value i = (b.programId() * 1024 + b.range(1024)).to(Type::I64), live = i < b.arg("n");
//     Value x = b.load(b.pointer("x", Type::F32), i, live, 0.f), y = b.pointer("y", Type::F32);
//     b.store(y, i, x * 2.f + b.load(y, i, live, 0.f), live);
//   });
//
// A Value is a scalar, a vector or a matrix of static shape (dimensions that reach the GPU are powers of two, except the width of
// byte rows). Arithmetic joins shapes as follows: a scalar goes with anything; v.col() of [N] acts as [N, 1], v.row() as [1, N].
// No MLIR header is needed here; each op carries the line of the C++ source that made it. A misuse throws inside `record`, which
// returns it as an error.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/spec/abi.h"

namespace nereid::dsl {

enum class Type { I1, I8, I32, I64, F16, BF16, F32, F8E4M3, F8E8M0 };
int typeBytes(Type type);  // I1: 1

class Recorder;  // the MLIR side, dsl_impl.h
class Builder;

// A handle to a recorded value; copying it copies the handle. A default Value is absent (for optional operands).
class Value {
 public:
  Value() = default;
  Value(int literal) : literal_(literal), kind_(Kind::kInt) {}
  Value(int64_t literal) : literal_(static_cast<double>(literal)), int_literal_(literal), kind_(Kind::kInt64) {}
  Value(float literal) : literal_(literal), kind_(Kind::kFloat) {}
  Value(double literal) : literal_(literal), kind_(Kind::kFloat) {}

  bool present() const { return kind_ != Kind::kAbsent; }
  bool isLiteral() const { return kind_ == Kind::kInt || kind_ == Kind::kInt64 || kind_ == Kind::kFloat; }
  int rank() const;
  std::vector<int64_t> shape() const;
  Type type() const;

  Value to(Type type, std::source_location loc = std::source_location::current()) const;  // converts, rounding to nearest even
  Value col() const;                                                                      // [N] acting as [N, 1]
  Value row() const;                                                                      // [N] acting as [1, N]

 private:
  friend class Recorder;
  friend class Builder;
  enum class Kind { kAbsent, kInt, kInt64, kFloat, kRecorded };
  Recorder* recorder_ = nullptr;
  void* handle_ = nullptr;  // mlir::Value's opaque pointer
  double literal_ = 0;
  int64_t int_literal_ = 0;
  int axis_ = -1;     // 0: col(), 1: row()
  int element_ = -1;  // pointers: the Type they point to
  Kind kind_ = Kind::kAbsent;
};

// An operand with the place it was written, so that operators know their line.
struct Operand {
  Value value;
  std::source_location loc;
  template <typename T>
    requires std::convertible_to<T, Value>
  Operand(const T& v, std::source_location l = std::source_location::current()) : value(v), loc(l) {}
};

// Elementwise arithmetic. Integers are signed; `/` and `%` truncate. max and min of floats ignore NaN.
Value operator+(const Operand& a, const Operand& b);
Value operator-(const Operand& a, const Operand& b);
Value operator*(const Operand& a, const Operand& b);
Value operator/(const Operand& a, const Operand& b);
Value operator%(const Operand& a, const Operand& b);
Value operator&(const Operand& a, const Operand& b);
Value operator|(const Operand& a, const Operand& b);
Value operator^(const Operand& a, const Operand& b);
Value operator<<(const Operand& a, const Operand& b);
Value operator>>(const Operand& a, const Operand& b);  // logical
Value operator<(const Operand& a, const Operand& b);
Value operator<=(const Operand& a, const Operand& b);
Value operator>(const Operand& a, const Operand& b);
Value operator>=(const Operand& a, const Operand& b);
Value operator==(const Operand& a, const Operand& b);  // floats: ordered
Value operator!=(const Operand& a, const Operand& b);  // floats: unordered, so x != x is true for NaN
Value operator-(const Operand& a);
Value operator!(const Operand& a);  // i1
Value divUnsigned(const Operand& a, const Operand& b);
Value remUnsigned(const Operand& a, const Operand& b);
Value ceilDiv(const Operand& a, const Operand& b);  // of non-negative integers
Value max(const Operand& a, const Operand& b);
Value min(const Operand& a, const Operand& b);
Value select(const Operand& condition, const Operand& yes, const Operand& no);
Value abs(const Operand& a);   // float
Value exp2(const Operand& a);  // f32; 2 ulp, results below 2^-126 may be 0
Value log2(const Operand& a);  // f32
Value sqrt(const Operand& a);
Value floor(const Operand& a);
Value bitcast(const Operand& a, Type type);  // same size
Value fma(const Operand& a, const Operand& b, const Operand& c);
Value trans(const Operand& a);
Value reduceSum(const Operand& a, int dim);
Value reduceMax(const Operand& a, int dim);
Value reduceMin(const Operand& a, int dim);
Value reduceOr(const Operand& a, int dim);

class Builder {
 public:
  using Loc = std::source_location;
  explicit Builder(Recorder& recorder) : r_(recorder) {}

  // Arguments of the kernel by name.
  Value arg(std::string_view name, Loc loc = Loc::current());  // i32, i64 or f32
  Value pointer(std::string_view name, Type element, Loc loc = Loc::current());
  Value programId(Loc loc = Loc::current());  // i32

  Value constant(double value, Type type, Loc loc = Loc::current());
  Value full(const Value& scalar, std::vector<int64_t> shape, Loc loc = Loc::current());
  Value full(double value, Type type, std::vector<int64_t> shape, Loc loc = Loc::current());
  Value range(int64_t count, int start = 0, Loc loc = Loc::current());  // i32 start, start+1, …

  // Memory. Offsets count elements of the pointer's type; masked elements are not touched and read as `other` (default 0).
  Value load(const Value& base, const Value& offsets, const Value& mask = {}, const Value& other = {}, Loc loc = Loc::current());
  void store(const Value& base, const Value& offsets, const Value& value, const Value& mask = {}, Loc loc = Loc::current());
  Value loadScalar(const Value& base, const Value& offset, Loc loc = Loc::current());
  // Rows of `width` contiguous bytes at byte offsets (i64) of an I8 pointer; masked rows are zero and not read. `align`: bytes
  // that base and offsets are multiples of.
  Value gatherRows(const Value& base, const Value& offsets, int width, const Value& mask, int align, Loc loc = Loc::current());
  void scatterRows(const Value& base, const Value& offsets, const Value& bytes, const Value& mask, int align,
                   Loc loc = Loc::current());
  // A number from an i32 counter that wraps at `limit`; orders the block's earlier stores before whoever takes the last number.
  Value ticket(const Value& counter, const Value& limit, Loc loc = Loc::current());

  // Bytes [at, at + cols·size) of each row as values [rows, cols]; one value a row as a vector; values as bytes.
  Value view(const Value& bytes, int at, Type type, int cols, Loc loc = Loc::current());
  Value column(const Value& bytes, int at, Type type, Loc loc = Loc::current());
  Value bytes(const Value& values, Loc loc = Loc::current());

  // The same value, computed once by the role that gathers rows and handed over with them (a hint; tile_ops.td, staged).
  Value staged(const Value& value, Loc loc = Loc::current());

  // c + a·b; a [M, K], b [K, N] of one type of F16, BF16, F8E4M3, c [M, N] F32. The label names it in a schedule.
  Value dot(std::string_view label, const Value& a, const Value& b, const Value& c, Loc loc = Loc::current());

  // for (i = from; i < to; i += step) body(i, state): `state` holds the carried values, before, in and after the loop.
  void loop(std::string_view name, const Value& from, const Value& to, std::vector<Value>& state,
            const std::function<void(Value, std::vector<Value>&)>& body, int step = 1, Loc loc = Loc::current());
  void when(const Value& condition, const std::function<void()>& body, Loc loc = Loc::current());
  std::vector<Value> ifElse(const Value& condition, const std::function<std::vector<Value>()>& yes,
                            const std::function<std::vector<Value>()>& no, Loc loc = Loc::current());

 private:
  Recorder& r_;
};

// A recorded kernel. Opaque here; the compiler sees its MLIR module through dsl_impl.h.
class Program {
 public:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();
  Impl& impl() const { return *impl_; }
  std::string text() const;  // tile IR

 private:
  std::unique_ptr<Impl> impl_;
};

// Runs `body` and verifies what it recorded. Errors: misuse of the DSL (with file and line) and verifier messages.
Result<Program> record(std::string_view name, const ArgList& args, const std::function<void(Builder&)>& body);

}  // namespace nereid::dsl
