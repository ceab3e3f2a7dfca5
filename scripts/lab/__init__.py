"""Code for benchmarks only: policies on trial, worlds of links that come and go, scores and bounds.

::

    world               hubs whose links come and go: recorded, or drawn
    rivals              how others schedule revisits
    simulation          one hub in each slot, the same number of visits for every policy
    bounds              what no policy can beat

Scripts run from a checkout as well, where the product is not installed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
