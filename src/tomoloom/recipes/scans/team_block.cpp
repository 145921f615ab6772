// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/scans/team_block.hpp"

#include "loom/base/stop.hpp"
#include "tomoloom/recipes/recon_block.hpp"

namespace tomoloom::scans {
namespace {

/// Rows of the block that a member reads and prepares: SharedDirect's lines, before there is one.
SliceBlock part_of(const SliceBlock& block, const TeamLink& link) {
  const Stretch rows = even_part(block.count, link.members(), link.member());
  return {block.first + rows.first, rows.size()};
}

/// Line integrals of the member's rows, as wide as slices.
LargeVector<float> prepared_lines(ReconSetup& setup, const SliceBlock& part, Executor& executor,
                                  const Observer& observer) {
  LargeVector<float> integrals;
  if (part.count == 0) return integrals;
  ReconSummary& summary = setup.summary();
  StageClock clock;
  const SliceBlock rows = setup.rows_of(part);
  RawBlock raw;
  read_block(setup.source(), rows.first, rows.count, observer, raw);
  summary.read += clock.lap();
  const PixelFlaws flaws =
      prepare_lines(setup.rest(), setup.frames().layout(), raw, executor, integrals);
  summary.flaws += flaws;
  summary.compute += clock.lap();
  return integrals;
}

}  // namespace

bool takes_teams(const ReconJob& job) noexcept {
  return (job.method == Method::kExact || job.method == Method::kGridrec) && job.tilt_deg == 0 &&
         !on_card(job.backend);
}

void open_lines(ReconSetup& setup, const SliceBlock& block, const TeamLink& link) {
  const SliceBlock part = part_of(block, link);
  setup.open_rows({part.count > 0 ? part : block});  // who has none reads none
}

void make_block_together(ReconSetup& setup, const SliceBlock& block, TeamLink& link,
                         SliceSink& writer, Executor& executor, const Observer& observer) {
  stop_if_asked(observer);
  const LargeVector<float> integrals =
      prepared_lines(setup, part_of(block, link), executor, observer);
  stop_if_asked(observer);
  ReconSummary& summary = setup.summary();
  StageClock clock;
  DirectEngine engine(*setup.plan().grid);
  const std::size_t image = setup.plan().image();
  LargeVector<float> slices;
  if (link.member() == 0) slices.resize(block.count * image * image);
  SharedDirect(engine, link, block.count).reconstruct(integrals, slices, executor);
  if (link.member() == 0) finish_slices(setup.rest(), image, slices, executor);
  summary.compute += clock.lap();
  stop_if_asked(observer);
  if (link.member() > 0) return;
  writer.write(block.first, slices);
  summary.write += clock.lap();
  if (observer.progress) {
    observer.progress("slices", summary.resumed + block.count, summary.slices);
  }
}

}  // namespace tomoloom::scans
