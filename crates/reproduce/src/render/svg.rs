//! Plots as SVG: axes with units, a mark for each point, bars of the 95% interval, a legend, and the numbers as
//! tooltips.

use super::html::escape;
use crate::panel::{Axis, Form, Plot, PlotPoint, Series};
use crate::unit::significant;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 30.0;
/// A line of the legend.
const LINE: f64 = 17.0;
/// About the width of a letter of the legend.
const LETTER: f64 = 6.7;
/// About the width of a letter of a title.
const TITLE_LETTER: f64 = 7.4;
/// Colours before lines are told apart by dashes.
const COLOURS: usize = 8;

/// The style of plots.
const STYLE: &str = "
svg.plot { --muted: #5c6573; --ink: #1b1f26; --grid: #e9ecf0; --panel: #fff; }
@media (prefers-color-scheme: dark) { svg.plot { --muted: #9aa4b2; --ink: #e6e9ee; --grid: #272c35; --panel: #1a1e25; } }
svg.plot .back { fill: var(--panel); }
svg.plot text { font: 11.5px system-ui, -apple-system, \"Segoe UI\", Roboto, Arial, sans-serif; fill: var(--muted); }
svg.plot .title { font-weight: 600; font-size: 13px; fill: var(--ink); }
svg.plot .grid { stroke: var(--grid); } svg.plot .axis { stroke: var(--muted); fill: none; }
svg.plot .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; } svg.plot .whisker { stroke-width: 1.2; }
svg.plot .paper { fill: var(--panel) !important; stroke-width: 1.6; } svg.plot .paper-line { stroke-width: 1; stroke-dasharray: 2 3; }
svg.plot .dash1 { stroke-dasharray: 6 3; } svg.plot .dash2 { stroke-dasharray: 2 2; }
svg.plot .c0 { stroke: #0072b2; fill: #0072b2; } svg.plot .c1 { stroke: #d55e00; fill: #d55e00; }
svg.plot .c2 { stroke: #009e73; fill: #009e73; } svg.plot .c3 { stroke: #cc79a7; fill: #cc79a7; }
svg.plot .c4 { stroke: #e69f00; fill: #e69f00; } svg.plot .c5 { stroke: #56b4e9; fill: #56b4e9; }
svg.plot .c6 { stroke: #7a7f87; fill: #7a7f87; } svg.plot .c7 { stroke: #8c5fc7; fill: #8c5fc7; }
svg.plot .dots { fill: none; stroke-width: 2.6; stroke-linecap: round; }
svg.plot .line { fill: none !important; } svg.plot .bar { stroke: none; }
";

/// The names of all series of a figure, so that each has one colour in all its plots.
fn names(plots: &[Plot]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for series in plots.iter().flat_map(|plot| &plot.series) {
        if !names.contains(&series.name) {
            names.push(series.name.clone());
        }
    }
    names
}

/// All plots of a figure as one picture, light or dark as the reader has it, two beside each other.
pub fn picture(plots: &[Plot]) -> String {
    let names = names(plots);
    let plots: Vec<&Plot> = plots.iter().filter(|plot| !plot.series.is_empty()).collect();
    let columns = plots.len().clamp(1, 2);
    let (mut body, mut y) = (String::new(), 0.0);
    for row in plots.chunks(columns) {
        for (column, plot) in row.iter().enumerate() {
            let x = column as f64 * (WIDTH + 20.0);
            body.push_str(&format!("<g transform=\"translate({x} {y})\">{}</g>\n", content(plot, &names)));
        }
        y += row.iter().map(|plot| height(plot)).fold(0.0, f64::max) + 16.0;
    }
    let width = columns as f64 * (WIDTH + 20.0) - 20.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {width} {y}\" width=\"{width}\" height=\"{y}\">\n\
         <style>{STYLE}</style><rect class=\"back\" width=\"{width}\" height=\"{y}\"/>\n{body}</svg>\n"
    )
}

/// What a range of numbers is drawn on.
struct Range {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
    /// What intervals do not go beyond.
    bounds: (f64, f64),
}

/// No bounds.
const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Range {
    /// Where an interval begins and ends, within what is possible and what is shown; `None` if there is none.
    fn interval(&self, point: &PlotPoint) -> Option<(f64, f64)> {
        let half = point.half.filter(|half| *half > 0.0)?;
        let (low, high) = ((point.y - half).max(self.bounds.0), (point.y + half).min(self.bounds.1));
        Some((self.at(low.max(self.low)), self.at(high.min(self.high))))
    }

    fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low).log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// Where numbers stand beside the axis.
    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
            let fine = self.high / self.low < 50.0;
            let steps: &[f64] = if fine { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let all = (first..=last).flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
            return all.filter(|tick| (self.low * 0.999..=self.high * 1.001).contains(tick)).collect();
        }
        let step = nice((self.high - self.low) / 5.0);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|number| number as f64 * step).collect()
    }
}

/// A round step of about this size.
fn nice(size: f64) -> f64 {
    let power = 10f64.powf(size.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= size * 0.999).unwrap_or(10.0) * power
}

fn range(values: &[f64], axis: &Axis, from: f64, to: f64, from_zero: bool) -> Range {
    let kept = values.iter().copied().filter(|value| value.is_finite() && (!axis.log || *value > 0.0));
    let (mut low, mut high) = kept.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        (low, high) = (if axis.log { 1.0 } else { 0.0 }, 1.0);
    }
    if axis.log {
        // Room around the points; bars need a foot.
        let room = (high / low).max(1.5).powf(0.06);
        return Range {
            low: low / room / if from_zero { 2.0 } else { 1.0 },
            high: high * room,
            log: true,
            from,
            to,
            bounds: OPEN,
        };
    }
    if from_zero || (low >= 0.0 && low < 0.6 * high) {
        low = low.min(0.0);
        high = if high <= 0.0 { 1.0 } else { high * 1.05 };
    } else {
        let room = (high - low).max(high.abs() * 1e-3).max(1e-9) * 0.08;
        (low, high) = (low - room, high + room);
    }
    Range { low, high, log: false, from, to, bounds: OPEN }
}

/// The rows of the legend: names of series with their places.
fn legend(plot: &Plot) -> Vec<Vec<(usize, f64)>> {
    let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new()];
    let mut x = LEFT;
    for (index, series) in plot.series.iter().enumerate() {
        if series.name.is_empty() {
            continue;
        }
        let width = 36.0 + label_of(series).chars().count() as f64 * LETTER;
        if x + width > WIDTH && x > LEFT {
            rows.push(Vec::new());
            x = LEFT;
        }
        if let Some(row) = rows.last_mut() {
            row.push((index, x));
        }
        x += width;
    }
    rows.retain(|row| !row.is_empty());
    rows
}

fn label_of(series: &Series) -> String {
    if series.is_paper { format!("{} (paper)", series.name) } else { series.name.clone() }
}

/// Whether the names of categories need to stand aslant.
fn is_slanted(plot: &Plot) -> bool {
    let longest = plot.categories.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    longest as f64 * LETTER > (WIDTH - LEFT - RIGHT) / plot.categories.len().max(1) as f64
}

/// Room below the plot for numbers, names and the label of the axis.
fn foot(plot: &Plot) -> f64 {
    let slanted = if is_slanted(plot) { 34.0 } else { 0.0 };
    let label = if plot.x.label.is_empty() { 20.0 } else { 38.0 };
    label + slanted
}

fn height(plot: &Plot) -> f64 {
    HEIGHT + foot(plot) + 4.0 + legend(plot).len() as f64 * LINE
}

fn content(plot: &Plot, names: &[String]) -> String {
    let shown: Vec<Series> = plot.series.iter().map(|series| shown(plot, series)).collect();
    let points = || shown.iter().flat_map(|series| &series.points);
    let bounds = plot.bounds();
    let ys: Vec<f64> = points()
        .flat_map(|point| {
            let half = point.half.unwrap_or(0.0);
            [(point.y - half).max(bounds.0), (point.y + half).min(bounds.1), point.y]
        })
        .collect();
    let is_bars = plot.form == Form::Bars;
    let y = Range { bounds, ..range(&ys, &plot.y, HEIGHT, TOP, is_bars) };
    let x = if is_bars {
        Range {
            low: -0.5,
            high: plot.categories.len().max(1) as f64 - 0.5,
            log: false,
            from: LEFT,
            to: WIDTH - RIGHT,
            bounds: OPEN,
        }
    } else {
        let xs: Vec<f64> = points().map(|point| point.x).collect();
        range(&xs, &plot.x, LEFT, WIDTH - RIGHT, false)
    };
    let mut out = String::new();
    let letter = if plot.letter.is_empty() { String::new() } else { format!("({}) ", plot.letter) };
    let title = format!("{letter}{}", plot.title);
    // A long title begins at the edge, and is smaller if that is not enough.
    let length = title.chars().count() as f64;
    let left = if length * TITLE_LETTER > WIDTH - LEFT { 4.0 } else { LEFT };
    let size = ((WIDTH - left) / (length * TITLE_LETTER) * 13.0).min(13.0);
    out.push_str(&format!(
        "<text class=\"title\" x=\"{left}\" y=\"16\" style=\"font-size:{size:.1}px\">{}</text>",
        escape(&title)
    ));
    axes(plot, &x, &y, &mut out);
    let bars = shown.iter().filter(|series| !series.is_paper).count().max(1);
    let mut bar = 0;
    for series in &shown {
        let colour = names.iter().position(|name| *name == series.name).unwrap_or(0);
        if is_bars {
            draw_bars(series, colour, (bar, bars), &x, &y, &mut out);
            bar += usize::from(!series.is_paper);
        } else {
            draw_line(plot, series, colour, &x, &y, &mut out);
        }
    }
    let top = HEIGHT + foot(plot) + 4.0;
    for (number, row) in legend(plot).iter().enumerate() {
        let middle = top + (number as f64 + 0.5) * LINE;
        for (index, left) in row {
            let series = &plot.series[*index];
            let colour = names.iter().position(|name| *name == series.name).unwrap_or(0);
            if !is_bars {
                let (class, right) = (line_class(series, colour), left + 18.0);
                out.push_str(&format!(
                    "<line class=\"line {class}\" x1=\"{left}\" x2=\"{right}\" y1=\"{middle}\" y2=\"{middle}\"/>"
                ));
            }
            if plot.form != Form::Curves {
                out.push_str(&mark(left + 9.0, middle, colour, series.is_paper, is_bars && !series.is_paper));
            }
            out.push_str(&format!(
                "<text x=\"{}\" y=\"{}\">{}</text>",
                left + 22.0,
                middle + 4.0,
                escape(&label_of(series))
            ));
        }
    }
    out
}

/// A series in the numbers that are shown.
fn shown(plot: &Plot, series: &Series) -> Series {
    let place = |x: f64| if plot.form == Form::Bars { x } else { plot.x.unit.shown(x) };
    let point = |point: &PlotPoint| PlotPoint {
        x: place(point.x),
        y: plot.y.unit.shown(point.y),
        half: point.half.map(|half| plot.y.unit.shown(half)),
    };
    Series { points: series.points.iter().map(point).collect(), ..series.clone() }
}

fn axes(plot: &Plot, x: &Range, y: &Range, out: &mut String) {
    let right = WIDTH - RIGHT;
    for tick in y.ticks() {
        let at = y.at(tick);
        out.push_str(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            significant(tick)
        ));
    }
    if plot.form == Form::Bars {
        for (index, name) in plot.categories.iter().enumerate() {
            let at = x.at(index as f64);
            let place = if is_slanted(plot) {
                format!("text-anchor=\"end\" transform=\"translate({:.1} {}) rotate(-28)\"", at + 8.0, HEIGHT + 14.0)
            } else {
                format!("text-anchor=\"middle\" x=\"{at:.1}\" y=\"{}\"", HEIGHT + 16.0)
            };
            out.push_str(&format!("<text {place}>{}</text>", escape(name)));
        }
    } else {
        for tick in x.ticks() {
            let at = x.at(tick);
            out.push_str(&format!(
                "<line class=\"axis\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{HEIGHT}\" y2=\"{}\"/>\
                 <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                HEIGHT + 4.0,
                HEIGHT + 16.0,
                significant(tick)
            ));
        }
    }
    out.push_str(&format!("<path class=\"axis\" d=\"M{LEFT} {TOP}V{HEIGHT}H{right}\"/>"));
    let middle = f64::midpoint(LEFT, right);
    if !plot.x.label.is_empty() {
        let at = HEIGHT + foot(plot) - 4.0;
        out.push_str(&format!(
            "<text x=\"{middle}\" y=\"{at}\" text-anchor=\"middle\">{}</text>",
            escape(&plot.x.title())
        ));
    }
    let at = f64::midpoint(TOP, HEIGHT);
    out.push_str(&format!(
        "<text transform=\"translate(13 {at}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        escape(&plot.y.title())
    ));
}

/// Colour and dashes of the series with this number.
fn line_class(series: &Series, colour: usize) -> String {
    if series.is_paper {
        return format!("paper-line c{}", colour % COLOURS);
    }
    format!("c{} dash{}", colour % COLOURS, colour / COLOURS % 3)
}

/// The mark of a point; those of the paper are hollow.
fn mark(x: f64, y: f64, colour: usize, is_paper: bool, is_bar: bool) -> String {
    let class = format!("c{}{}", colour % COLOURS, if is_paper { " paper" } else { "" });
    if is_bar {
        return format!(
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"12\" height=\"9\"/>",
            x - 6.0,
            y - 4.5
        );
    }
    match colour % 4 {
        0 => format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\"/>"),
        1 => format!("<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\"/>", x - 3.0, y - 3.0),
        2 => format!("<path class=\"{class}\" d=\"M{x:.1} {:.1}l3.8 6.6h-7.6z\"/>", y - 4.2),
        _ => format!("<path class=\"{class}\" d=\"M{x:.1} {:.1}l4 4l-4 4l-4-4z\"/>", y - 4.0),
    }
}

fn tooltip(series: &Series, x: &str, point: &PlotPoint) -> String {
    let half = point.half.map_or_else(String::new, |half| format!(" ± {}", significant(half)));
    format!("<title>{}</title>", escape(&format!("{} at {x}: {}{half}", label_of(series), significant(point.y))))
}

fn whisker(at: f64, point: &PlotPoint, colour: usize, y: &Range, out: &mut String) {
    if let Some((low, high)) = y.interval(point) {
        out.push_str(&format!(
            "<path class=\"whisker c{}\" d=\"M{at:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h6M{:.1} {high:.1}h6\"/>",
            colour % COLOURS,
            at - 3.0,
            at - 3.0
        ));
    }
}

fn draw_line(plot: &Plot, series: &Series, colour: usize, x: &Range, y: &Range, out: &mut String) {
    let is_visible = |point: &&PlotPoint| (!y.log || point.y > 0.0) && (!x.log || point.x > 0.0);
    let points: Vec<&PlotPoint> = series.points.iter().filter(is_visible).collect();
    let path: Vec<String> = points.iter().map(|point| format!("{:.1} {:.1}", x.at(point.x), y.at(point.y))).collect();
    if !plot.joined && !series.is_paper {
        let dots: Vec<String> = path.iter().map(|at| format!("M{at}h0")).collect();
        out.push_str(&format!("<path class=\"dots {}\" d=\"{}\"/>", line_class(series, colour), dots.concat()));
    } else if path.len() > 1 {
        out.push_str(&format!("<path class=\"line {}\" d=\"M{}\"/>", line_class(series, colour), path.join("L")));
    }
    if plot.form == Form::Curves {
        return;
    }
    for point in points {
        whisker(x.at(point.x), point, colour, y, out);
        let mark = mark(x.at(point.x), y.at(point.y), colour, series.is_paper, false);
        out.push_str(&format!("<g>{}{mark}</g>", tooltip(series, &significant(point.x), point)));
    }
}

fn draw_bars(series: &Series, colour: usize, (number, of): (usize, usize), x: &Range, y: &Range, out: &mut String) {
    let room = (x.at(1.0) - x.at(0.0)) * 0.8;
    let width = room / of as f64;
    for point in &series.points {
        let left = x.at(point.x) - room / 2.0 + width * number as f64;
        let middle = left + width / 2.0;
        if series.is_paper {
            let mark = mark(x.at(point.x), y.at(point.y), colour, true, false);
            out.push_str(&format!("<g>{}{mark}</g>", tooltip(series, "this place", point)));
            continue;
        }
        let (foot, top) = (y.at(if y.log { y.low } else { 0.0 }), y.at(point.y));
        let class = format!("bar c{}", colour % COLOURS);
        out.push_str(&format!(
            "<g>{}<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/></g>",
            tooltip(series, "this place", point),
            left + 0.5,
            foot.min(top),
            (width - 1.0).max(1.0),
            (foot - top).abs()
        ));
        if let Some((low, high)) = y.interval(point) {
            out.push_str(&format!("<path class=\"axis\" d=\"M{middle:.1} {low:.1}V{high:.1}\"/>"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_stay_within_what_is_possible() {
        let range = Range { low: 0.0, high: 105.0, log: false, from: 0.0, to: 105.0, bounds: (0.0, 100.0) };
        let point = |y, half| PlotPoint { x: 0.0, y, half: Some(half) };
        assert_eq!(range.interval(&point(90.0, 20.0)), Some((70.0, 100.0)));
        assert_eq!(range.interval(&point(5.0, 20.0)), Some((0.0, 25.0)));
        assert_eq!(range.interval(&point(5.0, 0.0)), None);
    }

    #[test]
    fn ticks_are_round() {
        let range = |low, high, log| Range { low, high, log, from: 0.0, to: 1.0, bounds: OPEN }.ticks();
        assert_eq!(range(0.0, 1.05, false), [0.0, 0.5, 1.0]);
        assert_eq!(range(0.0, 5.2, false), [0.0, 2.0, 4.0]);
        assert_eq!(range(0.9, 1_100.0, true), [1.0, 10.0, 100.0, 1_000.0]);
        assert_eq!(range(0.9, 11.0, true), [1.0, 2.0, 5.0, 10.0]);
    }
}
