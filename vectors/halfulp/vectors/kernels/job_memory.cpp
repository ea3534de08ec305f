// One shared mapping: a control page, then per column guard pages, its pages and guard pages.
#include "halfulp/vectors/kernels/job_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kGuardBytes = std::size_t{1} << 20;  ///< on each side: a wrong index goes far

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}
std::size_t in_pages(std::size_t bytes) {
  const std::size_t page = page_bytes();
  return (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
}

std::size_t guard_bytes() {
  return in_pages(kGuardBytes);
}

/// The pattern around the columns: never the filler itself, and the complement of the other run's.
constexpr std::byte around(std::byte filler) {
  return filler ^ std::byte{0x96};
}

bool holds_only(std::span<const std::byte> bytes, std::byte value) {
  return std::all_of(bytes.begin(), bytes.end(), [value](std::byte b) { return b == value; });
}

}  // namespace

JobMemory::JobMemory(const RowShape& shape, std::uint64_t most_rows) : most_rows_(most_rows) {
  const std::size_t page = page_bytes(), guard = guard_bytes();
  size_ = in_pages(sizeof(JobControl));
  const auto reserve = [&](const std::vector<KernelColumn>& columns, std::vector<Region>& regions) {
    for (const KernelColumn& column : columns) {
      // A page of pattern before each column shows a write below its start.
      const std::size_t bytes =
          in_pages(static_cast<std::size_t>(most_rows) * column.row_bytes() + kAlignment) + page;
      regions.push_back({nullptr, bytes, column.row_bytes(), column.name});
      size_ += bytes + 2 * guard;
    }
  };
  reserve(shape.inputs, inputs_);
  reserve(shape.outputs, outputs_);
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw KernelFailure(std::string("no shared memory: ") + std::strerror(errno));
  base_ = static_cast<std::byte*>(memory);
  control_ = new (base_) JobControl;
  std::byte* at = base_ + in_pages(sizeof(JobControl));
  for (std::vector<Region>* regions : {&inputs_, &outputs_}) {
    for (Region& region : *regions) {
      mprotect(at, guard, PROT_NONE);
      region.begin = at + guard;
      at = region.begin + region.bytes;
      mprotect(at, guard, PROT_NONE);
      at += guard;
    }
  }
}

JobMemory::~JobMemory() {
  munmap(base_, size_);
}

std::span<std::byte> JobMemory::place(const Region& region, std::uint64_t rows) {
  const std::size_t bytes = static_cast<std::size_t>(rows) * region.row_bytes;
  const std::size_t start = (region.bytes - bytes) / kAlignment * kAlignment;
  return {region.begin + start, bytes};
}

void JobMemory::prepare(std::uint64_t rows, std::byte filler) {
  around_ = around(filler);
  for (const Region& region : outputs_) {
    const std::span<std::byte> data = place(region, rows);
    std::fill(region.begin, data.data(), around_);
    std::fill(data.begin(), data.end(), filler);
    std::fill(data.data() + data.size(), region.begin + region.bytes, around_);
  }
}

std::string JobMemory::overrun(std::uint64_t rows) const {
  for (const Region& region : outputs_) {
    const std::span<std::byte> data = place(region, rows);
    const std::byte* end = data.data() + data.size();
    if (!holds_only({region.begin, data.data()}, around_)) return "before the start of " + region.name;
    if (!holds_only({end, static_cast<std::size_t>(region.begin + region.bytes - end)}, around_))
      return "behind the end of " + region.name;
  }
  return {};
}

void JobMemory::protect_inputs() const {
  for (const Region& region : inputs_) mprotect(region.begin, region.bytes, PROT_READ);
}

void JobMemory::note_fault(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (at >= inputs_[i].begin && at < inputs_[i].begin + inputs_[i].bytes) {
      control_->fault = JobControl::Fault::input_written;
      control_->fault_column = static_cast<std::uint32_t>(i);
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (at >= outputs_[i].begin - kGuardBytes &&
        at < outputs_[i].begin + outputs_[i].bytes + kGuardBytes) {
      control_->fault = JobControl::Fault::output_overrun;
      control_->fault_column = static_cast<std::uint32_t>(i);
    }
  }
}

}  // namespace halfulp::vectors
