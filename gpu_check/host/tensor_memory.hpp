// tcgen05 on the thread shim: tensor memory as checked words, mbarriers as barriers of the block, and the matrix instruction as the accumulation
// model of what its addresses, matrix descriptors and instruction descriptor lead to. Copies and products give their results at once, in flight
// (tensor_unit.hpp) until a commit and a wait. Included by kernels/tcgen05.cuh.
#pragma once

#include <string>
#include <vector>

#include "gpu_check/host/tensor_unit.hpp"
#include "gpu_check/kernels/wgmma.cuh"

namespace halfulp::gpu {

namespace host {

inline Array<std::uint32_t> tensor_memory() { return shared_array<std::uint32_t>("tensor memory", kTensorLanes * kTensorWidth); }
/// Index of a word; that of no word when the address is outside what was allocated.
inline std::size_t tensor_index(std::uint32_t address, std::uint32_t lanes, std::uint32_t columns) {
  const std::uint32_t lane = (address >> 16) + lanes, column = (address & 0xffff) + columns - kFirstColumn;
  return lane < kTensorLanes && column < kTensorWidth ? lane * kTensorWidth + column : kTensorLanes * kTensorWidth;
}

/// Words by address, for the running thread or the operation that it issued last. What is in flight for it reads as NaN.
inline std::uint32_t tensor_read(std::uint32_t address, std::uint32_t lanes, std::uint32_t columns, Reach reach, const Where& where) {
  const std::size_t at = tensor_index(address, lanes, columns);
  const std::uint32_t word = tensor_memory()[at];
  return tensor_unit().check(at, "read", reach, where) ? word : all_ones<std::uint32_t>();
}
inline void tensor_write(std::uint32_t address, std::uint32_t lanes, std::uint32_t columns, std::uint32_t word, Reach reach, const Where& where) {
  const std::size_t at = tensor_index(address, lanes, columns);
  tensor_unit().check(at, "written", reach, where);
  tensor_memory()[at] = word;
  if (reach == Reach::operation) tensor_unit().writes(at);
}

/// A warp reaches the 32 lanes of its number, all of it by one address.
inline void check_warp_address(std::uint32_t address, const Where& where) {
  const auto all = exchange(0xffffffffu, address, where);
  if (all[0] != address || address >> 16 != threadIdx.x / kWarp % 4 * kWarp) {
    report(FaultKind::out_of_range, current_access().text() + " asks for lane " + std::to_string(address >> 16) + " of tensor memory, which is not its warp's");
  }
}

/// A field of a descriptor.
inline std::uint32_t field(std::uint64_t descriptor, int first, int last) { return static_cast<std::uint32_t>(descriptor >> first & low_mask(last - first + 1)); }

/// Reports fields of an instruction descriptor that are not of the kind; PTX ISA tables "Instruction descriptor format".
inline void check_instruction(const MmaKind& kind, std::uint32_t instruction) {
  static constexpr std::string_view kFormats[] = {"e4m3", "e5m2", "?", "e2m3", "e3m2", "e2m1", "?", "?"};
  const bool scaled = kind.scales() != 0, packed = kind.element_bits == 4;
  const auto format = [&](std::uint32_t code) { return packed ? (code == 1 ? "e2m1" : "?") : kFormats[code]; };
  std::string wrong;
  const auto expect = [&wrong](bool right, const char* what) { wrong += right ? "" : std::string(" ") + what; };
  expect(format(field(instruction, 7, 9)) == kind.a, "a");
  expect(format(field(instruction, 10, 12)) == kind.b, "b");
  expect(field(instruction, 17, 22) * 8 == static_cast<std::uint32_t>(kind.n), "n");
  expect(field(instruction, 13, 16) == 0 && field(instruction, 0, 3) == 0 && field(instruction, 6, 6) == 0, "negation, transposition or sparsity");
  if (scaled) {
    expect(field(instruction, 27, 28) * 128 == static_cast<std::uint32_t>(kind.m), "m");
    expect((field(instruction, 23, 23) == 1 ? "e8m0" : "ue4m3") == kind.scale_format, "format of scales");
    expect(field(instruction, 24, 26) == 0 && field(instruction, 31, 31) == 0, "reserved bits");
    const auto step = static_cast<std::uint32_t>(kind.scales());
    expect(field(instruction, 4, 5) % step == 0 && field(instruction, 29, 30) % step == 0, "place of scales");
  } else {
    expect(field(instruction, 24, 28) * 16 == static_cast<std::uint32_t>(kind.m), "m");
    expect((field(instruction, 4, 5) == 1 ? "f32" : field(instruction, 4, 5) == 0 ? "f16" : "?") == kind.output, "d");
    expect(field(instruction, 23, 23) == 0 && field(instruction, 29, 31) == 0, "reserved bits");
  }
  if (!wrong.empty()) report(FaultKind::out_of_range, "instruction descriptor of " + std::string(kind.name) + ":" + wrong);
}

/// Codes of one row of a, or column of b, as they lie in 32 bytes: FP6 and FP4 of kind::f8f6f4 packed in the front of each 16 bytes.
inline std::vector<std::uint32_t> unpack_row(const std::uint32_t (&bytes)[32], int element_bits, unsigned code_bits) {
  std::vector<std::uint32_t> codes;
  const unsigned width = element_bits == 4 ? 4 : code_bits, per_half = element_bits == 4 ? 32 : 16;
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned i = 0; i < per_half; ++i) {
      std::uint32_t code = 0;
      for (unsigned bit = 0; bit < width; ++bit) {
        const unsigned at = i * width + bit;
        code |= (bytes[half * 16 + at / 8] >> at % 8 & 1) << bit;
      }
      codes.push_back(code);
    }
  }
  return codes;
}

}  // namespace host

// The instructions by name, as kernels/tcgen05.cuh has them for a device.

inline void tensor_memory_get(const host::Array<std::uint32_t>& at, HALFULP_HERE) {
  host::tensor_memory();
  host::exchange(0xffffffffu, 0, {file, line});
  if (threadIdx.x % kWarp != 0) return;
  host::tensor_unit().have();
  at[0] = host::kFirstColumn;
}
inline void tensor_memory_give_back(std::uint32_t address, HALFULP_HERE) {
  host::exchange(0xffffffffu, 0, {file, line});
  if (address != host::kFirstColumn) host::report(host::FaultKind::lifetime, "tensor memory is given back that was not had");
  if (threadIdx.x % kWarp == 0) host::tensor_unit().give_back({file, line});
}
inline void tensor_memory_store(std::uint32_t address, const std::uint32_t (&words)[16], HALFULP_HERE) {
  host::check_warp_address(address, {file, line});
  host::tensor_unit().use("stored", {file, line});
  for (std::uint32_t i = 0; i < 16; ++i) host::tensor_write(address, threadIdx.x % kWarp, i, words[i], host::Reach::thread, {file, line});
}
inline void tensor_memory_load(std::uint32_t address, std::uint32_t (&words)[16], HALFULP_HERE) {
  host::check_warp_address(address, {file, line});
  const bool had = host::tensor_unit().use("loaded", {file, line});
  for (std::uint32_t i = 0; i < 16; ++i) {
    words[i] = had ? host::tensor_read(address, threadIdx.x % kWarp, i, host::Reach::thread, {file, line}) : host::all_ones<std::uint32_t>();
  }
}
inline void syncthreads_with_tensor_memory(HALFULP_HERE) { __syncthreads(file, line); }

inline void tensor_memory_copy_scales(std::uint32_t address, std::uint64_t rows, HALFULP_HERE) {
  host::tensor_unit().issue("tcgen05.cp", {file, line});
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::uint32_t bytes[16];
    host::read_bytes(rows, lane, bytes);
    for (std::uint32_t word = 0; word < 4; ++word) {
      const std::uint32_t value = bytes[4 * word] | bytes[4 * word + 1] << 8 | bytes[4 * word + 2] << 16 | bytes[4 * word + 3] << 24;
      for (std::uint32_t copy = 0; copy < 4; ++copy) host::tensor_write(address, 32 * copy + lane, word, value, host::Reach::operation, {file, line});
    }
  }
}

template <MmaInstruction I>
void tcgen05_mma(std::uint32_t d, std::uint64_t a, std::uint64_t b, std::uint32_t instruction, std::uint32_t scale_a, std::uint32_t scale_b, HALFULP_HERE) {
  host::tensor_unit().issue("tcgen05.mma", {file, line});
  constexpr MmaKind kKind = kind_of(I);
  constexpr auto kScales = static_cast<std::size_t>(kKind.scales());
  host::check_instruction(kKind, instruction);
  const auto codes = [](std::uint64_t descriptor, std::uint32_t row, std::string_view format) {
    if (host::field(descriptor, 46, 63) != 1) host::report(host::FaultKind::out_of_range, "a matrix descriptor is not one of tcgen05 without swizzle");
    std::uint32_t bytes[32];
    host::read_bytes(descriptor, row, bytes);
    return host::unpack_row(bytes, kKind.element_bits, static_cast<unsigned>(MmaKind::code_bits(format)));
  };
  // Row 32 j + i finds its scales in lane i of column j, in the copy of its own 32 lanes; so does a column.
  const auto scales = [&](std::uint32_t base, std::uint32_t row, std::uint32_t own, std::uint32_t first, std::uint32_t (&into)[4]) {
    const std::uint32_t word = host::tensor_read(base, own / 32 * 32 + row % 32, row / 32, host::Reach::operation, {file, line});
    for (std::uint32_t i = 0; i < kScales; ++i) into[i] = word >> (8 * (first + i)) & 0xff;
  };
  std::vector<std::vector<std::uint32_t>> columns;
  for (std::uint32_t column = 0; column < static_cast<std::uint32_t>(kKind.n); ++column) columns.push_back(codes(b, column, kKind.b));
  for (std::uint32_t row = 0; row < static_cast<std::uint32_t>(kKind.m); ++row) {
    const std::vector<std::uint32_t> left = codes(a, row, kKind.a);
    std::uint32_t of_row[4] = {}, of_column[4] = {};
    if (kScales != 0) scales(scale_a, row, row, host::field(instruction, 29, 30), of_row);
    for (std::uint32_t column = 0; column < columns.size(); ++column) {
      if (kScales != 0) scales(scale_b, column, row, host::field(instruction, 4, 5), of_column);
      const std::uint32_t c = host::tensor_read(d, row, column, host::Reach::operation, {file, line});
      const std::uint32_t sum = host::model_dot(I, left, columns[column], kKind.output == "f16" ? c & 0xffff : c, {of_row, kScales}, {of_column, kScales});
      host::tensor_write(d, row, column, sum, host::Reach::operation, {file, line});
    }
  }
}

// An mbarrier of one arrival: 1 from the start, 2 once it came.
inline void matrix_barrier_start(const host::Array<std::uint64_t>& barrier) { barrier[0] = 1; }
inline void tcgen05_commit(const host::Array<std::uint64_t>& barrier) {
  host::tensor_unit().commit(barrier.memory());
  barrier[0] = static_cast<std::uint64_t>(barrier[0]) + 1;
}
inline void matrix_barrier_wait(const host::Array<std::uint64_t>& barrier, HALFULP_HERE) {
  host::wait_for_block({file, line});
  if (barrier[0] == 2) return host::tensor_unit().arrive(barrier.memory());
  host::report(host::FaultKind::divergence, host::current_access().text() + " waits for an mbarrier at which nothing arrives");
}

}  // namespace halfulp::gpu
