"""Code for benchmarks only: policies on trial, worlds of links that come and go, scores and bounds.

::

    world · synthetic   hubs whose links come and go: recorded, or drawn
    rivals              how others schedule revisits
    simulation          one hub in each slot, the same number of visits for every policy
    bounds              what no policy can beat
"""
