from __future__ import annotations

import pytest

from pipelines.discover.parsing.parse import ParsedFile, parse_file
from tests.discover.outlines import render, symbols

POSTGRES = """\
-- Copyright by nobody.

CREATE TABLE IF NOT EXISTS public."User Names" (
    id int PRIMARY KEY, -- the key;
    name text DEFAULT ');'
);
INSERT INTO t VALUES ('CREATE TABLE not_this (');


-- What weighs a parcel,
-- in grams.
CREATE OR REPLACE FUNCTION public.weigh(parcel int, unit varchar(3))
RETURNS numeric AS $body$
DECLARE n numeric;
BEGIN
  PERFORM audit.note('weigh(x)'); -- old(x)
  CREATE TEMP TABLE scratch (a int);
  RETURN scale(parcel) + coalesce(1, round(2));
END;
$body$ LANGUAGE plpgsql;

/* The heavy ones. */
CREATE MATERIALIZED VIEW heavy AS SELECT * FROM parcels WHERE weigh(id) > 5;
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE DOMAIN grams AS numeric CHECK (VALUE > 0);
CREATE UNIQUE INDEX CONCURRENTLY parcel_ix ON parcels (id);
CREATE INDEX ON parcels (id);
CREATE SEQUENCE @schema@.numbers;
CREATE CONSTRAINT TRIGGER seal AFTER INSERT ON parcels FOR EACH ROW EXECUTE FUNCTION seal_it();
ALTER FUNCTION public.weigh(int) OWNER TO me;
CREATE FUNCTION plain(int) RETURNS int RETURN $1 + twice($1)
"""
SQL_SERVER = """\
IF OBJECT_ID('dbo.Pack') IS NULL
    EXEC ('CREATE PROCEDURE dbo.Pack AS RETURN 0;');
GO
ALTER PROCEDURE [dbo].[Pack]
    @a NVARCHAR(20) = N'x;'
WITH EXECUTE AS OWNER
AS
BEGIN
    BEGIN TRAN;
    CREATE TABLE #t (a int);
    EXEC @r = dbo.Weigh @a;
    EXECUTE [dbo].[Seal it];
    SELECT CASE WHEN 1 = 1 THEN dbo.Total(2) END;
    COMMIT;
END
GO
CREATE OR ALTER VIEW dbo.Packed AS SELECT 1 AS a;
GO
CREATE PROC dbo.Last AS SELECT 1; SELECT 2;
"""
MYSQL = r"""
/*!50003 CREATE*/ /*!50020 DEFINER=`root`@`%`*/ /*!50003 FUNCTION skipped */;
DELIMITER ;;
CREATE DEFINER=`root`@`localhost` PROCEDURE `pack`(IN n INT)
BEGIN
  DECLARE s VARCHAR(9) DEFAULT 'it\'s; ';
  IF n > 1 THEN CALL weigh(n); END IF;
END ;;
DELIMITER ;
CREATE TABLE `a` (
  `b` int COMMENT 'it\'s );'
) ENGINE=InnoDB;
CREATE FUNCTION f() RETURNS int DETERMINISTIC BEGIN IF 1 THEN RETURN g(); END IF; RETURN 2; END;
CREATE TABLE c (d int);
"""
ORACLE = """\
CREATE OR REPLACE FUNCTION total(p IN NUMBER) RETURN NUMBER IS
  n NUMBER := 0;
BEGIN
  n := add_up(p);
  RETURN n;
END total;
/
CREATE OR REPLACE PACKAGE BODY parcels AS
  PROCEDURE pack IS BEGIN NULL; END;
END parcels;
/
CREATE TABLE last_one (a NUMBER);
"""


def parse(text: str, path: str = "schema.sql") -> ParsedFile:
    return parse_file("sample", path, "sql", text.encode())


def outline(text: str) -> list[str]:
    return render(parse(text)).splitlines()[:-1]


def test_a_schema_of_postgres() -> None:
    assert outline(POSTGRES) == [
        '3-6 struct public.User Names : CREATE TABLE IF NOT EXISTS public."User Names"',
        "12-20 function public.weigh :"
        " CREATE OR REPLACE FUNCTION public.weigh(parcel int, unit varchar(3)) RETURNS numeric",
        "      What weighs a parcel,",
        "      in grams.",
        "23-23 struct heavy : CREATE MATERIALIZED VIEW heavy",
        "      The heavy ones.",
        "24-24 enum mood : CREATE TYPE mood",
        "25-25 type grams : CREATE DOMAIN grams",
        "26-26 constant parcel_ix : CREATE UNIQUE INDEX CONCURRENTLY parcel_ix ON parcels",
        "28-28 constant schema.numbers : CREATE SEQUENCE @schema@.numbers",
        "29-29 function seal :"
        " CREATE CONSTRAINT TRIGGER seal AFTER INSERT ON parcels FOR EACH ROW EXECUTE FUNCTION seal_it()",
        "31-31 function plain : CREATE FUNCTION plain(int) RETURNS int RETURN $1 + twice($1)",
        "16 public.weigh calls note of audit",
        "18 public.weigh calls scale",
        "29 seal calls seal_it",
        "31 plain calls twice",
    ]


def test_procedures_of_sql_server_end_with_their_batch() -> None:
    assert outline(SQL_SERVER) == [
        "4-15 function dbo.Pack : ALTER PROCEDURE [dbo].[Pack] @a NVARCHAR(20) = N'x;' WITH EXECUTE AS OWNER",
        "17-17 struct dbo.Packed : CREATE OR ALTER VIEW dbo.Packed",
        "19-19 function dbo.Last : CREATE PROC dbo.Last",
        "11 dbo.Pack calls Weigh of dbo",
        "12 dbo.Pack calls Seal it of dbo",
        "13 dbo.Pack calls Total of dbo",
    ]


def test_routines_of_mysql_end_with_the_delimiter_or_their_block() -> None:
    assert outline(MYSQL) == [
        "4-8 function pack : CREATE DEFINER=`root`@`localhost` PROCEDURE `pack`(IN n INT)",
        "10-12 struct a : CREATE TABLE `a`",
        "13-13 function f : CREATE FUNCTION f() RETURNS int DETERMINISTIC",
        "14-14 struct c : CREATE TABLE c",
        "7 pack calls weigh",
        "13 f calls g",
    ]


def test_routines_of_oracle_end_with_a_slash() -> None:
    assert outline(ORACLE) == [
        "1-6 function total : CREATE OR REPLACE FUNCTION total(p IN NUMBER) RETURN NUMBER",
        "8-10 class parcels : CREATE OR REPLACE PACKAGE BODY parcels",
        "12-12 struct last_one : CREATE TABLE last_one",
        "4 total calls add_up",
    ]


def test_a_statement_in_a_text_of_several_lines_costs_no_other() -> None:
    text = "INSERT INTO t VALUES ('\nCREATE TABLE odd (');\nCREATE FUNCTION f() RETURNS int RETURN 1;\n"
    assert [item["name"] for item in symbols(parse(text))] == ["odd", "f"]


def test_a_licence_at_the_top_documents_nothing() -> None:
    (table,) = symbols(parse("-- Copyright by nobody.\nCREATE TABLE a (b int);\n"))
    assert table["doc"] == ""


def test_windows_line_ends_change_nothing() -> None:
    for text in (POSTGRES, SQL_SERVER, MYSQL, ORACLE):
        assert render(parse(text.replace("\n", "\r\n"))) == render(parse(text))


def test_secrets_in_a_signature_are_not_shown() -> None:
    text = "CREATE PROC p @k CHAR(20) = 'AKIAQ3EGRZVX7LTPWY5N' AS SELECT 1\nGO\n"
    assert [(item["name"], item["signature"]) for item in symbols(parse(text))] == [("p", "")]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE a (b int",
        "CREATE FUNCTION f() AS $$ BEGIN",
        "CREATE FUNCTION f() AS 'never closed",
        "CREATE PROCEDURE f() BEGIN SELECT 1; /* never closed",
        "DELIMITER //\nCREATE PROCEDURE f() BEGIN SELECT 1;",
    ],
)
def test_what_is_never_closed_reaches_to_the_end(text: str) -> None:
    (only,) = symbols(parse(text + "\n\n"))
    assert only["end"] == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE FUNCTION f() BEGIN (\n" * 20_000 + "GO\n",
        "DELIMITER $$\nCREATE PROCEDURE f() BEGIN ( $$\n" * 10_000,
        "ALTER FUNCTION f() OWNER TO me\n" * 20_000 + "GO\n/\n",
        "CREATE TABLE " * 50_000,
        "CREATE OR " * 50_000,
        "-- a\n" * 100_000 + "CREATE TABLE a (b int)",
        "CREATE TABLE a (b int); /*\n" * 20_000,
        "INSERT INTO t VALUES (1, 'CREATE TABLE x (');\n" * 20_000,
    ],
)
def test_hostile_files_are_read_in_one_pass(text: str) -> None:
    assert parse(text).lines > 0
