# SPDX-License-Identifier: Apache-2.0
"""What type checkers are told of the package. mypy reads this (`make python-types-test`); nobody runs it. Lines that
end with "# error: CODE" have to be refused so."""

from typing import List, Optional, Union

import memviewd
from memviewd import Explanation, Page, Watch


def step(x: int) -> str:
    return str(x)


found: Explanation = memviewd.explain(step, 1, capacity="80GiB")
verdict: Optional[str] = found.verdict
fits: Optional[bool] = found.fits
needed: Optional[int] = found.needed_bytes
titles: List[str] = [row.title for row in found.advice]
other: Explanation = found.at("v5e").at(1 << 34)
page: Page = found.page()
address: str = page.url + found.url
version: str = memviewd.__version__

with memviewd.on_oom():
    after = step(1)
with memviewd.on_oom(logdir="runs"), memviewd.watch(every=0.5) as watch:
    folder: Union[str, Watch] = watch.folder


@memviewd.on_oom
def plain(x: int) -> str:
    return step(x)


@memviewd.on_oom(logdir="runs")
def named(x: int) -> str:
    return step(x)


text: str = plain(1) + named(2)
memviewd.install().remove()
memviewd.show("runs", height=400).open()


def returns() -> int:
    with memviewd.on_oom():  # never swallows an exception
        return 1


needs: Optional[int] = memviewd.estimate(plain, 1, device="H100-80G").needed_bytes
plain("x")  # error: arg-type
named(1).nothing  # error: attr-defined
memviewd.nothing  # error: attr-defined
memviewd.watch(every="often")  # error: arg-type
memviewd.install(logdir=5)  # error: arg-type
found.verdict + "x"  # error: operator
