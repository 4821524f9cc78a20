// The tile dialect's C++ face: types, attributes, ops (documented in tile_ops.td) and small queries on kernels.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/layout/layout.h"

#include "compiler/dialect/tile_dialect.h.inc"
#include "compiler/dialect/tile_enums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/tile_attrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/tile_types.h.inc"
#define GET_OP_CLASSES
#include "compiler/dialect/tile_ops.h.inc"

namespace nereid::tile {

// Attribute on func.func that marks a kernel; its arguments carry `tile.align` (i32) where something is known.
inline constexpr const char* kKernelAttr = "tile.kernel";
inline constexpr const char* kAlignAttr = "tile.align";
// Attribute on scf.for: the name the program gave to the loop.
inline constexpr const char* kLoopAttr = "tile.loop";
// Attribute on loads and stores of rows: bytes that each row starts at a multiple of (i32).
inline constexpr const char* kRowAlignAttr = "tile.row_align";
// Attributes on convert_layout, masks of warp bits (i32). `sum`: the operand is a partial sum, the copies in these warps are
// addends. `spread`: the inverse, the first copy keeps the value and the others become zero.
inline constexpr const char* kSumAttr = "tile.sum";
inline constexpr const char* kSpreadAttr = "tile.spread";

// The element's size in bytes in memory; i1 takes one byte.
int elementBytes(mlir::Type type);
// The register layout of a tensor type, if it has one.
std::optional<layout::Layout> layoutOf(mlir::Type type);
bool isShared(mlir::Type type);
mlir::RankedTensorType withEncoding(mlir::RankedTensorType type, mlir::Attribute encoding);

}  // namespace nereid::tile
