#!/usr/bin/env python3
"""make_variance_vectors.py: variance_vectors.json beside it, from statsmodels (pip install statsmodels scipy pandas).

Unbalanced groups with noise within them, combinations that do not occur, and one, two and three factors. Sums of squares,
degrees of freedom, F and p are those of statsmodels' anova_lm of types 1 and 2; shares and the intraclass correlation are
made of them by their definitions.
"""
import json
import pathlib

import numpy
import pandas
import statsmodels
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm


def shares(table, total):
    residual = table.loc["Residual"]
    error = residual["sum_sq"] / residual["df"]
    rows = []
    for name in table.index[:-1]:
        row = table.loc[name]
        rows.append({"sum_sq": row["sum_sq"], "df": row["df"], "F": row["F"], "p": row["PR(>F)"],
                     "eta_squared": row["sum_sq"] / total,
                     "omega_squared": (row["sum_sq"] - row["df"] * error) / (total + error)})
    return rows


def one_way(frame, names):
    cell = frame[names].astype(str).agg("/".join, axis=1)
    table = anova_lm(ols("y ~ C(cell)", data=frame.assign(cell=cell)).fit(), typ=1)
    between, within = table.loc["C(cell)"], table.loc["Residual"]
    sizes = cell.value_counts().to_numpy()
    n = len(frame)
    size = (n - (sizes**2).sum() / n) / (len(sizes) - 1)
    between_ms, within_ms = between["sum_sq"] / between["df"], within["sum_sq"] / within["df"]
    return {"between": between["sum_sq"], "within": within["sum_sq"],
            "between_df": between["df"], "within_df": within["df"],
            "variance_between": (between_ms - within_ms) / size, "variance_within": within_ms,
            "icc": (between_ms - within_ms) / (between_ms + (size - 1) * within_ms)}


def case(random, name, levels, n, effect, offset):
    names = list(levels)
    data = {}
    for factor, count in levels.items():
        weights = random.dirichlet(numpy.full(count, 0.7))  # some levels are rare, some combinations do not occur
        data[factor] = numpy.concatenate([numpy.arange(count), random.choice(count, n - count, p=weights)])
    frame = pandas.DataFrame(data)
    frame["y"] = offset + random.normal(0, 1, n)
    for factor, count in levels.items():
        frame["y"] += effect * random.normal(0, 1, count)[frame[factor]]
    formula = "y ~ " + " + ".join(f"C({factor})" for factor in names)
    model = ols(formula, data=frame).fit()
    total = float(((frame["y"] - frame["y"].mean()) ** 2).sum())
    first, second = anova_lm(model, typ=1), anova_lm(model, typ=2)
    return {"name": name, "factors": [{"name": f, "codes": frame[f].tolist()} for f in names],
            "values": frame["y"].tolist(), "total": total,
            "residual": first.loc["Residual"]["sum_sq"], "residual_df": first.loc["Residual"]["df"],
            "sequential": shares(first, total), "partial": shares(second, total), "one_way": one_way(frame, names)}


random = numpy.random.default_rng(20261122)
cases = [
    case(random, "one factor", {"host": 7}, 60, 1.0, 0.0),
    case(random, "one factor, no effect, far from zero", {"host": 12}, 90, 0.0, 1e4),
    case(random, "two factors", {"host": 8, "seed": 5}, 120, 0.8, 0.9),
    case(random, "three factors", {"site": 4, "gpu": 3, "threads": 6}, 200, 0.5, -3.0),
    case(random, "many levels", {"host": 40, "seed": 11}, 400, 0.3, 0.5),
]
document = {"made_with": f"statsmodels {statsmodels.__version__}", "cases": cases}
target = pathlib.Path(__file__).with_name("variance_vectors.json")
target.write_text(json.dumps(document, separators=(",", ":")) + "\n")
