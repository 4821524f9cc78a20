// The argument block of each kernel: what a program reads by name, and what a launcher binds by name.
//
// Pointers (tensors of docs, dense unless a stride is an argument):
//   q                 bf16 [rows, heads, d_qk], strides below        k_cache, cache, src, dst   u8 pages, page_stride bytes apart
//   indices, slots    i32 or i64 [rows, topk] or [count]             topk_length                i32 [batch], batch = rows / s_q
//   attn_sink         f32 [heads]                                    out                        bf16 [rows, heads, head_dim_v]
//   lse               f32 [batch, heads, s_q]                        kv                         bf16 [count, d]
//   part_out          f32 [rows, heads, splits, head_dim_v]          part_lse                   f32 [rows, heads, splits]
//   mask              u8 [pages]; page_mark sets bytes to 1 and clears none
// Numbers:
//   softmax_scale f32 · q_row_stride, q_head_stride, indices_stride i64, elements · page_stride, src_page_stride, dst_page_stride
//   i64, bytes · pool_tokens i32 (page_mark: i64), tokens of the pool (at most 2^31 − 1) · page_size, topk i32, of generic
//   kernels · count i64, rows of gather_dequant and pack_kv · pages i64, source pages of page_split · width i32, indices of a row
//   of page_mark
// The second source's names start with extra_. `align` of an entry is what its value has to be a multiple of (bytes, or the
// number).
#pragma once
#include "kernels_dsl/spec/problems/problem.h"
#include "runtime/base/result.h"
#include "runtime/spec/abi.h"
#include "runtime/spec/schedule.h"

namespace nereid::kernels {

// A sparse_decode with schedule.splits > 1 writes part_out and part_lse and leaves the sink to combine.
Result<ArgList> kernelArgs(const Problem& problem, const Schedule& schedule);

}  // namespace nereid::kernels
