// SPDX-License-Identifier: BSD-3-Clause
// The tables beside redshifts: fibermaps of exposures become one row a target as desispec's coadds
// have them, scores are summed, and bits of a fibermap say what is wrong with a target.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/table.hpp"
#include "loom/fits/header_cards.hpp"

namespace fiberloom {

/// What COADD_FIBERSTATUS (or FIBERSTATUS) and OBJTYPE of each row say, as bits of ZWARN; none
/// where a column is missing. NODATA: nothing was found there, whatever the fit says.
[[nodiscard]] std::vector<std::uint32_t> zwarn_of(const Table& fibermap);

/// Columns of an exposure that frames have in their header alone: NIGHT, EXPID, TILEID, MJD,
/// EXPTIME, where they are not there.
void add_exposure_columns(const HeaderCards& header, Table& fibermap);

/// Keywords that say which group of spectra a file is of: SPGRP, TILEID, PETAL ...
[[nodiscard]] std::span<const char* const> group_keywords();
/// Of several files as one: takes those out of `header` of which `other` says something else, or
/// nothing. What is made of two tiles is of neither.
void keep_common_group(const HeaderCards& other, HeaderCards& header);

/// FIBERSTATUS gets the bits too that other cameras' FIBERMAPs have of the same rows.
void join_status(std::span<const std::int64_t> bits, Table& fibermap);

/// What a table's file said of its columns, which a table of others does not say.
void forget_cards(Table& table);

/// Rows of all tables one below the other: the columns of the first one that all others have, as
/// text or as numbers; numbers that are stored in several ways as 64-bit ones. Where some tables
/// have FIBERSTATUS, rows of the others have 0, as fibres of which nobody says anything.
[[nodiscard]] Table stack(std::span<const Table> tables);

struct CoaddedFibermap {
  Table targets;    ///< a row for each target
  Table exposures;  ///< the columns that belong to an exposure, a row for each
};
/// `exposures`: a row for each exposure; `rows_of`: those of each target. A column that desispec
/// computes is there where those that it is made of are.
[[nodiscard]] CoaddedFibermap coadd_fibermap(const Table& exposures,
                                             std::span<const std::vector<std::size_t>> rows_of);

/// The same of targets of which some have been coadded before: `coadds` has their rows, `exposures`
/// what all of these are made of. What a single row says of a target stays.
[[nodiscard]] CoaddedFibermap coadd_fibermap(const Table& coadds,
                                             std::span<const std::vector<std::size_t>> rows_of,
                                             const Table& exposures);

/// Of a frame's scores the TSNR2 of its camera; nullopt where there are none.
[[nodiscard]] std::optional<Table> tsnr2_of_camera(const std::optional<Table>& scores,
                                                   const std::string& camera);
/// The columns of `more` beside those of `table`, of as many rows.
void join_columns(std::optional<Table> more, std::optional<Table>& table);

/// TARGETID and TSNR2 of each target: sums of the rows of `scores`, and over cameras where the
/// input has no such column. nullopt where there is no TSNR2 at all.
struct ScoreRow {
  std::size_t table, row;
};
[[nodiscard]] std::optional<Table> sum_tsnr2(std::span<const Table* const> scores,
                                             std::span<const std::int64_t> ids,
                                             std::span<const std::vector<ScoreRow>> rows_of);

}  // namespace fiberloom
