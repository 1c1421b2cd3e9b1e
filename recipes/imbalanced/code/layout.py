"""The file `creditcard.csv`: a quoted header, then one transaction a line, sorted by time; the class is quoted."""

import numpy

from common.report import InputError

NAME, ASSET = "creditcard.csv", "creditcard-fraud-kaggle"
COLUMNS = ("Time", *(f"V{number}" for number in range(1, 29)), "Amount", "Class")


def write_transactions(path, time, components, amount, classes):
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write(",".join(f'"{name}"' for name in COLUMNS) + "\n")
        for row in zip(time.tolist(), components.tolist(), amount.tolist(), classes.tolist()):
            values = ",".join(repr(value) for value in row[1])
            file.write(f'{row[0]:.0f},{values},{row[2]:g},"{row[3]}"\n')


def read_transactions(path):
    """Features (row, 30) in the order of the columns, float64, and classes; checked line by line where needed."""
    try:
        with open(path, encoding="utf-8") as file:
            header = [name.strip().strip('"') for name in file.readline().split(",")]
            if tuple(header) != COLUMNS:
                raise InputError(
                    path,
                    f"has {len(header)} columns: {','.join(header)[:200]}; expected {len(COLUMNS)}: Time,V1,...,V28,Amount,Class",
                    f"the data set '{ASSET}' has this layout; its copy in ARFF has no Time and is another benchmark",
                )
            text = file.read()
    except FileNotFoundError as problem:
        raise InputError(path, "does not exist") from problem
    except UnicodeDecodeError as problem:
        raise InputError(path, f"is not text: {problem}") from problem
    lines = text.replace('"', "").split("\n")
    if lines.pop():
        raise InputError(path, f"is cut short: line {len(lines) + 2} has no end", "fetch or generate the file again")
    if not lines:
        raise InputError(path, "has no transactions")
    for number, line in enumerate(lines, 2):
        if line.count(",") != len(COLUMNS) - 1:
            raise InputError(path, f"line {number} has {line.count(',') + 1} values; expected {len(COLUMNS)}")
    try:
        values = numpy.array(",".join(lines).split(","), float).reshape(len(lines), len(COLUMNS))
    except ValueError:
        raise InputError(path, bad_number(lines)) from None
    bad = numpy.argwhere(~numpy.isfinite(values))
    if len(bad):
        row, column = bad[0]
        raise InputError(path, f"column '{COLUMNS[column]}' of line {row + 2} is {values[row, column]}; expected finite numbers")
    if not numpy.isin(values[:, -1], (0, 1)).all():
        raise InputError(path, "column 'Class' has values other than 0 (genuine) and 1 (fraud)")
    if (numpy.diff(values[:, 0]) < 0).any():
        row = int(numpy.flatnonzero(numpy.diff(values[:, 0]) < 0)[0])
        raise InputError(path, f"column 'Time' falls at line {row + 3}; expected seconds since the first transaction, sorted")
    if values[:, -2].min() < 0:
        raise InputError(path, f"column 'Amount' has {values[:, -2].min()}; expected amounts from 0 on, not standardised ones")
    return values[:, :-1], values[:, -1].astype(numpy.int64)


def bad_number(lines):
    for number, line in enumerate(lines, 2):
        for name, word in zip(COLUMNS, line.split(",")):
            try:
                float(word)
            except ValueError:
                return f"column '{name}' of line {number} is '{word}'; expected a number"
    return "has a value that is not a number"
