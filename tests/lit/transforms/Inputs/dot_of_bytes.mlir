func.func @kernel(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x8xf8E4M3FN>, %c: tensor<16x8xf32>) attributes {tile.kernel} {
  %d = tile.dot "x" %a, %b, %c : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E4M3FN>, tensor<16x8xf32>
  return
}
