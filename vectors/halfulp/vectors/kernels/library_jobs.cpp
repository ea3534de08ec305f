// Columns into shared memory and out of it; see library_jobs.hpp.
#include "halfulp/vectors/kernels/library_jobs.hpp"

#include <algorithm>

#include "halfulp/error.hpp"
#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::uint64_t kMostRows = 1 << 16;              ///< of a job
constexpr std::size_t kMostBytes = std::size_t{1} << 24;  ///< of a job's columns

std::uint64_t rows_per_job(const RowShape& shape) {
  const std::size_t row = std::max<std::size_t>(1, shape.input_bytes() + shape.output_bytes());
  return std::max<std::uint64_t>(
      1, std::min<std::uint64_t>({kMostRows, kMostBytes / row, std::max<std::uint64_t>(1, shape.rows)}));
}

}  // namespace

LibraryJobs::LibraryJobs(std::string path, RowShape shape, const LibraryOptions& options)
    : path_(std::move(path)),
      shape_(std::move(shape)),
      options_(options),
      memory_(shape_, rows_per_job(shape_)) {
  start();
  name_ = printable(memory_.control().text, 200);
}

void LibraryJobs::start() {
  process_.reset();
  memory_.control().fault = JobControl::Fault::none;
  process_.emplace(path_, shape_, memory_);
  const LibraryProcess::Reply reply = process_->wait(options_.timeout);
  if (reply.kind == LibraryProcess::Reply::Kind::ended)
    throw KernelFailure("while it was loaded: " + status_text(reply.wait_status), Trouble::crash);
  if (reply.kind == LibraryProcess::Reply::Kind::timed_out)
    throw KernelFailure("it was not loaded within " + duration_text(options_.timeout), Trouble::time_out);
  const std::string what = "library '" + printable(path_, 200) + "'";
  const std::string text = printable(memory_.control().text, 400);
  switch (reply.what) {
    case HostReply::not_loadable:
      throw InputError(what, "it cannot be loaded (" + text + ")", "check the file");
    case HostReply::no_symbol:
      throw InputError(what, "it exports no " + text, "export the two functions of halfulp/kernel.h");
    case HostReply::wrong_abi:
      throw InputError(what, text + ", and this command has version 1",
                       "compile it with this halfulp/kernel.h");
    case HostReply::no_info:
      throw InputError(what, "halfulp_kernel_info() returned NULL: it cannot run here",
                       "see what it needs");
    case HostReply::device_memory:
      throw InputError(what, "it asks for device memory, and " + text,
                       "run it where the device is, or copy from and to the host in halfulp_kernel_run()");
    case HostReply::spec_not_listed:
      throw InputError(what, "it does not list " + shape_.spec + " (it lists " + text + ")",
                       "name one of its SPECs");
    default: return;
  }
}

LibraryProcess::Reply LibraryJobs::run(const RowJob& job, std::uint64_t begin, std::uint64_t rows,
                                       std::byte filler, std::chrono::milliseconds timeout) {
  if (!process_) start();
  for (std::size_t c = 0; c < shape_.inputs.size(); ++c) {
    const std::size_t bytes = shape_.inputs[c].row_bytes();
    const auto data = job.inputs[c].subspan(static_cast<std::size_t>(begin) * bytes,
                                            static_cast<std::size_t>(rows) * bytes);
    std::copy(data.begin(), data.end(), memory_.input(c, rows).begin());
  }
  memory_.prepare(rows, filler);
  JobControl& control = memory_.control();
  control.fault = JobControl::Fault::none;
  control.first = job.first + begin;
  control.rows = rows;
  const auto start_time = std::chrono::steady_clock::now();
  process_->request();
  const LibraryProcess::Reply reply = process_->wait(timeout);
  if (reply.kind == LibraryProcess::Reply::Kind::answered)
    longest_ = std::max(longest_, std::chrono::duration_cast<std::chrono::milliseconds>(
                                      std::chrono::steady_clock::now() - start_time));
  else
    process_.reset();
  return reply;
}

void LibraryJobs::take(const RowJob& job, std::uint64_t begin, std::uint64_t rows) const {
  for (std::size_t c = 0; c < shape_.outputs.size(); ++c) {
    const auto data = memory_.output(c, rows);
    std::copy(
        data.begin(), data.end(),
        job.answers[c].begin() + static_cast<std::ptrdiff_t>(begin * shape_.outputs[c].row_bytes()));
  }
}

}  // namespace halfulp::vectors
