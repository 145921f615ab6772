// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/preview_scan.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numbers>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/page/page.hpp"
#include "tomoloom/exchange/image_stack.hpp"
#include "tomoloom/exchange/scan_reader.hpp"
#include "tomoloom/exchange/scan_window.hpp"
#include "tomoloom/prepare/circle.hpp"
#include "tomoloom/recipes/axis_finder.hpp"
#include "tomoloom/recipes/recon_block.hpp"
#include "tomoloom/recipes/recon_files.hpp"
#include "tomoloom/recipes/recon_setup.hpp"
#include "tomoloom/recipes/view_page.hpp"
#include "tomoloom/recipes/view_plane.hpp"
#include "tomoloom/reconstruct/centre.hpp"
#include "tomoloom/reconstruct/plane_sums.hpp"
#include "tomoloom/reconstruct/shift_rows.hpp"

namespace tomoloom {
namespace {

using PreviewClock = std::chrono::steady_clock;

/// Columns of a plane at most, so that one second is enough.
constexpr std::size_t kMostColumns = 512;
/// Projections that are read and added together.
constexpr std::size_t kAtOnce = 16;
/// Of a scan that is written without a word the parts that a poll waits for.
constexpr auto kNap = std::chrono::milliseconds(50);

double seconds_since(PreviewClock::time_point when) {
  return std::chrono::duration<double>(PreviewClock::now() - when).count();
}

/// Whether a file can be opened for reading alone: no longer written by anybody.
bool is_finished(const std::string& scan) {
  try {
    const hdf5::Reader reader(scan);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// A look at the scan as it is now, its pixels averaged.
std::unique_ptr<ScanWindow> look_at(const ReconJob& job, const GivenNumbers& given,
                                    std::size_t& bin) {
  auto scan = std::make_unique<ScanReader>(job.scan, job.group, hdf5::Writing::kMayGoOn);
  tell_scan(job, given, *scan);
  WindowChoice window = job.window;
  const std::size_t columns = window.end_column.value_or(scan->layout().columns) -
                              std::min(window.first_column, scan->layout().columns);
  window.bin *= std::max<std::size_t>(1, (columns / window.bin + kMostColumns - 1) / kMostColumns);
  bin = window.bin = std::max<std::size_t>(1, std::min(window.bin, scan->layout().rows));
  return std::make_unique<ScanWindow>(std::move(scan), window);
}

class Preview {
 public:
  Preview(const ReconJob& job, const PreviewChoice& choice, Executor& executor,
          const Observer& observer, const std::function<void(const std::string&)>& write)
      : job_(job), choice_(choice), executor_(executor), observer_(observer), write_(write) {}

  PreviewSummary run() {
    bool told = false;
    for (;;) {
      stop_if_asked(observer_);
      const bool grew = look();
      scan_.reset();  // its writer may want to open it again
      if (!grew && !sums_ && !std::exchange(told, true)) {
        observer_.info("waiting for " + job_.scan);
      }
      if (whole()) {
        if (finish()) break;
        continue;
      }
      if (grew) continue;
      if (seconds_since(grown_) > choice_.patience_s) {
        give_up();
        break;
      }
      std::this_thread::sleep_for(kNap);
    }
    return summary_;
  }

 private:
  /// A scan that does not say how many projections there will be is whole when nobody writes it.
  [[nodiscard]] bool whole() const {
    const bool told = layout_.says_expected || !given_.theta.empty() || !given_.shifts.empty() ||
                      !given_.weights.empty();
    return sums_ && summary_.projections == layout_.expected && (told || is_finished(job_.scan));
  }

  /// Takes up what is new; whether there was something.
  bool look() {
    try {
      std::size_t bin = 1;
      scan_ = look_at(job_, given_, bin);
      const ScanLayout& now = scan_->layout();
      if (now.angles == 0) return false;
      const bool anew = !sums_ || !goes_on(now);
      if (sums_ && !is_same_scan(now)) {  // another one has its axis elsewhere
        axis_.reset();
        looked_ = false;
      }
      if (anew) gains_ = find_gains(now);  // may fail: nothing has begun yet
      layout_ = now;
      all_theta_ = radians(layout_);
      if (anew) begin(bin);
      return take_up();
    } catch (const Error& error) {
      // not there yet, or being written in a way that does not let it be read
      const bool waits = sums_ || seconds_since(grown_) < choice_.patience_s;
      if (!may_come(error.status()) || !waits) throw;
      return false;
    }
  }
  static bool may_come(Status status) {
    return status == Status::kNotFound || status == Status::kCorrupt ||
           status == Status::kMissingHdu || status == Status::kWrongShape;
  }
  /// Whether what is there now may be what was there before, and more.
  [[nodiscard]] bool is_same_scan(const ScanLayout& now) const {
    return now.rows == layout_.rows && now.columns == layout_.columns &&
           now.angles >= summary_.projections;
  }
  /// Whether what has been taken up is part of what is there now.
  [[nodiscard]] bool goes_on(const ScanLayout& now) const {
    return is_same_scan(now) && now.flats + now.darks == layout_.flats + layout_.darks;
  }
  /// From the first projection on, with the flats and the axis that are known now.
  void begin(std::size_t bin) {
    ReconJob own = job_;
    own.window.bin = summary_.bin = bin;
    summary_.projections = 0;
    theta_.clear();
    weights_ = 0;
    rows_for_axis_.clear();
    own = in_window(std::move(own), layout_);
    lean_ = own.centre_last ? *own.centre_last - *own.centre : 0;
    if (!axis_ && !layout_.axis.empty()) axis_ = common_axis(layout_);
    if (!axis_) axis_ = own.centre.value_or(middle_of_row(layout_)) + lean_ / 2;
    summary_.axis = own.window.to_detector(*axis_);
    const std::size_t n = layout_.columns;
    cut_ = {.slice = layout_.rows / 2, .row = n / 2, .column = n / 2};
    sums_.emplace(layout_.rows, n, *axis_, cut_, job_.tilt_deg * std::numbers::pi / 180);
  }
  [[nodiscard]] std::vector<Gain> find_gains(const ScanLayout& layout) const {
    RawBlock block{.first = 0, .rows = layout.rows, .projections = {}, .flats = {}, .darks = {}};
    ScanLayout known = layout;
    if (job_.input == InputKind::kCounts) {
      if (layout.flats > 0)
        scan_->frames(layout.white, 0, layout.flats, 0, layout.rows, block.flats);
      if (layout.darks > 0)
        scan_->frames(layout.dark, 0, layout.darks, 0, layout.rows, block.darks);
      if (layout.flats == 0 && !layout.has_flat_value) known.flat_value = brightest(layout);
    }
    return gains_of(job_, known, block);
  }
  /// Stands for flats that are not there yet: what the first projection has most of.
  [[nodiscard]] double brightest(const ScanLayout& layout) const {
    FrameBlock first;
    scan_->frames(layout.data, 0, 1, 0, layout.rows, first);
    double most = 0;
    for (const auto count : first.counts) most = std::max(most, static_cast<double>(count));
    for (const auto count : first.floats)
      if (std::isfinite(count)) most = std::max(most, static_cast<double>(count));
    return most > 0 ? most : 1;
  }

  bool take_up() {
    const std::size_t before = summary_.projections;
    summary_.expected = layout_.expected;
    while (summary_.projections < layout_.angles) {
      stop_if_asked(observer_);
      const std::size_t first = summary_.projections;
      const std::size_t count = std::min(kAtOnce, layout_.angles - first);
      const std::size_t there = add(first, count);
      summary_.projections += there;
      if (summary_.pages > 0 && seconds_since(shown_) > choice_.every_s) show(true);
      if (observer_.progress)
        observer_.progress("projections", summary_.projections, layout_.expected);
      if (there < count) break;
    }
    if (summary_.projections == before) return false;
    grown_ = PreviewClock::now();
    if (!whole()) show(true);
    return true;
  }

  /// Adds projections; how many were there: of a scan whose frames have their place before they are
  /// written those that follow are 0 everywhere.
  std::size_t add(std::size_t first, std::size_t count) {
    const std::size_t pixels = layout_.rows * layout_.columns;
    scan_->frames(layout_.data, first, count, 0, layout_.rows, raw_);
    integrals_.resize(count * pixels);
    std::vector<char> empty(count, 1);
    executor_.run(count, [&](std::size_t f) {
      const auto is_zero = [](auto value) { return value == 0; };
      const auto frame = [&](const auto& values) {
        return std::all_of(values.begin() + static_cast<std::ptrdiff_t>(f * pixels),
                           values.begin() + static_cast<std::ptrdiff_t>((f + 1) * pixels), is_zero);
      };
      empty[f] = raw_.counts.empty() ? frame(raw_.floats) : frame(raw_.counts);
      const std::span<float> out(integrals_.data() + f * pixels, pixels);
      if (job_.input == InputKind::kIntegrals) {
        copy_integrals(raw_, f, out);
      } else {
        to_transmissions(job_, layout_, raw_, f, first + f, gains_, out);
        minus_log(out);
      }
      const float share = 1 / static_cast<float>(summary_.bin);
      for (float& value : out) value *= share;
    });
    const auto there =
        static_cast<std::size_t>(std::find(empty.begin(), empty.end(), 1) - empty.begin());
    const std::span<const double> theta = std::span(all_theta_).subspan(first, there);
    const std::span<float> integrals = std::span(integrals_).first(there * pixels);
    move(first, integrals);
    if (job_.search != AxisSearch::kNone) keep_rows(integrals);
    weigh(first, integrals);
    sums_->add(integrals, theta, executor_);
    theta_.insert(theta_.end(), theta.begin(), theta.end());
    return there;
  }
  /// Projections by their own shifts, rows as a leaning axis wants it.
  void move(std::size_t first, std::span<float> integrals) const {
    const std::size_t n = layout_.columns, count = integrals.size() / (layout_.rows * n);
    if (!layout_.shift.empty()) {
      const auto shift = std::span(layout_.shift).subspan(first, count);
      shift_projections(integrals, layout_.rows, n, shift, executor_);
    }
    straighten(integrals, layout_, lean_, 0, layout_.rows, executor_);
  }
  void keep_rows(std::span<const float> integrals) {
    const std::size_t n = layout_.columns;
    const std::vector<std::size_t> kept = rows_spread(0, layout_.rows, kCentreRows);
    for (std::size_t frame = 0; frame < integrals.size(); frame += layout_.rows * n) {
      for (const std::size_t row : kept) {
        const auto line = integrals.subspan(frame + row * n, n);
        rows_for_axis_.insert(rows_for_axis_.end(), line.begin(), line.end());
      }
    }
  }
  void weigh(std::size_t first, std::span<float> integrals) {
    const std::size_t pixels = layout_.rows * layout_.columns, count = integrals.size() / pixels;
    for (std::size_t f = 0; f < count; ++f) {
      const double weight = layout_.weight.empty() ? 1 : layout_.weight[first + f];
      weights_ += weight;
      if (weight == 1) continue;
      for (float& value : integrals.subspan(f * pixels, pixels)) {
        value *= static_cast<float>(weight);
      }
    }
  }

  /// Once more from the beginning, where angles came late or the axis is found elsewhere.
  bool finish() {
    const auto as_taken = [](double a, double b) { return a == b || (a != a && b != b); };
    if (!std::equal(theta_.begin(), theta_.end(), all_theta_.begin(), as_taken)) {
      begin(summary_.bin);
      return false;
    }
    if (job_.search != AxisSearch::kNone && !looked_) {
      looked_ = true;
      const std::size_t n = layout_.columns, kept = std::min(kCentreRows, layout_.rows);
      const double width = static_cast<double>(n);
      const auto found = find_centre({.data = rows_for_axis_.data(),
                                      .slices = kept,
                                      .angle_stride = kept * n,
                                      .slice_stride = n},
                                     n, theta_, width / 4, 3 * width / 4, executor_);
      if (found && std::abs(*found - *axis_) > 0.05) {
        axis_ = found;
        begin(summary_.bin);
        return false;
      }
    }
    show(false);
    return true;
  }
  void give_up() {
    show(false);
    observer_.warn(print("%s: has not grown for %.0f s: %zu of %zu projections are there",
                         job_.scan.c_str(), choice_.patience_s, summary_.projections,
                         summary_.expected));
  }

  /// What each angle stands for, of weight 1: its part of the half turn, or of what is seen of it
  /// so far.
  [[nodiscard]] double share() const {
    const auto [low, high] = std::minmax_element(theta_.begin(), theta_.end());
    const auto n = static_cast<double>(theta_.size());
    const double arc = theta_.size() > 1 ? (*high - *low) * n / (n - 1) : std::numbers::pi;
    return weights_ > 0 ? std::min(arc, std::numbers::pi) / weights_ : 0;
  }

  void show(bool renews) {
    if (theta_.empty()) return;
    const std::size_t n = layout_.columns, bin = summary_.bin;
    std::vector<float> slice = sums_->slice(share());
    mask_circle(slice, n, 1);
    const std::vector<float> row = sums_->row(share()), column = sums_->column(share());
    Histogram histogram;
    const auto [low, high] = std::minmax_element(slice.begin(), slice.end());
    histogram.low = static_cast<double>(*low);
    histogram.high = static_cast<double>(*high);
    for (const auto& values : {slice, row, column}) histogram.add(values);
    const auto plane = [&](const char* title, std::size_t height, std::span<const float> values) {
      Plane picture(height, n);
      picture.set(values);
      return picture.json(title, "volume");
    };
    const std::string name = page::to_utf8(std::filesystem::path(job_.scan).filename().string());
    Json facts = Json::array();
    facts.push_back({"projections", print("%zu of %zu", summary_.projections, layout_.expected)});
    facts.push_back({"angles", print("%g to %g degrees", layout_.theta_deg.front(),
                                     layout_.theta_deg[summary_.projections - 1])});
    facts.push_back({"axis", print("column %.2f of the detector", summary_.axis)});
    facts.push_back({"pixels averaged", print("%zu x %zu", bin, bin)});
    const Json data{{"name", name},
                    {"size", {layout_.rows, n, n}},
                    {"cut", {cut_.slice, cut_.row, cut_.column}},
                    {"renews", renews},
                    {"facts", facts},
                    {"histogram", histogram.json()},
                    {"planes",
                     {plane("slice", n, slice), plane("row", layout_.rows, row),
                      plane("column", layout_.rows, column)}}};
    const auto renew_s = static_cast<unsigned>(std::max(1.0, std::round(choice_.every_s)));
    write_(page_of(data, name, renews ? renew_s : 0));
    shown_ = PreviewClock::now();
    if (summary_.pages++ == 0) summary_.first_s = seconds_since(start_);
  }

  const ReconJob& job_;
  /// Read before the first look, which waits for what is not there: these files must be.
  const GivenNumbers given_ = read_numbers(job_);
  const PreviewChoice& choice_;
  Executor& executor_;
  const Observer& observer_;
  const std::function<void(const std::string&)>& write_;
  const PreviewClock::time_point start_ = PreviewClock::now();
  PreviewClock::time_point grown_ = start_, shown_ = start_;
  PreviewSummary summary_;
  std::unique_ptr<ScanWindow> scan_;
  ScanLayout layout_;           ///< of the last look that saw something
  std::optional<double> axis_;  ///< column of the window, in the middle row
  double lean_ = 0;             ///< columns from the first row to the last
  bool looked_ = false;         ///< for the axis
  PlaneCut cut_;
  std::optional<PlaneSums> sums_;
  std::vector<Gain> gains_;
  std::vector<double> all_theta_;  ///< of the last look that saw something, radians
  std::vector<double> theta_;      ///< of what was taken up
  double weights_ = 0;             ///< sum over theta_
  FrameBlock raw_;
  std::vector<float> integrals_;
  std::vector<float> rows_for_axis_;  ///< [angle][row][column]
};

}  // namespace

PreviewSummary preview_scan(const ReconJob& job, const PreviewChoice& choice, Executor& executor,
                            const Observer& observer,
                            const std::function<void(const std::string& page)>& show) {
  if (is_stack(job.scan)) {
    throw Error(Status::kUnsupported, job.scan + ": --preview is for Data Exchange files");
  }
  if (job.acquisition != Acquisition::kFull) {
    throw Error(Status::kUnsupported, job.scan + ": --preview goes with --acquisition full");
  }
  check_choices(job);
  return Preview(job, choice, executor, observer, show).run();
}

void wait_for_writer(const std::string& scan, double patience_s, const Observer& observer) {
  const auto start = PreviewClock::now();
  while (seconds_since(start) < patience_s && !is_finished(scan)) {  // who reads it says why not
    stop_if_asked(observer);
    std::this_thread::sleep_for(kNap);
  }
}

}  // namespace tomoloom
