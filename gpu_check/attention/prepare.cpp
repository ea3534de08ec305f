#include "gpu_check/attention/prepare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "gpu_check/attention/edges.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/recipes/kv_cache.hpp"

namespace halfulp::gpu {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr FormatSpec kTargets[] = {spec_of("f32"), spec_of("f16"), spec_of("bf16"), spec_of("e4m3"), spec_of("e5m2")};

ProductPlan product_plan(const accumulation::MmaSpec& spec) {
  using accumulation::Scheme;
  ProductPlan plan;
  plan.a = spec.a;
  plan.b = spec.b;
  plan.chunk = static_cast<std::uint32_t>(spec.model.chunk);
  plan.fraction_bits = spec.model.fraction_bits;
  plan.f32_fraction_bits = spec.model.f32_fraction_bits;
  plan.f16_output = spec.output == accumulation::Output::f16 ? 1 : 0;
  const bool plain = spec.model.scale.block == 0 && !spec.model.flushes && plan.chunk >= 1 && plan.chunk <= 32 && spec.interval == 0;
  if (plain && spec.model.scheme == Scheme::fused) plan.scheme = kFusedProduct;
  else if (plain && spec.model.scheme == Scheme::widened_halves && plan.f16_output == 0) plan.scheme = kWidenedHalves;
  else if (plain && spec.model.scheme == Scheme::integer) plan.scheme = kIntegerProduct;
  else throw std::invalid_argument("the attention kernels do not have the model " + std::string(spec.model.name));
  return plan;
}

class Maker {
 public:
  explicit Maker(std::string_view name) {
    std::uint64_t seed = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    random_.seed(seed);
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  /// Finite codes of magnitudes around 1, of all magnitudes now and then; integers of any value.
  Words codes(const FormatSpec& format, std::size_t count) {
    Words words(count);
    for (std::uint32_t& word : words) {
      const auto any = static_cast<std::uint32_t>(random_());
      if (format.encoding != Encoding::floating) {
        word = any & static_cast<std::uint32_t>(low_mask(format.width));
        continue;
      }
      const auto bias = static_cast<std::uint32_t>(format.bias), fraction = any & static_cast<std::uint32_t>(low_mask(format.fraction_bits));
      const std::uint32_t field = below(12) == 0 ? below(bias) : bias - 2 + below(4);
      word = (below(2) << (format.width - 1)) | field << format.fraction_bits | fraction;
    }
    return words;
  }
  /// From [low, high), as float32 bits.
  Words numbers(float low, float high, std::size_t count) {
    Words words(count);
    for (std::uint32_t& word : words) word = std::bit_cast<std::uint32_t>(low + (high - low) * (static_cast<float>(below(1 << 20)) / (1 << 20)));
    return words;
  }

 private:
  std::mt19937_64 random_;
};

std::vector<float> floats(const Words& words) {
  std::vector<float> all;
  for (const std::uint32_t word : words) all.push_back(std::bit_cast<float>(word));
  return all;
}

/// Moves tokens to shuffled pages; slots without a token hold `dead`, and pages without one exist too.
void make_paged(AttentionFile& file, Maker& maker, std::uint32_t dead) {
  const AttentionPlan& p = file.plan;
  const std::uint32_t blocks = (p.keys + p.page_size - 1) / p.page_size, pages = blocks + 2;
  Words order(pages);
  for (std::uint32_t i = 0; i < pages; ++i) order[i] = i;
  for (std::uint32_t i = pages; i > 1; --i) std::swap(order[i - 1], order[maker.below(i)]);
  for (const auto& [name, dim] : {std::pair("k", p.head_dim), std::pair("v", p.value_dim)}) {
    const Words tokens = file.input(name);
    Words pool(static_cast<std::size_t>(pages) * p.page_size * p.kv_heads * dim, dead);
    for (std::uint32_t head = 0; head < p.kv_heads; ++head) {
      for (std::uint32_t key = 0; key < p.keys; ++key) {
        const std::size_t slot = (static_cast<std::size_t>(order[key / p.page_size]) * p.page_size + key % p.page_size) * p.kv_heads + head;
        std::copy_n(tokens.begin() + (static_cast<std::ptrdiff_t>(head) * p.keys + key) * dim, dim, pool.begin() + static_cast<std::ptrdiff_t>(slot * dim));
      }
    }
    file.inputs[name] = pool;
  }
  order.resize(blocks);
  order.push_back(0xffffffff);  // an entry behind the end leads nowhere
  file.inputs["pages"] = order;
}

std::uint32_t half_of(double x) {
  return static_cast<std::uint32_t>(cast(spec_of("f64"), std::bit_cast<std::uint64_t>(x), spec_of("f16"), CastPolicy{}).code);
}

std::uint32_t packed_word(const std::vector<std::uint64_t>& codes, std::size_t first, std::size_t stride, std::uint32_t bits) {
  std::uint32_t word = 0;
  for (std::size_t j = 0; j < 32 / bits; ++j) word |= static_cast<std::uint32_t>(codes[first + j * stride] << (bits * j));
  return word;
}

/// Fills a KIVI cache token by token and packs what it holds; k and v become the f16 numbers that it reads back.
void make_kivi(AttentionFile& file, Maker& maker, std::uint32_t dead) {
  AttentionPlan& p = file.plan;
  p.group = 32;
  p.residual = 64;
  recipes::KiviSettings settings;
  settings.element = "uint" + std::to_string(p.code_bits);
  settings.residual = static_cast<int>(p.residual);
  settings.channels = p.head_dim;
  Words k, v, k_codes, v_codes, k_step, k_minimum, v_step, v_minimum, k_recent, v_recent;
  const auto append = [](Words& to, const std::vector<std::uint64_t>& from) {
    for (const std::uint64_t word : from) to.push_back(static_cast<std::uint32_t>(word));
  };
  for (std::uint32_t head = 0; head < p.kv_heads; ++head) {
    recipes::KiviCache cache(settings);
    const std::size_t count = static_cast<std::size_t>(p.keys) * p.head_dim;
    std::vector<double> keys(count), values(count);
    for (std::size_t i = 0; i < count; ++i) {
      keys[i] = std::ldexp(static_cast<double>(maker.below(4096)) - 2048, -10);
      values[i] = std::ldexp(static_cast<double>(maker.below(4096)) - 1500, -10);
    }
    cache.append(0, keys, values);
    for (const double x : cache.keys(0)) k.push_back(half_of(x));
    for (const double x : cache.values(0)) v.push_back(half_of(x));
    const recipes::Quantized &qk = cache.quantized_keys(0), &qv = cache.quantized_values(0);
    p.quantized_keys = p.keys - static_cast<std::uint32_t>(cache.exact_keys(0));
    p.quantized_values = p.keys - static_cast<std::uint32_t>(cache.exact_values(0));
    const std::size_t dim = p.head_dim, per_word = 32 / p.code_bits;
    for (std::size_t word = 0; word < p.quantized_keys / per_word; ++word) {
      for (std::size_t i = 0; i < dim; ++i) k_codes.push_back(packed_word(qk.codes, word * per_word * dim + i, dim, p.code_bits));
    }
    for (std::size_t first = 0; first < qv.codes.size(); first += per_word) v_codes.push_back(packed_word(qv.codes, first, 1, p.code_bits));
    append(k_step, qk.scales), append(k_minimum, qk.zeros), append(v_step, qv.scales), append(v_minimum, qv.zeros);
    const auto recent = [&](Words& to, const Words& all, std::size_t quantized) {
      const std::size_t tokens = p.keys - quantized, begin = head * count + quantized * dim;
      to.insert(to.end(), all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(begin + tokens * dim));
      to.resize((head + 1) * p.residual * dim, dead == 0x7f ? 0x7fffu : dead);
    };
    recent(k_recent, k, p.quantized_keys);
    recent(v_recent, v, p.quantized_values);
  }
  file.inputs = {{"k", k},           {"v", v},           {"k_codes", k_codes},     {"v_codes", v_codes},   {"k_step", k_step},
                 {"k_minimum", k_minimum}, {"v_step", v_step}, {"v_minimum", v_minimum}, {"k_recent", k_recent}, {"v_recent", v_recent}};
}

bool is_paged(AttentionKernel kernel) { return kernel == AttentionKernel::paged || kernel == AttentionKernel::paged_mma_sync; }
bool is_kivi(AttentionKernel kernel) { return kernel == AttentionKernel::kivi || kernel == AttentionKernel::kivi_mma_sync; }

}  // namespace

AttentionPlan plan_of(const attention::KernelSpec& spec, const AttentionCase& sizes) {
  AttentionPlan p;
  p.query_heads = sizes.query_heads, p.kv_heads = sizes.kv_heads, p.queries = sizes.queries, p.keys = sizes.keys;
  p.head_dim = sizes.head_dim, p.value_dim = sizes.value_dim;
  p.tile = static_cast<std::uint32_t>(spec.tile), p.split = static_cast<std::uint32_t>(spec.split);
  p.descending = spec.order == attention::TileOrder::descending ? 1 : 0;
  if (p.tile > kMaxTile || p.head_dim > kMaxDim || p.value_dim > kMaxDim) throw std::invalid_argument("a tile or head is beyond the kernels' limits");
  p.qk = product_plan(accumulation::make_spec({.model = spec.qk_model, .format_a = spec.q_format, .format_b = spec.k_format}));
  p.pv = product_plan(
      accumulation::make_spec({.model = spec.pv_model, .format_a = spec.p_format, .format_b = spec.v_format, .output = spec.pv_output}));
  if (spec.softcap) p.has_softcap = 1, p.cap = spec.softcap->cap, p.cap_scale = spec.softcap->scale;
  if (spec.threshold) p.has_threshold = 1, p.threshold = *spec.threshold;
  if (spec.prescale) p.has_prescale = 1, p.prescale = *spec.prescale;
  p.offset = spec.offset;
  p.sum_quantized = spec.sum_of == attention::SumOf::quantized ? 1 : 0;
  p.lanes = static_cast<std::uint32_t>(spec.lanes);
  p.two_level = spec.pv == attention::PvMode::two_level ? 1 : 0;
  p.interval = static_cast<std::uint32_t>(spec.interval);
  p.out = find_format(spec.out)->spec;
  for (const FormatSpec& format : {p.pv.a, p.out}) {
    if (std::none_of(std::begin(kTargets), std::end(kTargets), [&](const FormatSpec& each) { return each == format; })) {
      throw std::invalid_argument("the attention kernels cast to f32, f16, bf16, e4m3 and e5m2 only");
    }
  }
  p.causal = spec.causal ? 1 : 0;
  if (spec.window) p.has_window = 1, p.before = spec.window->before, p.after = spec.window->after;
  p.prefix = spec.visible_prefix;
  p.has_sink = sizes.sink ? 1 : 0;
  p.page_size = sizes.page_size;
  p.code_bits = sizes.code_bits;
  return p;
}

AttentionFile make_attention_file(const AttentionCase& each, std::uint32_t dead) {
  const attention::KernelSpec spec = attention::parse_spec(each.spec);
  AttentionFile file;
  file.plan = plan_of(spec, each);
  const AttentionPlan& p = file.plan;
  Maker maker(each.name);
  if (is_kivi(each.kernel)) {
    make_kivi(file, maker, dead);
  } else {
    file.inputs["k"] = maker.codes(p.qk.b, static_cast<std::size_t>(p.kv_heads) * p.keys * p.head_dim);
    file.inputs["v"] = maker.codes(p.pv.b, static_cast<std::size_t>(p.kv_heads) * p.keys * p.value_dim);
  }
  file.inputs["q"] = maker.codes(p.qk.a, static_cast<std::size_t>(p.rows()) * p.head_dim);
  const float typical = p.qk.scheme == kIntegerProduct ? 0x1p-13f : 0.25f;
  file.inputs["logit_scale"] = maker.numbers(typical * 0.75f, typical * 1.25f, p.query_heads);
  file.inputs["v_scale"] = maker.numbers(0.1f, 2.0f, static_cast<std::size_t>(p.kv_heads) * p.value_dim);
  file.inputs["sink"] = maker.numbers(-4.0f, 8.0f, p.query_heads);
  set_edge(file, each.edge);

  const std::vector<float> logit_scale = floats(file.input("logit_scale")), v_scale = floats(file.input("v_scale")), sink = floats(file.input("sink"));
  attention::Problem problem;
  problem.shape = {p.query_heads, p.kv_heads, p.queries, p.keys, p.head_dim, p.value_dim};
  problem.q = file.input("q"), problem.k = file.input("k"), problem.v = file.input("v");
  problem.logit_scale = logit_scale, problem.v_scale = v_scale;
  if (each.sink) problem.sink = sink;
  const attention::Stages stages = attention::run(spec, problem, attention::Keep::all);
  file.stages = {{"L", stages.L},           {"S", stages.S}, {"m", stages.m},           {"alpha", stages.alpha},     {"t", stages.t},           {"P", stages.P},
                 {"P_code", stages.P_code}, {"l", stages.l}, {"O_tile", stages.O_tile}, {"row_sum", stages.row_sum}, {"m_last", stages.m_last}, {"O", stages.O}};
  if (is_paged(each.kernel)) make_paged(file, maker, dead);
  if (is_kivi(each.kernel)) file.inputs.erase("k"), file.inputs.erase("v");
  return file;
}

void prepare_attention(const std::string& data) {
  std::filesystem::create_directories(data + "/attention");
  for (const AttentionCase& each : kAttentionCases) write_attention_file(attention_path(data, each.name), make_attention_file(each));
}

}  // namespace halfulp::gpu
