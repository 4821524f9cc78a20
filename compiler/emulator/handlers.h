// Handlers of LLVM's own instructions, chosen by kind and type. What each reads of its Op is said beside it.
#pragma once
#include "compiler/emulator/program.h"

namespace nereid::emulator {

// How a scalar lies in a column: integers of up to 32 bits, i1 and 16-bit floats in 32 bits, zero-extended.
enum class Scalar : uint8_t { kInt32, kInt64, kF16, kBF16, kF32, kF64 };

enum class Binary : uint8_t {
  kAdd,
  kSub,
  kMul,
  kUDiv,
  kSDiv,
  kURem,
  kSRem,
  kShl,
  kLShr,
  kAShr,
  kAnd,
  kOr,
  kXor,
  kSMin,
  kSMax,
  kUMin,
  kUMax,
  kUAddSat,
  kUSubSat,
  kSAddSat,
  kSSubSat,
  kUAddOverflow,
  kUMulOverflow,
  kSAddOverflow,
  kSMulOverflow,  // overflow: the i1 part
  kFAdd,
  kFSub,
  kFMul,
  kFDiv,
  kFRem,
  kFMinNum,
  kFMaxNum,
  kFMinimum,
  kFMaximum,
  kFCopySign,
};
// result = a ∘ b. Integers: `bits` wide, `imm` the mask of the width. nullptr: not for this type.
Handler binaryHandler(Binary op, Scalar type);

enum class Unary : uint8_t {
  kAbs,
  kPopCount,
  kLeadingZeros,
  kTrailingZeros,
  kByteSwap,
  kBitReverse,
  kFNeg,
  kFAbs,
  kFSqrt,
  kFFloor,
  kFCeil,
  kFTrunc,
  kFRint,
  kFRound,
};
Handler unaryHandler(Unary op, Scalar type);

enum class Ternary : uint8_t { kFma, kFunnelLeft, kFunnelRight };
Handler ternaryHandler(Ternary op, Scalar type);

enum class Compare : uint8_t { kEq, kNe, kUgt, kUge, kUlt, kUle, kSgt, kSge, kSlt, kSle };
Handler compareHandler(Compare predicate, Scalar type);  // integers of `bits`, pointers
// Floats: `imm` is LLVM's predicate as a set of bits: 1 equal, 2 greater, 4 less, 8 unordered.
Handler floatCompareHandler(Scalar type);
Handler floatClassHandler(Scalar type);  // llvm.is.fpclass with the mask in `imm`

// Conversions: result from a. `bits`: the source's width, `imm`: the mask of the result's width.
enum class Convert : uint8_t { kZExt, kSExt, kTrunc, kToSigned, kToUnsigned, kFromSigned, kFromUnsigned, kFloat };
Handler convertHandler(Convert kind, Scalar from, Scalar to);

Handler selectHandler(bool wide);   // result = a ? b : c
Handler copyHandler(bool wide);     // result = a
Handler repackHandler();            // list: result columns, operand columns; aux: bits of an operand | bits of a result << 32
Handler extractHandler(bool wide);  // result = operand [a] of the list
Handler insertHandler(bool wide);   // list: results, operands; b at index a
Handler addScaledHandler(bool wide_index);  // result (64) = a + sext(b) · imm + aux
Handler addConstantHandler();               // result (64) = a + aux
Handler orConstantHandler();                // result (64) = a | aux
Handler andConstantHandler();               // result (64) = a & aux

Handler branchHandler();           // to op imm where a, else to op aux
Handler jumpHandler();             // to op imm
Handler switchHandler(bool wide);  // list (no results): pairs of op and constant column; default: op imm; value a
Handler exitHandler();
Handler unreachableHandler();
Handler movesHandler();  // phi: list: targets, then sources, odd where they are 64 bits wide

// Memory. imm: bytes of the whole access; aux: alignment | address space << 32; a: address. list: a column a component, then its
// place: byte offset << 8 | bytes.
Handler loadHandler();
Handler storeHandler();
// aux as above; imm: AtomicKind | ordering << 8 | acquire << 9 | release << 10 | bytes << 16; b: operand; c: new value of a
// cmpxchg (then list: old value, success).
enum class AtomicKind : uint8_t {
  kAdd,
  kSub,
  kAnd,
  kOr,
  kXor,
  kExchange,
  kSMin,
  kSMax,
  kUMin,
  kUMax,
  kIncWrap,
  kDecWrap,
  kFAdd,
  kCompareExchange
};
Handler atomicHandler();
inline constexpr uint64_t kAtomicAcquire = 1 << 9, kAtomicRelease = 1 << 10;
Handler fenceHandler();
Handler memcpyHandler();  // a: to, b: from, c: count (64); aux: space to | space from << 32
Handler memsetHandler();  // a: to, b: byte, c: count (64); aux: space to

}  // namespace nereid::emulator
