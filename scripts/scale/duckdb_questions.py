#!/usr/bin/env python3
"""Answers the ten questions with DuckDB: duckdb_questions.py JOURNALS REPLAYED (paths or globs)"""
import pathlib
import re
import sys
import time

import duckdb

HERE = pathlib.Path(__file__).resolve().parent


def main():
    journals, replayed = sys.argv[1:3]
    db = duckdb.connect()
    quoted = lambda text: text.replace("'", "''")
    begun = time.time()
    db.execute((HERE / "tables.sql").read_text().replace("'JOURNALS'", f"'{quoted(journals)}'").replace("'REPLAYED'", f"'{quoted(replayed)}'"))
    events = db.sql("SELECT count(*) FROM journal").fetchall()[0][0]
    print(f"{events} events read  ({time.time() - begun:.2f} s)\n")
    questions = re.split(r"^-- (?=\d+\. )", (HERE / "questions.sql").read_text(), flags=re.M)[1:]
    for question in questions:
        title, query = question.split("\n", 1)
        begun = time.time()
        result = db.sql(query)
        rows = result.fetchall()
        print(f"{title}  ({time.time() - begun:.2f} s)")
        print("   " + " | ".join(result.columns))
        for row in rows:
            print("   " + " | ".join(str(value) for value in row))
        if not rows:
            print("   none")
        print()
    if len(questions) != 10:
        sys.exit("ten questions were expected")


if __name__ == "__main__":
    main()
