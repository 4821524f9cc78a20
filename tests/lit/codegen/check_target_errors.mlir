// RUN: %nereid-opt %s --split-input-file --verify-diagnostics --check-target --target sm_80

// Inline PTX is taken from one table; anything else is refused before code is generated.
llvm.func @text() attributes {nvvm.kernel} {
  // expected-error @+1 {{inline PTX "trap;" with constraints "" is not in the table of inline forms; emit it with emitInlinePtx, or add the form to compiler/codegen/inline_ptx.cpp}}
  llvm.inline_asm has_side_effects "trap;", "" : () -> ()
  llvm.return
}

// -----

// The constraints belong to the form.
llvm.func @constraints(%p: !llvm.ptr<1>, %x: i32) attributes {nvvm.kernel} {
  // expected-error @+1 {{is not in the table of inline forms}}
  llvm.inline_asm has_side_effects "st.global.cs.v2.b32 [$0], {$1, $2};", "l,r,r" %p, %x, %x : (!llvm.ptr<1>, i32, i32) -> ()
  llvm.return
}

// -----

llvm.func @form(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
  // expected-error @+1 {{inline PTX 'red.add.v4.f32' is not supported on sm_80: it needs sm_90 or newer}}
  llvm.inline_asm has_side_effects "red.global.add.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f,~{memory}" %p, %x, %x, %x, %x : (!llvm.ptr<1>, f32, f32, f32, f32) -> ()
  llvm.return
}

// -----

llvm.func @conversion(%x: vector<2xi8>) attributes {nvvm.kernel} {
  // expected-error @+1 {{op 'nvvm.convert.f8x2.to.f16x2' is not supported on sm_80: it needs sm_89 or newer; choose a newer target, or a schedule that does not use the instruction}}
  %h = nvvm.convert.f8x2.to.f16x2 %x : vector<2xi8> (f8E4M3FN) -> vector<2xf16>
  llvm.return
}

// -----

llvm.func @intrinsic(%x: i32) attributes {nvvm.kernel} {
  // expected-error @+1 {{intrinsic 'llvm.nvvm.sad.i' is not in the table of checked instructions}}
  %h = llvm.call_intrinsic "llvm.nvvm.sad.i"(%x, %x, %x) : (i32, i32, i32) -> i32
  llvm.return
}

// -----

llvm.func @library(%x: f32) attributes {nvvm.kernel} {
  // expected-error @+1 {{'llvm.intr.sin' has no instruction on sm_80}}
  %h = llvm.intr.sin(%x) : (f32) -> f32
  llvm.return
}

// -----

// Shared memory is one symbol whose size the launch says.
// expected-error @+1 {{shared-memory global 'buffer' must be external, without initial value, and aligned to at least 16 bytes; declare one external llvm.mlir.global}}
llvm.mlir.global internal @buffer() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<64 x i8>
