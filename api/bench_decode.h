// `nereid bench`: device times of sparse_decode rows, checked against float64 before their time counts.
//
// A pool of more than 600 MB of valid rows, index sets that rotate over it so that the chip's L2 does not hold the data,
// CUDA-graph replays of all sets, the median over replays of the time of one call. Small pool, same bytes: the reference is
// computed from a template of 64 pages of which the big pool is made by repetition.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "api/run_case.h"

namespace nereid::api {

struct BenchRow {
  std::string layout = "MODEL1";
  int64_t rows = 1, heads = 64, topk = 512;
  int64_t extra_topk = 0;   // a second source over the same pool
  double neighbour_us = 0;  // FlashMLA's Hopper kernel on an H200, docs/performance-log.md; 0: none
};
// The rows of docs/performance-log.md's table.
const std::vector<BenchRow>& benchTable();

struct BenchOptions {
  Device device;
  Limits limits = Limits::kSm120;
  std::string schedule;  // changes, for all rows
  int64_t page_size = 64;
  int sets = 12;  // index sets in one graph
  int replays = 9;
  uint64_t seed = 1;
};

struct BenchResult {
  BenchRow row;
  std::string schedule;
  double us = 0;                        // median of one call
  double spread = 0;                    // (largest − smallest) / median of the middle half of the replays
  double useful_gbps = 0;               // selected bytes over time
  double tflops = 0;                    // 2·rows·heads·topk·(d_qk + d_v) over time
  double out_error = 0, lse_error = 0;  // against float64, of the rows that were checked
  bool ok = false;
};

// Each row is reported as soon as it is known. Errors: no GPU, a schedule that cannot run. A wrong result is in the report.
Status benchDecode(const std::vector<BenchRow>& rows, const BenchOptions& options,
                   const std::function<void(const Result<BenchResult>&)>& done);

}  // namespace nereid::api
