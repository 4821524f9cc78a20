// RUN: %nereid-opt %s --split-input-file --verify-diagnostics --nereid-lower-gpu-math

func.func @sine(%x: f32) -> f32 {
  // expected-error @+1 {{'math.sin' on 'f32' has no GPU lowering; use exp2, exp, log2, log, rsqrt, sqrt or tanh on f32}}
  %s = math.sin %x : f32
  return %s : f32
}

// -----

func.func @half(%x: f16) -> f16 {
  // expected-error @+1 {{'math.exp2' on 'f16' has no GPU lowering}}
  %s = math.exp2 %x : f16
  return %s : f16
}
