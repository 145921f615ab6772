# SPDX-License-Identifier: BSD-3-Clause
"""Attacks on the catalogue: harmed files to load, harmed databases, questions that are none or would write."""
import harm
from case import Case
from corpus import CATALOGUE, FRAME, REDROCK, RRDETAILS
from kinds import flip_or_cut, harmed_file

DATABASE = "out/catalogue.sqlite"
OUTPUTS = [DATABASE + "*"]
SQL = ("SELECT * FROM zbest", "SELECT spectype, count(*) FROM zbest GROUP BY spectype", "SELECT z.targetid, p.ra FROM ztile z JOIN "
       "photometry p USING(targetid) WHERE z.z > 0.01 ORDER BY z.z LIMIT 3", "SELECT max(z) FROM candidate WHERE targetid = 1",
       "WITH w AS (SELECT targetid FROM redshift) SELECT count(*) FROM w", "SELECT name, sql FROM sqlite_master")
WORDS = ("DELETE FROM redshift", "DROP TABLE redshift", "INSERT INTO tile(tileid) VALUES(1)", "UPDATE redshift SET z = 0",
         "ATTACH 'out/other.sqlite' AS other", "VACUUM INTO 'out/other.sqlite'", "PRAGMA query_only=OFF", "PRAGMA journal_mode=DELETE", "BEGIN", ";",
         "--", "/*", "'", "\"", "(", ")", "NULL", "x'00'", "1e999", "randomblob(100000000)", "zeroblob(2000000000)", "load_extension('x')",
         "readfile('/etc/passwd')", "writefile('out/other', 'x')", "printf('%.999999999d', 1)", "$1", "?", ":a", "\u00e9", "\n", "9" * 400,
         "UNION ALL SELECT", "CROSS JOIN redshift", "LIMIT -1", "hex(" * 200)
SELECTIONS = (["--cone", "10,2.5,100"], ["--cone", "0,90,1e9"], ["--cone", "360,-90,1e-9"], ["--cone", "nan,1,1"], ["--class", "GALAXY"], ["--z", ",1"],
              ["--z", "inf,1"], ["--targetid", "1,2"], ["--targetid", "99999999999999999999"], ["--from", "candidate"], ["--from", "sqlite_master"],
              ["--columns", "*"], ["--columns", "z;DROP"], ["--good"], ["--limit", "18446744073709551615"])


def query(*more):
    return ["catalogue", "query", "--db", DATABASE, "--seconds", "3", *more]


def load_case(c, rng, name, how):
    """A harmed file of redshifts, its details or a frame: rows, or one line, and the catalogue answers afterwards."""
    c.place(REDROCK, RRDETAILS, FRAME)
    harmed = rng.choice((REDROCK, REDROCK, REDROCK, FRAME))
    note = harmed_file(how, harmed, rng, c)
    return Case(name, ["catalogue", "load", harmed, "--db", DATABASE, "-q"], note, OUTPUTS, at_fault=[harmed], again=query("SELECT 1"),
                out_is_state=True)


def bytes_load(c, rng, name):
    return load_case(c, rng, name, flip_or_cut)


def value_load(c, rng, name):
    return load_case(c, rng, name, harm.absurd_values)


def card_load(c, rng, name):
    return load_case(c, rng, name, harm.absurd_card)


def harmed_catalogue(c, rng, name):
    """A database with other bytes: an answer, or one line."""
    data, note = flip_or_cut(c.files[CATALOGUE], rng)
    c.put(DATABASE, data)
    c.place(REDROCK)
    argv = rng.choice((query(), query("--from", "ztile", "--columns", "*"), query(rng.choice(SQL)),
                       ["catalogue", "load", REDROCK, "--again", "--db", DATABASE, "-q"],
                       ["catalogue", "export", "-o", "out/zcat.fits", "--db", DATABASE, "-q"]))
    return Case(name, argv, note, [*OUTPUTS, "out/zcat.fits"], out_is_state=True)


def questions(c, rng, name):
    """SQL with words in wrong places, or options: an answer or one line; nothing else appears, and the catalogue stays good."""
    c.put(DATABASE, c.files[CATALOGUE])
    if rng.random() < 0.3:
        more = [word for part in rng.sample(SELECTIONS, rng.choice((1, 2, 3))) for word in part]
    else:
        words = rng.choice(SQL).split(" ")
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            at = rng.randrange(len(words) + 1)
            words[at:at + rng.choice((0, 1))] = [rng.choice(WORDS)]
        more = [" ".join(words)]
    more += ["--format", rng.choice(("table", "csv", "json"))]
    return Case(name, query(*more), " ".join(more)[:300], OUTPUTS, again=query("SELECT count(*) FROM redshift"), out_is_state=True)
