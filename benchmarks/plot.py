"""Draw loss against time on Adult, with the certified lower bound as a line, into docs/images/loss-against-time.svg.

Needs the extra `bench`: pip install -e '.[bench]' -c constraints.txt
"""

from __future__ import annotations

from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
from quality import EIGHT, NCP, adult, on_cores, points, run

from kohort.measures.bounds import lower_bound

TARGET = Path(__file__).parents[1] / "docs" / "images" / "loss-against-time.svg"
EFFORT = 60.0


def main() -> None:
    on_cores(1)
    codes = adult(EIGHT)
    rows = []
    for k in (5, 10, 50):
        rows += [{"k": k, "what": "auto, searching longer", "s": s, "GCP": loss} for _, s, loss in points(codes, k)]
        for name in ("mondrian", "top-down-greedy", "k-member"):
            run(name, codes, k)
            _, loss, seconds = run(name, codes, k)
            rows.append({"k": k, "what": name, "s": seconds, "GCP": loss})
        bound = lower_bound(codes, NCP, k, np.random.default_rng(1), EFFORT).value
        rows += [{"k": k, "what": "no release can lose less", "s": s, "GCP": bound} for s in (0.01, 100.0)]
    table = pl.DataFrame(rows)
    print(table.write_csv())
    base = alt.Chart(table).encode(
        x=alt.X("s:Q", title="seconds on one core", scale=alt.Scale(type="log")),
        y=alt.Y("GCP:Q", title="information loss (GCP)"),
        color=alt.Color("what:N", title=None, sort=None),
    )
    lines = base.transform_filter(
        alt.FieldOneOfPredicate("what", ["auto, searching longer", "no release can lose less"])
    )
    chart = alt.layer(lines.mark_line(), base.transform_filter("datum.what != 'no release can lose less'").mark_point())
    faceted = chart.properties(width=240, height=240).facet(column=alt.Column("k:Q", title="k"))
    TARGET.parent.mkdir(exist_ok=True)
    faceted.resolve_scale(y="independent").save(TARGET)


if __name__ == "__main__":
    main()
