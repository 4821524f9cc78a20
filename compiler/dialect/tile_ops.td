// The tile dialect: programs over tiles (tensors of static shape) held by a block of threads.
//
// Elementwise work is upstream arith and math on tensors, control flow is upstream scf, kernels are func.func with the attribute
// `tile.kernel`. The dialect adds what upstream lacks: the block's index, ranges, memory access by base and offsets, row gathers,
// reinterpretation of bytes, matrix products with a label that a schedule can name, and, after scheduling, channels between roles.
#ifndef NEREID_TILE_OPS
#define NEREID_TILE_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::nereid::tile";
  let summary = "Programs over tiles of static shape";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

// Generic address space; the program's pointers are global memory.
def Tile_Pointer : Type<CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self)">, "pointer", "::mlir::LLVM::LLVMPointerType">,
                   BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;
def Tile_Tensor : StaticShapeTensorOf<[AnyType]>;
def Tile_Bytes : StaticShapeTensorOf<[I8]>;
def Tile_Mask : StaticShapeTensorOf<[I1]>;
def Tile_Offsets : StaticShapeTensorOf<[I32, I64]>;
def Tile_Offsets64 : StaticShapeTensorOf<[I64]>;

//===----------------------------------------------------------------------===//
// Layout encoding and channel type
//===----------------------------------------------------------------------===//

def Tile_LayoutAttr : AttrDef<Tile_Dialect, "Layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "where a tile's elements live in registers (compiler/layout/layout.h)";
  let description = [{
    Encoding of a tensor after layout assignment: bases of the register, lane and warp bits, each `rank` numbers long. A basis is
    zero (the bit replicates) or a power of two in one dimension, and no two bits have the same one. `partial` is a mask of warp
    bits whose copies are addends. Example: `#tile.layout<rank = 1, reg = [1], lane = [2, 4, 8, 16, 32], warp = []>`.
  }];
  let parameters = (ins "int32_t":$rank, ArrayRefParameter<"int32_t">:$reg, ArrayRefParameter<"int32_t">:$lane,
                        ArrayRefParameter<"int32_t">:$warp, "uint32_t":$partial);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::nereid::layout::Layout toLayout() const;
    static LayoutAttr of(::mlir::MLIRContext* context, const ::nereid::layout::Layout& layout);
  }];
}

def Tile_SharedAttr : AttrDef<Tile_Dialect, "Shared", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "shared";
  let summary = "where a tile's elements lie in shared memory";
  let description = [{
    Encoding of a channel's payload and of views of it: rows are `pitch` bytes apart, so a row fits into them. After a transposition
    `column_major` is true and columns are. Example: `#tile.shared<pitch = 80, column_major = false>`.
  }];
  let parameters = (ins "int32_t":$pitch, "bool":$column_major);
  let assemblyFormat = "`<` `pitch` `=` $pitch `,` `column_major` `=` $column_major `>`";
}

def Tile_ChannelType : TypeDef<Tile_Dialect, "Channel"> {
  let mnemonic = "channel";
  let summary = "a ring of `depth` slots in shared memory, each with the payload tiles";
  let description = [{
    At least one slot; the payload tiles are vectors or matrices. Example: `!tile.channel<3, tensor<32x576xi8>, tensor<32xf32>>`.
  }];
  let genVerifyDecl = 1;
  let parameters = (ins "int32_t":$depth, ArrayRefParameter<"::mlir::Type">:$payload);
  let assemblyFormat = "`<` $depth `,` $payload `>`";
}

//===----------------------------------------------------------------------===//
// Values without operands
//===----------------------------------------------------------------------===//

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "linear index of this block in the grid";
  let description = [{
    `%p = tile.program_id : i32`. A grid is one-dimensional (up to 2^31-1 blocks); programs divide the index themselves.
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_RangeOp : Tile_Op<"range", [Pure]> {
  let summary = "start, start+1, … along a vector";
  let description = [{ `%r = tile.range 0 : tensor<32xi32>`. }];
  let arguments = (ins I32Attr:$start);
  let results = (outs StaticShapeTensorOf<[I32]>:$result);
  let assemblyFormat = "$start attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shape and type
//===----------------------------------------------------------------------===//

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a tile with the same scalar everywhere";
  let description = [{ `%t = tile.splat %x : f32 -> tensor<16x32xf32>`. }];
  let arguments = (ins AnyType:$value);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats a vector along the other dimension of a matrix";
  let description = [{
    `%t = tile.broadcast %v dim 0 : tensor<16xf32> -> tensor<16x32xf32>`: the operand's only dimension becomes dimension `dim` of
    the result; element [i, j] is v[i] (dim 0) or v[j] (dim 1).
  }];
  let arguments = (ins Tile_Tensor:$value, I32Attr:$dim);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$value `dim` $dim attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_TransOp : Tile_Op<"trans", [Pure]> {
  let summary = "transposes a matrix";
  let description = [{
    `%t = tile.trans %m : tensor<16x32xf16> -> tensor<32x16xf16>`. No data moves: in registers the layout is transposed with the
    tile, in shared memory rows become columns. Twice is the operand.
  }];
  let arguments = (ins Tile_Tensor:$value);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ViewOp : Tile_Op<"view", [Pure]> {
  let summary = "reads bytes of each row as values of another type, or values as bytes";
  let description = [{
    `%k = tile.view %rows at 448 : tensor<32x576xi8> -> tensor<32x64xbf16>`: row i of the result is bytes [at, at + 128) of row i.
    A result of rank 1 takes one value a row. From values to bytes `at` is 0 and the row sizes are equal.
    The byte offset is a multiple of the element's size. Little endian.
  }];
  let arguments = (ins Tile_Tensor:$value, I32Attr:$at);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$value `at` $at attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_StagedOp : Tile_Op<"staged", [Pure, SameOperandsAndResultType]> {
  let summary = "the same tile, computed once by the role that gathers rows";
  let description = [{
    A hint on a value inside a loop that depends on memory only: with roles, the role `load` computes it and hands it over with the
    rows of the iteration, instead of each role computing its own copy. Without roles it is the operand.
  }];
  let arguments = (ins Tile_Tensor:$value);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "loads elements of global memory";
  let description = [{
    `%x = tile.load %base[%offsets] mask %m else %o : tensor<32xi32>, tensor<32xf32>`: element i is base[offsets[i]] (offsets count
    elements); where the mask is false nothing is read and the element is `else`, zero if absent.
  }];
  let arguments = (ins Tile_Pointer:$base, Tile_Offsets:$offsets, Optional<Tile_Mask>:$mask, Optional<Tile_Tensor>:$other);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $base `[` $offsets `]` (`mask` $mask^)? (`else` $other^)? attr-dict `:` type($offsets) `,` type($result)
    (`,` type($mask)^)? (`,` type($other)^)?
  }];
  let hasVerifier = 1;
}

def Tile_LoadScalarOp : Tile_Op<"load_scalar", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "loads one element of global memory, the same for the whole block";
  let description = [{
    `%n = tile.load_scalar %lengths[%row] : i64, i32`: lengths[row]. The offset counts elements.
  }];
  let arguments = (ins Tile_Pointer:$base, AnyTypeOf<[I32, I64]>:$offset);
  let results = (outs AnyTypeOf<[AnyInteger, AnyFloat]>:$result);
  let assemblyFormat = "$base `[` $offset `]` attr-dict `:` type($offset) `,` type($result)";
}

def Tile_StoreOp : Tile_Op<"store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "stores elements to global memory where the mask is true";
  let description = [{ `tile.store %base[%offsets], %value mask %m : tensor<32xi32>, tensor<32xf32>`. Offsets count elements. }];
  let arguments = (ins Tile_Pointer:$base, Tile_Offsets:$offsets, Tile_Tensor:$value, Optional<Tile_Mask>:$mask);
  let assemblyFormat = [{
    $base `[` $offsets `]` `,` $value (`mask` $mask^)? attr-dict `:` type($offsets) `,` type($value) (`,` type($mask)^)?
  }];
  let hasVerifier = 1;
}

def Tile_GatherRowsOp : Tile_Op<"gather_rows", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "copies rows of contiguous bytes";
  let description = [{
    `%b = tile.gather_rows %base[%offsets] mask %ok : tensor<32xi64>, tensor<32x576xi8>`: row i is the bytes
    [base + offsets[i], + width). A masked row is zero and is not read. `align` says what base and offsets are multiples of (bytes).
    In a loop of a schedule with a `load` role this becomes an asynchronous copy into a ring of slots.
  }];
  let arguments = (ins Tile_Pointer:$base, Tile_Offsets64:$offsets, Tile_Mask:$mask, I32Attr:$align);
  let results = (outs Tile_Bytes:$result);
  let assemblyFormat = "$base `[` $offsets `]` `mask` $mask `align` $align attr-dict `:` type($offsets) `,` type($mask) `,` type($result)";
  let hasVerifier = 1;
}

def Tile_ScatterRowsOp : Tile_Op<"scatter_rows", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the inverse of gather_rows: writes rows of contiguous bytes where the mask is true";
  let description = [{
    `tile.scatter_rows %base[%offsets], %bytes mask %ok align 16 : tensor<8xi64>, tensor<8x64xi8>, tensor<8xi1>`: row i of the bytes
    goes to [base + offsets[i], + width). `align` says what base and offsets are multiples of (bytes). Rows do not overlap.
  }];
  let arguments = (ins Tile_Pointer:$base, Tile_Offsets64:$offsets, Tile_Bytes:$value, Tile_Mask:$mask, I32Attr:$align);
  let assemblyFormat = [{
    $base `[` $offsets `]` `,` $value `mask` $mask `align` $align attr-dict `:` type($offsets) `,` type($value) `,` type($mask)
  }];
  let hasVerifier = 1;
}

def Tile_TicketOp : Tile_Op<"ticket", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "takes a number from a counter that wraps at `limit`";
  let description = [{
    `%t = tile.ticket %counter limit %blocks : i32` returns the counter's old value and stores old + 1, or 0 after limit - 1 (so it
    is ready for the next launch). All global writes of the block before it are visible to the block that takes the last number,
    after it. The whole block gets the same number.
  }];
  let arguments = (ins Tile_Pointer:$counter, I32:$limit);
  let results = (outs I32:$result);
  let assemblyFormat = "$counter `limit` $limit attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products and reductions
//===----------------------------------------------------------------------===//

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["c", "result"]>]> {
  let summary = "c + a·b with products of the operands' type summed in f32";
  let description = [{
    `%d = tile.dot "qk" %a, %b, %c : tensor<16x64xf16>, tensor<64x32xf16>, tensor<16x32xf32>`. a [M, K], b [K, N] have one type of
    f16, bf16, f8E4M3FN; c is f32. The label names the dot in a schedule.
  }];
  let arguments = (ins StrAttr:$label, Tile_Tensor:$a, Tile_Tensor:$b, Tile_Tensor:$c);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$label $a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c)";
  let hasVerifier = 1;
}

def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "how a reduction joins elements",
    [I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Or", 3, "or">]> {
  let cppNamespace = "::nereid::tile";
  let genSpecializedAttr = 0;
}
def Tile_ReduceKindAttr : EnumAttr<Tile_Dialect, Tile_ReduceKind, "reduce_kind">;

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "joins the elements along one dimension";
  let description = [{
    `%m = tile.reduce max %x dim 1 : tensor<16x32xf32> -> tensor<16xf32>`. max and min of floats ignore NaN (maxnum, minnum). A
    vector reduces to a scalar: `tile.reduce add %v dim 0 : tensor<32xf32> -> f32`.
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tensor:$value, I32Attr:$dim);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$kind $value `dim` $dim attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// After scheduling: roles, channels, layouts
//===----------------------------------------------------------------------===//

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "the same values in another layout; from shared memory it is a load";
  let description = [{
    `%b = tile.convert_layout %a : tensor<8xf32, #tile.layout<…>> -> tensor<8xf32, #tile.layout<…>>`. The result's layout covers the
    tile. Two attributes, masks of warp bits, change the value as well:
    `tile.sum`: copies of the operand in these warps are addends; the result is their sum.
    `tile.spread`: the inverse, within one layout: the first copy keeps the value, the others become zero.
  }];
  let arguments = (ins Tile_Tensor:$value);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_WarpsOp : Tile_Op<"warps", [NoRegionArguments, SingleBlock, NoTerminator]> {
  let summary = "runs each region on its own warps of the block, side by side";
  let description = [{
    Role i has `names[i]`, `warps[i]` warps (a power of two) in `groups[i]` groups that each run the region (tile.group_id tells
    them apart), and a register budget a thread (`registers[i]`, a multiple of 8 from 24 to 256; 0: as launched).
    Regions use values from above only if these are scalars, channels or constant tiles. Roles do not nest.
    Example: `tile.warps role "load" warps 4 groups 2 registers 40 { … } role "main" warps 8 registers 0 { … }`.
  }];
  let arguments = (ins StrArrayAttr:$names, DenseI32ArrayAttr:$warps, DenseI32ArrayAttr:$groups,
                       DenseI32ArrayAttr:$registers);
  let regions = (region VariadicRegion<SizedRegion<1>>:$roles);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_GroupIdOp : Tile_Op<"group_id", [Pure]> {
  let summary = "index of the group of this role's warps";
  let description = [{
    `%g = tile.group_id : i32` in a role of `groups[i]` groups: 0 … groups[i] - 1, the same for the warps of a group.
  }];
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_ChannelOp : Tile_Op<"channel"> {
  let summary = "makes a channel: a ring of slots in shared memory with a full and an empty barrier each";
  let description = [{
    One role writes (`writer`), the roles in `readers` read. A writer acquires a slot, fills each payload, commits; a reader waits,
    uses the tiles, releases. Slots are taken in order; a position is (slot, phase), phase flips when the slot wraps. A role of
    several groups takes slots in turn, so the ring it writes has at least as many.
    Example: `%ch = tile.channel from "load" to ["main"] : <3, tensor<32x576xi8>>`.
  }];
  let arguments = (ins StrAttr:$writer, StrArrayAttr:$readers);
  let results = (outs Tile_ChannelType:$result);
  let assemblyFormat = "`from` $writer `to` $readers attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_AcquireOp : Tile_Op<"acquire"> {
  let summary = "waits until the slot is empty";
  let description = [{
    `tile.acquire %ch[%slot, %phase] : <2, tensor<8x64xi8>>` in the writer's role: returns once all readers have released the slot in
    `phase`. A fresh slot is empty in the phase before the first, so a writer starts with phase 1.
  }];
  let arguments = (ins Tile_ChannelType:$channel, I32:$slot, I32:$phase);
  let assemblyFormat = "$channel `[` $slot `,` $phase `]` attr-dict `:` type($channel)";
  let hasVerifier = 1;
}

def Tile_CopyRowsOp : Tile_Op<"copy_rows"> {
  let summary = "starts gather_rows into a payload of an acquired slot";
  let description = [{
    `tile.copy_rows %ch[%slot] payload 0 from %base[%offsets] mask %ok align 16 bulk true : <2, tensor<8x64xi8>>, tensor<8xi64>,
    tensor<8xi1>` in the writer's role, between acquire and commit. `bulk`: by the bulk copy engine, one row a lane, which takes
    rows and alignments of whole 16 bytes; otherwise by 16, 8 or 4-byte asynchronous copies. A masked row becomes zero.
  }];
  let arguments = (ins Tile_ChannelType:$channel, I32:$slot, I32Attr:$payload, Tile_Pointer:$base, Tile_Offsets64:$offsets,
                       Tile_Mask:$mask, I32Attr:$align, BoolAttr:$bulk);
  let assemblyFormat = [{
    $channel `[` $slot `]` `payload` $payload `from` $base `[` $offsets `]` `mask` $mask `align` $align `bulk` $bulk attr-dict
    `:` type($channel) `,` type($offsets) `,` type($mask)
  }];
  let hasVerifier = 1;
}

def Tile_PutOp : Tile_Op<"put"> {
  let summary = "writes a tile into a payload of an acquired slot";
  let description = [{
    `tile.put %ch[%slot] payload 1, %v : <2, tensor<8x64xi8>, tensor<8xf32>>, tensor<8xf32>` in the writer's role, between acquire
    and commit. With `tile.sum` the value is a set of addends, one for each setting of those warp bits: they are stored side by
    side, and a reader adds them.
  }];
  let arguments = (ins Tile_ChannelType:$channel, I32:$slot, I32Attr:$payload, Tile_Tensor:$value);
  let assemblyFormat = "$channel `[` $slot `]` `payload` $payload `,` $value attr-dict `:` type($channel) `,` type($value)";
  let hasVerifier = 1;
}

def Tile_CommitOp : Tile_Op<"commit"> {
  let summary = "hands the slot to the readers once its copies have landed";
  let description = [{ `tile.commit %ch[%slot] : <2, tensor<8x64xi8>>` in the writer's role, once for each acquire. }];
  let arguments = (ins Tile_ChannelType:$channel, I32:$slot);
  let assemblyFormat = "$channel `[` $slot `]` attr-dict `:` type($channel)";
  let hasVerifier = 1;
}

def Tile_WaitOp : Tile_Op<"wait"> {
  let summary = "waits until the slot is full; its payload tiles, in shared memory";
  let description = [{
    `%rows, %v = tile.wait %ch[%slot, %phase] : <2, tensor<8x64xi8>, tensor<8xf32>> -> tensor<8x64xi8>, tensor<8xf32>` in a reader's
    role. The tiles may be read until the slot is released.
  }];
  let arguments = (ins Tile_ChannelType:$channel, I32:$slot, I32:$phase);
  let results = (outs Variadic<Tile_Tensor>:$payload);
  let assemblyFormat = "$channel `[` $slot `,` $phase `]` attr-dict `:` type($channel) `->` type($payload)";
  let hasVerifier = 1;
}

def Tile_ReleaseOp : Tile_Op<"release"> {
  let summary = "gives the slot back: this role has read what it needs";
  let description = [{ `tile.release %ch[%slot] : <2, tensor<8x64xi8>>` in a reader's role, once for each wait. }];
  let arguments = (ins Tile_ChannelType:$channel, I32:$slot);
  let assemblyFormat = "$channel `[` $slot `]` attr-dict `:` type($channel)";
  let hasVerifier = 1;
}

#endif
