"""What the papers work out on paper, as functions: steady states, bounds, burst tolerance.

`forebay.analysis.dt.threshold(buffer=1e6, alpha=1.0, classes=[(1.0, 4)])` is the length of each of four queues under
Dynamic Thresholds. Buffers and lengths are in bytes, rates in bits per second, times in seconds.
"""

from ._forebay import abm, aifo, dt, fb, occamy, steady, transient

Transient = transient.Transient

__all__ = ["Transient", "abm", "aifo", "dt", "fb", "occamy", "steady"]
