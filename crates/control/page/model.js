// What the page knows: the last seconds of every queue, rates, and losses.

export const SPAN = 30;
const KEPT = SPAN + 3;
const RATE_SPAN = 1;
const MOST_FRESH = 2000;
// Losses of one kind that are closer to each other share a mark in the chart.
const MARK = 0.12;

const leaving = (counters) => counters.sent.bytes + counters.headers_sent.bytes;

export class Model {
  constructor() {
    this.now = null;
    this.series = [];
    this.marks = [];
    this.marked = new Map();
    this.fresh = [];
    this.older = [];
    this.offset = null;
  }

  // Takes a snapshot that came at this time of the page's clock, in seconds.
  push(snapshot, clock) {
    const before = this.now;
    if (before && (snapshot.sequence <= before.sequence || shape(snapshot) !== shape(before))) this.forget();
    this.tell(before && this.now ? before : null, snapshot);
    this.now = snapshot;
    // The difference of the clocks, smoothed, so that the charts move evenly although messages do not come evenly.
    const offset = snapshot.uptime_s - clock;
    const jump = this.offset === null || Math.abs(offset - this.offset) > 0.5;
    this.offset = jump ? offset : this.offset + 0.08 * (offset - this.offset);
    this.keep(snapshot);
    this.older.push(sums(snapshot));
    while (this.older.length > 2 && this.older[1].time <= snapshot.uptime_s - RATE_SPAN) this.older.shift();
  }

  forget() {
    Object.assign(this, { now: null, series: [], marks: [], marked: new Map(), older: [], offset: null });
  }

  keep(snapshot) {
    const time = snapshot.uptime_s;
    snapshot.ports.forEach((port, p) => {
      this.series[p] ??= port.queues.map(() => ({ time: [], length: [], high: [], limit: [] }));
      port.queues.forEach((queue, q) => {
        const series = this.series[p][q];
        series.time.push(time);
        series.length.push(queue.bytes);
        series.high.push(queue.watermark_bytes);
        series.limit.push(queue.threshold_bytes);
        if (series.time.length > 200 && series.time[100] < time - KEPT) {
          for (const list of Object.values(series)) list.splice(0, 100);
        }
      });
    });
    this.fresh.splice(0, this.fresh.length - MOST_FRESH);
    for (const marks of this.marks) while (marks?.length && marks[0].time < time - KEPT) marks.shift();
  }

  // Counts what was lost since the snapshot before.
  tell(before, snapshot) {
    if (!before) return;
    snapshot.ports.forEach((port, p) =>
      port.queues.forEach((queue, q) => {
        const [now, then] = [queue.counters, before.ports[p].queues[q].counters];
        const lost = (fate, why, more, less) => {
          const packets = more.packets - (less?.packets ?? 0);
          if (packets <= 0) return;
          const bytes = more.bytes - (less?.bytes ?? 0);
          const loss = { time: snapshot.uptime_s, port: p, queue: q, name: port.name, fate, why, packets, bytes };
          this.fresh.push(loss);
          this.mark(loss);
        };
        for (const [reason, dropped] of Object.entries(now.drops)) lost("dropped", reason, dropped, then.drops[reason]);
        lost("trimmed", "trimmed", now.trimmed, then.trimmed);
        lost("returned", "returned", now.returned, then.returned);
      }),
    );
  }

  mark({ time, port, queue, fate }) {
    const key = `${port} ${queue} ${fate}`;
    if (time - this.marked.get(key) < MARK) return;
    this.marked.set(key, time);
    (this.marks[port] ??= []).push({ time, queue, fate });
  }

  // The losses that nobody has asked for yet.
  take() {
    return this.fresh.splice(0);
  }

  // The time that the right end of the charts shows.
  time(clock) {
    if (!this.now) return 0;
    return Math.min(clock + this.offset - 0.1, this.now.uptime_s + 0.2);
  }

  // Bits per second over the last second: of a port in and out, and of its queues out.
  rates(p) {
    const [old, now] = [this.older[0], this.older.at(-1)];
    const rate = (more, less) => (now.time > old.time ? Math.max(0, ((more - less) * 8) / (now.time - old.time)) : 0);
    const [a, b] = [old.ports[p], now.ports[p]];
    return { in: rate(b.in, a.in), out: rate(b.out, a.out), queues: b.queues.map((sent, q) => rate(sent, a.queues[q])) };
  }
}

function sums(snapshot) {
  const port = (of) => ({ in: of.received.bytes, out: leaving(of.counters), queues: of.queues.map((queue) => leaving(queue.counters)) });
  return { time: snapshot.uptime_s, ports: snapshot.ports.map(port) };
}

// What cannot change while a switch runs.
export const shape = (snapshot) => snapshot.ports.map((port) => `${port.name}/${port.queues.length}`).join();
