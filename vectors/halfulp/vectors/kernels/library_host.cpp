// Runs in a forked child; see library_host.hpp. Leaves by _exit() only.
#include "halfulp/vectors/kernels/library_host.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include "halfulp/kernel.h"
#include "halfulp/plan.hpp"
#include "halfulp/vectors/kernels/device_memory.hpp"

namespace halfulp::vectors {
namespace {

const JobMemory* g_memory = nullptr;

/// Says whether the fault lies in a column or beside one, then lets the signal do its work.
void on_fault(int number, siginfo_t* info, void*) {
  g_memory->note_fault(info->si_addr);
  signal(number, SIG_DFL);
  raise(number);
}

void catch_faults() {
  for (const int number : {SIGABRT, SIGILL, SIGFPE, SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    signal(number, SIG_DFL);
  static std::byte stack[1 << 16];
  stack_t own{};
  own.ss_sp = stack;
  own.ss_size = sizeof stack;
  sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGSEGV, SIGBUS}) sigaction(number, &action, nullptr);
}

void set_text(JobControl& control, const char* text) {
  std::snprintf(control.text, sizeof control.text, "%s", text != nullptr ? text : "");
}

void reply(int file, HostReply what) {
  const auto byte = static_cast<unsigned char>(what);
  if (write(file, &byte, 1) != 1) _exit(0);  // nobody is there any more
}

using InfoFunction = const halfulp_kernel_description* (*)();
using RunFunction = std::int32_t (*)(const halfulp_job*, halfulp_result*);

/// Answers why it cannot go on, and ends.
[[noreturn]] void refuse(const JobMemory& memory, int replies, HostReply what, const char* text) {
  set_text(memory.control(), text);
  reply(replies, what);
  _exit(0);
}

std::vector<halfulp_column> columns_of(const std::vector<KernelColumn>& columns, const std::vector<void*>& data) {
  std::vector<halfulp_column> all;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t bytes = columns[i].row_bytes();
    all.push_back({sizeof(halfulp_column), columns[i].name.c_str(), columns[i].format.c_str(), data[i], bytes,
                   bytes});
  }
  return all;
}

/// Where the columns of a job lie, inputs first; on the device they are copied there. Throws std::runtime_error.
std::vector<void*> place_columns(const RowShape& shape, const JobMemory& memory, DeviceMemory* device) {
  const std::uint64_t rows = memory.control().rows;
  if (device != nullptr) device->clear();  // what a failed job left
  std::vector<void*> places;
  const auto place = [&](const KernelColumn& column, std::span<std::byte> data) {
    places.push_back(device == nullptr ? data.data() : device->put(column.name, data));
  };
  for (std::size_t i = 0; i < shape.inputs.size(); ++i) place(shape.inputs[i], memory.input(i, rows));
  for (std::size_t i = 0; i < shape.outputs.size(); ++i) place(shape.outputs[i], memory.output(i, rows));
  return places;
}

/// Brings the outputs back from the device; the inputs must be what they were. Throws std::runtime_error, with the fault of the
/// column in the control block.
void bring_back(const RowShape& shape, const JobMemory& memory, DeviceMemory& device) {
  JobControl& control = memory.control();
  const std::uint64_t rows = control.rows;
  const auto suspect = [&](JobControl::Fault fault, std::size_t column) {
    control.fault = fault;
    control.fault_column = static_cast<decltype(control.fault_column)>(column);
  };
  for (std::size_t i = 0; i < shape.inputs.size(); ++i) {
    suspect(JobControl::Fault::input_written, i);
    const auto data = memory.input(i, rows);
    std::vector<std::byte> now(data.size());
    device.get(i, now);
    if (!std::equal(now.begin(), now.end(), data.begin())) {
      throw std::runtime_error("the input column " + shape.inputs[i].name + " was written");
    }
  }
  for (std::size_t i = 0; i < shape.outputs.size(); ++i) {
    suspect(JobControl::Fault::output_overrun, i);
    device.get(shape.inputs.size() + i, memory.output(i, rows));
  }
  suspect(JobControl::Fault::none, 0);
}

/// Runs a step with the device; false after writing down why it failed.
template <class Step>
bool succeeds(JobControl& control, Step step) {
  try {
    step();
    return true;
  } catch (const std::exception& error) {
    control.error = -1;
    set_text(control, error.what());
    return false;
  }
}

void run_job(const RowShape& shape, const JobMemory& memory, RunFunction run, DeviceMemory* device) {
  JobControl& control = memory.control();
  std::vector<void*> places;
  if (!succeeds(control, [&] { places = place_columns(shape, memory, device); })) return;
  const auto split = places.begin() + static_cast<std::ptrdiff_t>(shape.inputs.size());
  const std::vector<halfulp_column> inputs = columns_of(shape.inputs, {places.begin(), split});
  const std::vector<halfulp_column> outputs = columns_of(shape.outputs, {split, places.end()});
  const std::uint32_t where = device == nullptr ? HALFULP_HOST_MEMORY : HALFULP_DEVICE_MEMORY;
  const halfulp_job job = {sizeof(halfulp_job), HALFULP_KERNEL_ABI, where,         shape.spec.c_str(),
                           control.first,       control.rows,       inputs.size(), inputs.data(),
                           outputs.size(),      outputs.data()};
  char message[512] = {};
  halfulp_result result = {sizeof(halfulp_result), 0, 0, message, sizeof message};
  const std::int32_t returned = run(&job, &result);
  control.error = returned != 0 ? returned : result.error;
  message[sizeof message - 1] = 0;
  set_text(control, message);
  if (device == nullptr) return;
  if (control.error == 0 && !succeeds(control, [&] { bring_back(shape, memory, *device); })) return;
  const std::int32_t error = control.error;
  if (succeeds(control, [&] { device->clear(); })) control.error = error;
}

/// `cast:F32->float8_e4m3fn@d,k=v` as `cast:f32:e4m3` and the rest.
std::pair<std::string, std::string_view> split_spec(std::string_view spec) {
  const std::size_t end = std::min(spec.find(','), spec.find('@'));
  const std::string_view rest = end == std::string_view::npos ? std::string_view{} : spec.substr(end);
  const std::string head(spec.substr(0, end));
  try {
    const CastRequest request = parse_cast_spec(head);
    return {"cast:" + std::string(require_format(request.from).name) + ":" +
                std::string(require_format(request.to).name),
            rest};
  } catch (const InputError&) {  // no cast, or nothing that can be asked for
    return {head, rest};
  }
}

}  // namespace

bool lists_spec(std::string_view listed, std::string_view wanted) {
  const auto [head, rest] = split_spec(listed);
  const auto [wanted_head, wanted_rest] = split_spec(wanted);
  return head == wanted_head && (rest.empty() || rest == wanted_rest);
}

void host_library(const std::string& path, const RowShape& shape, const JobMemory& memory, int requests,
                  int replies) {
  g_memory = &memory;
  catch_faults();
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // what a library prints is no result of ours
  memory.protect_inputs();
  const std::string file =
      path.find('/') == std::string::npos ? "./" + path : path;  // never a system library
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) refuse(memory, replies, HostReply::not_loadable, dlerror());
  const auto info = reinterpret_cast<InfoFunction>(dlsym(handle, "halfulp_kernel_info"));
  const auto run = reinterpret_cast<RunFunction>(dlsym(handle, "halfulp_kernel_run"));
  if (info == nullptr) refuse(memory, replies, HostReply::no_symbol, "halfulp_kernel_info");
  if (run == nullptr) refuse(memory, replies, HostReply::no_symbol, "halfulp_kernel_run");
  const halfulp_kernel_description* description = info();
  if (description == nullptr) refuse(memory, replies, HostReply::no_info, "");
  if (description->abi != HALFULP_KERNEL_ABI || description->size < sizeof(halfulp_kernel_description)) {
    const std::string text = "ABI version " + std::to_string(description->abi) + ", description of " +
                             std::to_string(description->size) + " bytes";
    refuse(memory, replies, HostReply::wrong_abi, text.c_str());
  }
  std::optional<DeviceMemory> device;
  if (description->memory != HALFULP_HOST_MEMORY) {
    if (description->memory != HALFULP_DEVICE_MEMORY) refuse(memory, replies, HostReply::device_memory, "there is no such memory");
    device.emplace();
    if (!device->missing().empty()) refuse(memory, replies, HostReply::device_memory, device->missing().c_str());
  }
  std::string listed;
  bool found = description->spec_count == 0;
  for (std::size_t i = 0; i < description->spec_count; ++i) {
    found = found || lists_spec(description->specs[i], shape.spec);
    listed += (i > 0 ? ", " : "") + std::string(description->specs[i]);
  }
  if (!found) refuse(memory, replies, HostReply::spec_not_listed, listed.c_str());
  set_text(memory.control(), description->name);
  reply(replies, HostReply::ready);
  for (unsigned char byte = 0; read(requests, &byte, 1) == 1;) {
    run_job(shape, memory, run, device ? &*device : nullptr);
    reply(replies, memory.control().error == 0 ? HostReply::done : HostReply::error);
  }
  _exit(0);
}

}  // namespace halfulp::vectors
