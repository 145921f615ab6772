// SPDX-License-Identifier: BSD-3-Clause
// The small kernels of the device on the CPU in its place: images by columns, the exact median, the
// prior. The others are held against the CPU's engine as a whole in tests/fiberloom/gpu/.
#include "fiberloom/extract/exact/gpu/kernels.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "fiberloom/extract/exact/test_bundle.hpp"
#include "loom/device/emulated_device.hpp"

namespace fiberloom::exact::gpu {
namespace {

/// Arrays on an emulated card, with one order of threads.
class Card {
 public:
  explicit Card(GridOrder order)
      : device_(make_emulated_device({.order = order})), stream_(device_->make_stream()) {}
  template <class T>
  T* put(const std::vector<T>& values) {
    const std::size_t bytes = values.size() * sizeof(T);
    memory_.emplace_back(*device_, bytes);
    const HostMemory host(*device_, bytes);
    std::memcpy(host.data(), values.data(), bytes);
    stream_->copy_in(memory_.back().data(), host.data(), bytes);
    stream_->synchronize();
    return static_cast<T*>(memory_.back().data());
  }
  template <class T>
  std::vector<T> get(const T* from, std::size_t n) {
    const HostMemory host(*device_, n * sizeof(T));
    stream_->copy_out(host.data(), from, n * sizeof(T));
    stream_->synchronize();
    const T* values = static_cast<const T*>(host.data());
    return {values, values + n};
  }
  Stream& stream() { return *stream_; }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::vector<DeviceMemory> memory_;
};

class SmallKernels : public testing::TestWithParam<GridOrder> {
 protected:
  Card card_{GetParam()};
};

TEST_P(SmallKernels, TransposeGivesColumnsOfAnyShape) {
  for (const auto& [nx, ny] : {std::pair{1, 1}, {32, 32}, {33, 31}, {70, 5}, {5, 70}}) {
    std::vector<float> image;
    for (int i = 0; i < nx * ny; ++i) image.push_back(static_cast<float>(i));
    const TransposeArgs<float> args{card_.put(image),
                                    card_.put(std::vector<float>(image.size(), -1)), nx, ny};
    emulated_kernels().transpose_f(card_.stream(), TransposeKernel<float>::blocks(args), args);
    const std::vector<float> got = card_.get(args.to, image.size());
    for (int x = 0; x < nx; ++x) {
      for (int y = 0; y < ny; ++y)
        ASSERT_EQ(got[static_cast<std::size_t>(x * ny + y)],
                  image[static_cast<std::size_t>(y * nx + x)])
            << nx << " " << ny;
    }
  }
}

/// The diagonal and phi of a bundle of the CPU as the device holds them.
TEST_P(SmallKernels, MedianAndPriorAreThoseOfTheCpu) {
  for (const std::size_t bad_every : {1U, 3U, 17U, 1000003U}) {  // 1: no light at all
    TestBundle b(test::make_psf(), test::make_grid(41), bad_every);
    b.assemble_equations();
    NormalEquations& n = b.normal();
    n.phi(1)[9] = 1e-3;  // unconstrained
    constexpr int kMargin = 4;
    Shape shape;
    shape.nfiber = 3;
    shape.nbundle = 1;
    shape.nbin = n.nbin;
    shape.margin = kMargin;
    shape.bundle_of = card_.put(std::vector<int>{0, 0, 0});
    shape.bundle_first = card_.put(std::vector<int>{0, 3});
    const auto size = static_cast<std::size_t>(Packs::size(3, shape.rows(), 1));
    std::vector<double> diagonal(size, 0.0), phi(size, 0.0);
    const auto at = [&](std::vector<double>& v, int f, int row) -> double& {
      return *Packs{v.data(), shape.rows(), 1}.at(f, row);
    };
    for (int f = 0; f < 3; ++f) {
      for (int j = 0; j < n.nbin; ++j) {
        at(diagonal, f, j + kMargin) = n.own(f, 0)[j];
        at(phi, f, j + kMargin) = n.phi(f)[j];
      }
    }
    NormalView view;
    view.own = {card_.put(diagonal), shape.rows(), 1};
    view.phi = {card_.put(phi), shape.rows(), 1};
    double* median = card_.put(std::vector<double>{-1.0});
    emulated_kernels().median(card_.stream(), 1, {shape, view, median});
    emulated_kernels().prior(card_.stream(), shape.rows() * padded(3),
                             {shape, view, median, 0.01, 1e-5});
    std::vector<double> got = card_.get(view.own.data, size);
    add_prior(n, 0.01, 1e-5);
    EXPECT_EQ(card_.get(median, 1)[0], n.scale) << bad_every;
    for (int f = 0; f < 3; ++f) {
      for (int row = 0; row < shape.rows(); ++row) {
        const bool inside = row >= kMargin && row < kMargin + n.nbin;
        ASSERT_EQ(at(got, f, row), inside ? n.own(f, 0)[row - kMargin] : n.scale)
            << bad_every << " " << f << " " << row;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, SmallKernels,
                         testing::Values(GridOrder::kInward, GridOrder::kForward,
                                         GridOrder::kBackward, GridOrder::kScattered));

}  // namespace
}  // namespace fiberloom::exact::gpu
