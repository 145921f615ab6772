// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/trace_step.hpp"

#include <algorithm>
#include <string>

#include "fiberloom/extract/traces/trace_shifts.hpp"
#include "fiberloom/recipes/frame_header.hpp"
#include "fiberloom/simulate/sky_lines.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

std::vector<ReferenceLine> sky_lines() {
  std::vector<ReferenceLine> lines;
  for (const SkyLine& line : night_sky_lines()) lines.push_back({line.wave_aa, line.strength});
  return lines;
}

void tell(const TraceReport& traces, const TraceRequest& request, const Observer& observer) {
  for (std::size_t p = 0; p < kTraceParameters; ++p) {
    const bool width = p >= static_cast<std::size_t>(TraceParameter::kSigmaX);
    if (width && !request.widths) continue;
    const TraceFit& fit = traces.parameters[p];
    const char* name = kTraceParameterNames[p];
    if (!fit.measured()) {
      observer.warn(print("trace shifts: nothing was seen of %s, it stays", name));
      continue;
    }
    const TraceSpread spread = spread_of(traces, static_cast<TraceParameter>(p));
    observer.info(
        print("trace shifts: %s %+.4f pixels on average (%+.4f to %+.4f, error %.4f in "
              "the middle), degree %d, %zu windows, %zu left out",
              name, spread.mean, spread.least, spread.most, fit.error(traces.degree, 0, 0),
              fit.degree, fit.windows, fit.dropped));
  }
  if (!traces.settled)
    observer.warn("trace shifts: the traces did not come to rest, or fit the pixels no better");
}

}  // namespace

TraceReport find_traces(const ExtractJob& job, const PreparedFrame& frame, const Engine& engine,
                        Executor& executor, const Observer& observer, Tracer* tracer) {
  const Span span(tracer, "compute/traces");
  TraceRequest request;
  request.degree = job.trace_shifts;
  request.widths = job.trace_widths;
  request.lines = sky_lines();
  const ExtractOptions options = plain_options(frame.options);
  Observer quiet = observer;  // the extraction afterwards warns of what there is to warn of
  quiet.message = {};
  quiet.progress = {};
  const auto extract = [&](const CcdFrame& ccd, const PsfModel& psf) {
    return engine.extract(ccd, psf, options, executor, quiet, nullptr);
  };
  TraceReport traces = measure_trace_shifts(frame.in.preproc.ccd, frame.in.psf->model, options,
                                            request, extract, executor, quiet);
  tell(traces, request, observer);
  return traces;
}

TraceSpread spread_of(const TraceReport& traces, TraceParameter parameter) {
  constexpr int kPlaces = 11;
  const TraceFit& fit = traces.parameters[static_cast<std::size_t>(parameter)];
  TraceSpread spread{fit.value(traces.degree, -1, -1), 0, fit.value(traces.degree, -1, -1)};
  for (int i = 0; i < kPlaces; ++i) {
    for (int k = 0; k < kPlaces; ++k) {
      const double value =
          fit.value(traces.degree, 2.0 * i / (kPlaces - 1) - 1, 2.0 * k / (kPlaces - 1) - 1);
      spread.least = std::min(spread.least, value);
      spread.most = std::max(spread.most, value);
      spread.mean += value / (kPlaces * kPlaces);
    }
  }
  return spread;
}

HeaderCards trace_notes(const PreparedFrame& frame, const TraceReport& traces) {
  HeaderCards notes;
  const auto add = [&](const std::string& axis, TraceParameter parameter) {
    const TraceSpread spread = spread_of(traces, parameter);
    notes.set("MEAND" + axis, spread.mean, "[pixels] mean shift of the traces");
    notes.set("MIND" + axis, spread.least, "[pixels] least");
    notes.set("MAXD" + axis, spread.most, "[pixels] most");
  };
  add("X", TraceParameter::kX);
  add("Y", TraceParameter::kY);
  if (const auto expid = frame.in.preproc.header.integer("EXPID")) notes.set("EXPID", *expid);
  notes.set("IN_PSF", shorten_filename(frame.in.psf->path), "PSF before the shifts");
  notes.set("IN_IMAGE", shorten_filename(frame.in.preproc.path),
            "image that they were measured on");
  return notes;
}

}  // namespace fiberloom
