// SPDX-License-Identifier: BSD-3-Clause
// For tests: groups of redshifts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fiberloom/catalogue/catalogue.hpp"

namespace fiberloom::catalogue {

struct TestRow {
  std::int64_t id;
  double z, ra, dec;
  std::int64_t zwarn = 0;
  std::string spectype = "GALAXY";
  double tsnr2_lrg = 10;
};

inline RedshiftGroup test_group(std::int64_t tile, std::int64_t night,
                                const std::vector<TestRow>& rows) {
  std::vector<std::int64_t> ids, zwarn, tiles(rows.size(), tile);
  std::vector<double> z, ra, dec, depth;
  std::vector<std::string> types;
  for (const TestRow& r : rows) {
    ids.push_back(r.id), zwarn.push_back(r.zwarn), z.push_back(r.z), ra.push_back(r.ra);
    dec.push_back(r.dec), depth.push_back(r.tsnr2_lrg), types.push_back(r.spectype);
  }
  RedshiftGroup out;
  out.labels.spgrp = "cumulative";
  out.labels.spgrpval = night;
  out.labels.tileid = tile;
  out.labels.petal = 0;
  out.labels.night = night;
  out.path = "redrock-0-" + std::to_string(tile) + ".fits";
  out.stamp = "1";
  const std::span<const std::int64_t> i(ids);
  out.redshifts.add("TARGETID", i)
      .add("Z", std::span<const double>(z))
      .add("ZWARN", std::span<const std::int64_t>(zwarn))
      .add("SPECTYPE", std::span<const std::string>(types), 6);
  out.fibermap.emplace();
  out.fibermap->add("TARGETID", i)
      .add("TILEID", std::span<const std::int64_t>(tiles))
      .add("TARGET_RA", std::span<const double>(ra), "deg")
      .add("TARGET_DEC", std::span<const double>(dec), "deg");
  out.tsnr2.emplace();
  out.tsnr2->add("TARGETID", i).add("TSNR2_LRG", std::span<const double>(depth));
  out.locations = {{"redshifts", out.path}};
  return out;
}

}  // namespace fiberloom::catalogue
