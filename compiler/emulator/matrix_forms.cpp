#include "compiler/emulator/matrix_forms.h"

#include "compiler/emulator/number_formats.h"

namespace nereid::emulator {
namespace {

struct Reader {
  std::string_view rest;
  bool take(std::string_view part) {
    if (!rest.starts_with(part)) return false;
    if (rest.size() > part.size() && rest[part.size()] != '.') return false;
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return true;
  }
};

struct Name {
  const char* name;
  Element element;
};
constexpr Name kNames[] = {{"bf16", Element::kBF16}, {"tf32", Element::kTF32}, {"s8", Element::kS8},
                           {"u8", Element::kU8},     {"e4m3", Element::kE4M3}, {"e5m2", Element::kE5M2},
                           {"e3m2", Element::kE3M2}, {"e2m3", Element::kE2M3}, {"e2m1", Element::kE2M1}};

bool takeElement(Reader& reader, Element& element) {
  for (const Name& n : kNames) {
    if (!reader.take(n.name)) continue;
    element = n.element;
    return true;
  }
  return false;
}

bool takeSum(Reader& reader, MmaForm::Sum& sum) {
  if (reader.take("f32"))
    sum = MmaForm::Sum::kF32;
  else if (reader.take("f16"))
    sum = MmaForm::Sum::kF16;
  else
    return false;
  return true;
}

// "D.A.B.C" of float formats.
bool takeFour(Reader& reader, MmaForm& form) {
  MmaForm::Sum d, c;
  if (!takeSum(reader, d) || !takeElement(reader, form.a) || !takeElement(reader, form.b) || !takeSum(reader, c)) return false;
  form.sum = d;
  return d == c;
}

bool parseBlockScale(Reader reader, MmaForm& form) {
  if (reader.take("m16n8k32"))
    form.k = 32;
  else if (reader.take("m16n8k64"))
    form.k = 64;
  else
    return false;
  if (!reader.take("row") || !reader.take("col")) return false;
  const bool bytes = reader.take("mxf8f6f4");
  const bool nv = !bytes && reader.take("mxf4nvf4");
  if (!bytes && !nv && !reader.take("mxf4")) return false;
  form.scale_blocks = bytes ? 1 : 2;
  if (reader.take("scale")) {
    if (reader.take("1x"))
      form.scale_blocks = 1;
    else if (reader.take("2x"))
      form.scale_blocks = 2;
    else if (reader.take("4x"))
      form.scale_blocks = 4;
    else
      return false;
  }
  if (!takeFour(reader, form)) return false;
  if (!bytes) {
    if (form.a != Element::kE2M1 || form.b != Element::kE2M1) return false;
    form.a = form.b = Element::kE2M1Packed;
  }
  if (reader.take("ue8m0"))
    form.scale = ScaleFormat::kUE8M0;
  else if (reader.take("ue4m3"))
    form.scale = ScaleFormat::kUE4M3;
  else
    return false;
  return reader.rest.empty();
}

}  // namespace

int elementBits(Element element) {
  switch (element) {
    case Element::kF16:
    case Element::kBF16: return 16;
    case Element::kTF32: return 32;
    case Element::kE2M1Packed: return 4;
    default: return 8;
  }
}

double decodeElement(Element element, uint32_t bits) {
  switch (element) {
    case Element::kF16: return f16ToFloat(bits);
    case Element::kBF16: return bf16ToFloat(bits);
    case Element::kTF32: return bitsToFloat(bits & 0xFFFFE000);
    case Element::kS8: return static_cast<int8_t>(bits);
    case Element::kU8: return bits & 255;
    case Element::kE4M3: return decodeNarrow(kE4M3, bits & 255);
    case Element::kE5M2: return decodeNarrow(kE5M2, bits & 255);
    case Element::kE3M2: return decodeNarrow(kE3M2, bits & 63);
    case Element::kE2M3: return decodeNarrow(kE2M3, bits & 63);
    case Element::kE2M1: return decodeNarrow(kE2M1, bits >> 2 & 15);
    case Element::kE2M1Packed: return decodeNarrow(kE2M1, bits & 15);
  }
  return 0;
}

uint64_t MmaForm::packed() const {
  return static_cast<uint64_t>(a) | static_cast<uint64_t>(b) << 8 | static_cast<uint64_t>(sum) << 16 |
         static_cast<uint64_t>(k) << 24 | static_cast<uint64_t>(scale) << 32 | static_cast<uint64_t>(scale_blocks) << 40 |
         static_cast<uint64_t>(saturate) << 48;
}

MmaForm MmaForm::unpack(uint64_t bits) {
  MmaForm form;
  form.a = static_cast<Element>(bits & 255);
  form.b = static_cast<Element>(bits >> 8 & 255);
  form.sum = static_cast<Sum>(bits >> 16 & 255);
  form.k = static_cast<uint8_t>(bits >> 24);
  form.scale = static_cast<ScaleFormat>(bits >> 32 & 255);
  form.scale_blocks = static_cast<uint8_t>(bits >> 40);
  form.saturate = bits >> 48 & 1;
  return form;
}

bool parseMma(std::string_view name, MmaForm& form) {
  form = MmaForm();
  Reader reader{name};
  if (reader.take("block")) return reader.take("scale") && parseBlockScale(reader, form);
  if (reader.take("m16n8k4"))
    form.k = 4;
  else if (reader.take("m16n8k8"))
    form.k = 8;
  else if (reader.take("m16n8k16"))
    form.k = 16;
  else if (reader.take("m16n8k32"))
    form.k = 32;
  else
    return false;
  if (!reader.take("row") || !reader.take("col")) return false;
  if (reader.take("kind")) {
    if (!reader.take("f8f6f4") || form.k != 32) return false;
    return takeFour(reader, form) && reader.rest.empty();
  }
  if (reader.take("satfinite")) form.saturate = true;
  Reader four = reader;
  if (takeFour(four, form)) {
    const bool bytes = elementBits(form.a) == 8 && elementBits(form.b) == 8;
    return four.rest.empty() && bytes && (form.k == 16 || form.k == 32);
  }
  MmaForm::Sum d, c;
  Reader two = reader;
  if (takeSum(two, d) && takeSum(two, c)) {  // f16 operands are not in the name
    form.a = form.b = Element::kF16;
    form.sum = d;
    return two.rest.empty() && d == c && (form.k == 8 || form.k == 16);
  }
  if (!takeElement(reader, form.a)) return false;
  form.b = form.a;
  if (!reader.rest.empty() && !takeElement(reader, form.b)) return false;
  const bool integer = form.a == Element::kS8 || form.a == Element::kU8;
  form.sum = integer ? MmaForm::Sum::kS32 : MmaForm::Sum::kF32;
  if (integer != (form.b == Element::kS8 || form.b == Element::kU8)) return false;
  if (integer) return reader.rest.empty() && form.k >= 16;
  const bool half = form.a == Element::kBF16 && form.b == Element::kBF16 && (form.k == 8 || form.k == 16);
  const bool tf32 = form.a == Element::kTF32 && form.b == Element::kTF32 && (form.k == 4 || form.k == 8);
  return reader.rest.empty() && (half || tf32);
}

}  // namespace nereid::emulator
