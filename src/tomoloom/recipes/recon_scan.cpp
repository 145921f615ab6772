// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/recon_scan.hpp"

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "tomoloom/exchange/part_folder.hpp"
#include "tomoloom/recipes/block_run.hpp"
#include "tomoloom/recipes/recon_files.hpp"
#include "tomoloom/recipes/recon_setup.hpp"

namespace tomoloom {
namespace {

/// Whether another run may succeed from where this one ended.
bool can_go_on(const Error& error) {
  return error.status() == Status::kInterrupted || error.status() == Status::kDiskFull;
}

}  // namespace

std::vector<NamedFile> files_that_are_read(std::span<const NamedFile> inputs) {
  constexpr std::string_view kRead[] = {".tif", ".tiff", ".zattrs", ".zgroup"};
  return with_files_of_folders(inputs, kRead);
}

void check_recon_output(const ReconJob& job, std::span<const NamedFile> texts) {
  std::vector<NamedFile> outputs{{"-o", job.output}};
  outputs.insert(outputs.end(), texts.begin(), texts.end());
  const std::vector<NamedFile> inputs{
      {"the scan", job.scan},     {"--flats", job.flats},
      {"--darks", job.darks},     {"--theta", job.theta},
      {"--shifts", job.shifts},   {"--weights", job.weights},
      {"--centers", job.centres}, {"--filter-weights", job.filter_weights}};
  check_distinct(outputs, files_that_are_read(inputs));
  check_place(job.output);
  remove_dead_temporaries(std::array{job.output});
  if (job.overwrite == Overwrite::kNo && holds_files(job.output)) {
    throw Error(Status::kOutputExists,
                job.output + ": the output exists and --no-clobber was given");
  }
}

void leave_volume(const ReconJob& job, const Error& error, SliceSink& writer,
                  const Observer& observer) {
  if (job.resume && can_go_on(error)) {
    observer.warn(hdf5::part_name(job.output) + " stays: the same command goes on from there");
  } else {
    writer.discard();
  }
}

std::vector<SliceBlock> blocks_left(ReconSetup& setup, const SliceSink& writer,
                                    const Observer& observer) {
  std::vector<SliceBlock> left;
  for (const SliceBlock& block : setup.blocks()) {
    if (!writer.done(block.first, block.count)) left.push_back(block);
  }
  ReconSummary& summary = setup.summary();
  summary.resumed = writer.slices_done();
  if (summary.resumed > 0) {
    observer.info(print("%s: %zu of %zu slices are there from an earlier run",
                        setup.job().output.c_str(), summary.resumed, summary.slices));
  }
  return left;
}

ReconSummary reconstruct_scan(const ReconJob& job, Executor& executor, const Observer& observer) {
  check_recon_output(job);
  ReconSetup setup(job, executor, observer);
  setup.open_rows(setup.blocks());
  const FolderOf folder(job.output);
  setup.find_axis();
  BlockRun run(setup, observer);
  if (!job.resume) run.read_ahead(setup.blocks().front());  // else it may be there already
  setup.make_plan(executor.concurrency());
  const std::unique_ptr<SliceSink> writer =
      open_volume(job, setup.scan(), setup.shape(), setup.notes(), setup.made_on());
  try {
    run.run(blocks_left(setup, *writer, observer), *writer, executor);
    const std::size_t pixels = setup.settle_flaws(run.pixels());
    check_flaws(job, setup.summary(), pixels, observer);
    writer->commit();
  } catch (const Error& error) {
    leave_volume(job, error, *writer, observer);
    throw;
  }
  return setup.summary();
}

}  // namespace tomoloom
