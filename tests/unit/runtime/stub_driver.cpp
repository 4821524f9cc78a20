// A library with the driver's symbols and nothing behind them.
#include "runtime/driver/cuda_api.h"

#define NEREID_STUB(field, symbol, parameters)                                                                       \
  extern "C" __attribute__((visibility("default"))) nereid::cuda::Error nereid_stub_##field parameters asm(#symbol); \
  extern "C" nereid::cuda::Error nereid_stub_##field parameters { return nereid::cuda::Error::kSuccess; }
using namespace nereid::cuda;  // NOLINT(google-build-using-namespace): the list names the driver's types
NEREID_CUDA_SYMBOLS(NEREID_STUB)
