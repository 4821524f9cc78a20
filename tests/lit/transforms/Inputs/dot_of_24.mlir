func.func @kernel(%a: tensor<16x24xf16>, %b: tensor<24x8xf16>, %c: tensor<16x8xf32>) attributes {tile.kernel} {
  %d = tile.dot "x" %a, %b, %c : tensor<16x24xf16>, tensor<24x8xf16>, tensor<16x8xf32>
  return
}
