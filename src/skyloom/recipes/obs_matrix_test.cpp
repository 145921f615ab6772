// SPDX-License-Identifier: BSD-3-Clause
// The observation matrix in its file, as scipy.sparse reads it.
#include "skyloom/recipes/obs_matrix.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "loom/testing/test_files.hpp"

namespace skyloom {
namespace {

using loom::test::TempFolder;

/// Members of archives by the standard library, the matrix by scipy where it is there: arguments
/// are files and the type that their indices must have.
constexpr const char* kScript = R"py(
import ast, struct, sys, zipfile
try:
    import scipy.sparse
except ImportError:
    scipy = None
rows = [[0, 1.5, 0, -2], [0, 0, 0, 0], [3, 0, 0, 0], [0, 0, 0.25, 0]]
for path, kind in zip(sys.argv[1::2], sys.argv[2::2]):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        raw = {name: archive.read(name) for name in archive.namelist()}
    found = {}
    for name, data in raw.items():
        end = 10 + struct.unpack("<H", data[8:10])[0]
        head = ast.literal_eval(data[10:end].decode())
        letter = {"<i4": "i", "<i8": "q", "<f8": "d", "|S3": "3s"}[head["descr"]]
        found[name] = (head["descr"], [v for v, in struct.iter_unpack("<" + letter, data[end:])])
    assert found["indices.npy"] == (kind, [1, 3, 0, 2]), found
    assert found["indptr.npy"] == (kind, [0, 2, 2, 3, 4]), found
    assert found["shape.npy"] == ("<i8", [4, 4]), found
    assert found["data.npy"] == ("<f8", [1.5, -2, 3, 0.25]), found
    if scipy:
        matrix = scipy.sparse.load_npz(path)
        matrix.check_format()
        assert matrix.toarray().tolist() == rows, matrix.toarray()
        assert (matrix @ [1, 2, 3, 4]).tolist() == [-5, 0, 3, 0.75]
print("read" + (" by scipy too" if scipy else ", scipy is not here"))
)py";

TEST(ObservationMatrixFile, HasIndicesOf64BitsBeyondTheLimit) {
  if (std::system("python3 -c 'import zipfile' 2> /dev/null") != 0) GTEST_SKIP() << "no python3";
  const TempFolder folder;
  const SparseMatrix matrix{
      .size = 4, .starts = {0, 2, 2, 3, 4}, .columns = {1, 3, 0, 2}, .values = {1.5, -2, 3, 0.25}};
  std::string arguments;
  const auto write = [&](const std::string& name, const char* kind, auto... most) {
    write_sparse_matrix(folder.file(name), Overwrite::kYes, matrix, nullptr, most...);
    arguments += " '" + folder.file(name) + "' '" + kind + "'";
  };

  write("as_ever.npz", "<i4");
  write("just.npz", "<i4", std::size_t{4});
  write("wide.npz", "<i8", std::size_t{3});

  const std::string script = folder.file("read.py");
  loom::test::write_bytes(
      script, std::vector<std::uint8_t>(kScript, kScript + std::string_view(kScript).size()));
  EXPECT_EQ(std::system(("python3 '" + script + "'" + arguments).c_str()), 0);
}

}  // namespace
}  // namespace skyloom
