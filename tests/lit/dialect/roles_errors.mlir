// RUN: %nereid-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a channel has at least one slot but got 0}}
func.func @no_slot(%ch: !tile.channel<0, tensor<8xf32>>) {
  return
}

// -----

// expected-error @+1 {{a channel's payload is vectors and matrices of static shape but got 'f32'}}
func.func @scalar_payload(%ch: !tile.channel<1, f32>) {
  return
}

// -----

// expected-error @+1 {{a channel's payload is vectors and matrices of static shape but got 'tensor<?xf32>'}}
func.func @dynamic_payload(%ch: !tile.channel<1, tensor<?xf32>>) {
  return
}

// -----

func.func @no_reader() {
  // expected-error @+1 {{expects a reader}}
  %ch = tile.channel from "load" to [] : <1, tensor<8xf32>>
  return
}

// -----

func.func @own_reader() {
  // expected-error @+1 {{expects readers other than the writer but got "load"}}
  %ch = tile.channel from "load" to ["load"] : <1, tensor<8xf32>>
  return
}

// -----

func.func @reader_twice() {
  // expected-error @+1 {{expects each reader once but got "main" twice}}
  %ch = tile.channel from "load" to ["main", "main"] : <1, tensor<8xf32>>
  return
}

// -----

func.func @acquire_outside(%ch: !tile.channel<1, tensor<8xf32>>, %i: i32) {
  // expected-error @+1 {{expects to lie in a role of tile.warps}}
  tile.acquire %ch[%i, %i] : <1, tensor<8xf32>>
  return
}

// -----

func.func @acquire_by_a_reader(%i: i32) {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<8xf32>>
  tile.warps role "load" warps 1 registers 0 {} role "main" warps 1 registers 0 {
    // expected-error @+1 {{'tile.acquire' op expects to lie in the role "load", which writes the channel, but lies in "main"}}
    tile.acquire %ch[%i, %i] : <1, tensor<8xf32>>
  }
  return
}

// -----

func.func @put_by_a_reader(%i: i32) {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<8xf32>>
  tile.warps role "load" warps 1 registers 0 {} role "main" warps 1 registers 0 {
    %v = arith.constant dense<0.0> : tensor<8xf32>
    // expected-error @+1 {{'tile.put' op expects to lie in the role "load"}}
    tile.put %ch[%i] payload 0, %v : <1, tensor<8xf32>>, tensor<8xf32>
  }
  return
}

// -----

func.func @copy_by_a_reader(%p: !llvm.ptr, %i: i32) {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<8x64xi8>>
  tile.warps role "load" warps 1 registers 0 {} role "main" warps 1 registers 0 {
    %at = arith.constant dense<0> : tensor<8xi64>
    %ok = arith.constant dense<true> : tensor<8xi1>
    // expected-error @+1 {{'tile.copy_rows' op expects to lie in the role "load"}}
    tile.copy_rows %ch[%i] payload 0 from %p[%at] mask %ok align 16 bulk true : <1, tensor<8x64xi8>>, tensor<8xi64>, tensor<8xi1>
  }
  return
}

// -----

func.func @commit_by_a_reader(%i: i32) {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<8xf32>>
  tile.warps role "load" warps 1 registers 0 {} role "main" warps 1 registers 0 {
    // expected-error @+1 {{'tile.commit' op expects to lie in the role "load"}}
    tile.commit %ch[%i] : <1, tensor<8xf32>>
  }
  return
}

// -----

func.func @wait_by_the_writer(%i: i32) {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<8xf32>>
  tile.warps role "load" warps 1 registers 0 {
    // expected-error @+1 {{'tile.wait' op expects to lie in a role of ["main"], which read the channel, but lies in "load"}}
    %v = tile.wait %ch[%i, %i] : <1, tensor<8xf32>> -> tensor<8xf32>
  } role "main" warps 1 registers 0 {}
  return
}

// -----

func.func @release_by_a_stranger(%i: i32) {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<8xf32>>
  tile.warps role "load" warps 1 registers 0 {} role "main" warps 1 registers 0 {} role "tail" warps 1 registers 0 {
    // expected-error @+1 {{'tile.release' op expects to lie in a role of ["main"]}}
    tile.release %ch[%i] : <1, tensor<8xf32>>
  }
  return
}

// -----

// Groups take slots in turn: with fewer slots than groups one would wait for a phase before the last.
func.func @fewer_slots_than_groups(%i: i32) {
  %ch = tile.channel from "load" to ["main"] : <1, tensor<8xf32>>
  tile.warps role "load" warps 2 groups 2 registers 0 {
    // expected-error @+1 {{expects as many slots as the role has groups, 2, but got 1}}
    tile.acquire %ch[%i, %i] : <1, tensor<8xf32>>
  } role "main" warps 1 registers 0 {}
  return
}

// -----

func.func @put_place(%ch: !tile.channel<1, tensor<8xf32>>, %i: i32) {
  tile.warps role "load" warps 1 registers 0 {
    %v = arith.constant dense<0.0> : tensor<8xf32>
    // expected-error @+1 {{expects a payload below 1 but got 1}}
    tile.put %ch[%i] payload 1, %v : <1, tensor<8xf32>>, tensor<8xf32>
  }
  return
}

// -----

func.func @put_type(%ch: !tile.channel<1, tensor<8xf32>>, %i: i32) {
  tile.warps role "load" warps 1 registers 0 {
    %v = arith.constant dense<0.0> : tensor<4xf32>
    // expected-error @+1 {{expects payload 0, 'tensor<8xf32>', but got 'tensor<4xf32>'}}
    tile.put %ch[%i] payload 0, %v : <1, tensor<8xf32>>, tensor<4xf32>
  }
  return
}

// -----

func.func @copy_to_values(%ch: !tile.channel<1, tensor<8xf32>>, %i: i32, %p: !llvm.ptr) {
  tile.warps role "load" warps 1 registers 0 {
    %at = arith.constant dense<0> : tensor<8xi64>
    %ok = arith.constant dense<true> : tensor<8xi1>
    // expected-error @+1 {{expects payload 0 to be rows of bytes but got 'tensor<8xf32>'}}
    tile.copy_rows %ch[%i] payload 0 from %p[%at] mask %ok align 16 bulk true : <1, tensor<8xf32>>, tensor<8xi64>, tensor<8xi1>
  }
  return
}

// -----

func.func @copy_count(%ch: !tile.channel<1, tensor<8x64xi8>>, %i: i32, %p: !llvm.ptr) {
  tile.warps role "load" warps 1 registers 0 {
    %at = arith.constant dense<0> : tensor<4xi64>
    %ok = arith.constant dense<true> : tensor<4xi1>
    // expected-error @+1 {{expects one offset for each row of 'tensor<8x64xi8>' but got 'tensor<4xi64>'}}
    tile.copy_rows %ch[%i] payload 0 from %p[%at] mask %ok align 16 bulk true : <1, tensor<8x64xi8>>, tensor<4xi64>, tensor<4xi1>
  }
  return
}

// -----

func.func @copy_align(%ch: !tile.channel<1, tensor<8x64xi8>>, %i: i32, %p: !llvm.ptr) {
  tile.warps role "load" warps 1 registers 0 {
    %at = arith.constant dense<0> : tensor<8xi64>
    %ok = arith.constant dense<true> : tensor<8xi1>
    // expected-error @+1 {{expects an alignment of 1, 2, 4, 8 or 16 bytes but got 12}}
    tile.copy_rows %ch[%i] payload 0 from %p[%at] mask %ok align 12 bulk false : <1, tensor<8x64xi8>>, tensor<8xi64>, tensor<8xi1>
  }
  return
}

// -----

func.func @bulk_align(%ch: !tile.channel<1, tensor<8x64xi8>>, %i: i32, %p: !llvm.ptr) {
  tile.warps role "load" warps 1 registers 0 {
    %at = arith.constant dense<0> : tensor<8xi64>
    %ok = arith.constant dense<true> : tensor<8xi1>
    // expected-error @+1 {{expects rows and an alignment of whole 16 bytes for a bulk copy but got 'tensor<8x64xi8>' and 8}}
    tile.copy_rows %ch[%i] payload 0 from %p[%at] mask %ok align 8 bulk true : <1, tensor<8x64xi8>>, tensor<8xi64>, tensor<8xi1>
  }
  return
}

// -----

func.func @bulk_width(%ch: !tile.channel<1, tensor<8x40xi8>>, %i: i32, %p: !llvm.ptr) {
  tile.warps role "load" warps 1 registers 0 {
    %at = arith.constant dense<0> : tensor<8xi64>
    %ok = arith.constant dense<true> : tensor<8xi1>
    // expected-error @+1 {{expects rows and an alignment of whole 16 bytes for a bulk copy but got 'tensor<8x40xi8>' and 16}}
    tile.copy_rows %ch[%i] payload 0 from %p[%at] mask %ok align 16 bulk true : <1, tensor<8x40xi8>>, tensor<8xi64>, tensor<8xi1>
  }
  return
}

// -----

func.func @wait_count(%ch: !tile.channel<1, tensor<8xf32>>, %i: i32) {
  tile.warps role "main" warps 1 registers 0 {
    // expected-error @+1 {{expects 1 results but got 2}}
    %a, %b = tile.wait %ch[%i, %i] : <1, tensor<8xf32>> -> tensor<8xf32>, tensor<8xf32>
  }
  return
}

// -----

func.func @wait_type(%ch: !tile.channel<1, tensor<8xf32>>, %i: i32) {
  tile.warps role "main" warps 1 registers 0 {
    // expected-error @+1 {{expects a result 'tensor<8xf32>' but got 'tensor<8xf16>'}}
    %a = tile.wait %ch[%i, %i] : <1, tensor<8xf32>> -> tensor<8xf16>
  }
  return
}

// -----

func.func @no_role() {
  // expected-error @+1 {{expects a role}}
  tile.warps
  return
}

// -----

func.func @uneven_lists() {
  // expected-error @+1 {{expects a name, a warp count, a group count and a register budget for each of its 1 roles}}
  "tile.warps"() <{names = ["load"], warps = array<i32: 1>, groups = array<i32: 1>, registers = array<i32>}> ({
  ^bb0:
  }) : () -> ()
  return
}

// -----

func.func @same_names() {
  // expected-error @+1 {{expects roles of different names but got "load" twice}}
  tile.warps role "load" warps 1 registers 0 {} role "load" warps 1 registers 0 {}
  return
}

// -----

func.func @three_warps() {
  // expected-error @+1 {{expects powers of two of warps but got 3}}
  tile.warps role "load" warps 3 registers 0 {}
  return
}

// -----

func.func @groups() {
  // expected-error @+1 {{expects groups of equal size but got 3 of 4 warps}}
  tile.warps role "load" warps 4 groups 3 registers 0 {}
  return
}

// -----

func.func @budget() {
  // expected-error @+1 {{expects a register budget of 0 or a multiple of 8 from 24 to 256 but got 100}}
  tile.warps role "load" warps 4 registers 100 {}
  return
}

// -----

func.func @nested() {
  tile.warps role "load" warps 4 registers 0 {
    // expected-error @+1 {{expects to lie in no other role}}
    tile.warps role "main" warps 4 registers 0 {}
  }
  return
}

// -----

func.func @tile_from_above(%p: !llvm.ptr) {
  %c = arith.constant dense<1.0> : tensor<8xf32>
  %at = tile.range 0 : tensor<8xi32>
  tile.warps role "main" warps 1 registers 0 {
    %sum = arith.addf %c, %c : tensor<8xf32>
    // expected-error @+1 {{uses a tile from outside its role "main"; tiles pass through channels}}
    tile.store %p[%at], %sum : tensor<8xi32>, tensor<8xf32>
  }
  return
}
