//! The page in a real browser, with a switch behind it that is under load.

use crate::devtools::Browser;
use crate::fake::{Fake, SETTINGS};
use forebay_control::{HttpConfig, Server, serve};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

type Heard = (Vec<(String, String)>, Result<(), String>);

/// A switch with a page, and what it is asked to change.
struct Stage {
    _server: Server,
    url: String,
    heard: Receiver<Heard>,
}

fn stage(settings: &str, token: Option<&str>) -> Stage {
    let (handle, switch_side) = forebay_live::handle::pair();
    let (tell, heard) = channel();
    let mut fake = Fake::new(settings).unwrap();
    // So that there is something to see from the beginning.
    fake.go(forebay_tm::Duration::from_us(8_000_000));
    std::thread::spawn(move || {
        fake.run(&switch_side, |changes, outcome| {
            let _ = tell.send((changes.to_vec(), outcome.clone()));
        });
    });
    let http = HttpConfig { listen: "127.0.0.1:0".parse().unwrap(), token: token.map(Into::into) };
    let server = serve(handle, Some(http), None).unwrap();
    let url = format!("http://{}/", server.http_address().unwrap());
    Stage { _server: server, url, heard }
}

impl Stage {
    /// The next change that the switch was asked for.
    fn next(&self) -> Heard {
        self.heard.recv_timeout(Duration::from_secs(20)).expect("the switch is asked for a change")
    }
}

fn changed(key: &str, value: &str) -> Vec<(String, String)> {
    vec![(key.into(), value.into())]
}

/// Opens the page and waits until it shows the switch and its settings.
fn open(browser: &mut Browser, url: &str) {
    browser.open(url);
    browser.until("document.getElementById('status')?.dataset.state === 'live' && document.querySelectorAll('#settings .control').length > 3");
}

const NO_ERRORS: &str = "document.getElementById('errors').hidden";
/// A number that depends on every pixel of the first chart.
const PIXELS: &str = "(() => { const c = document.querySelector('canvas'); let sum = 0; \
    c.getContext('2d').getImageData(0, 0, c.width, c.height).data.forEach((v, i) => { sum = (sum * 31 + v + i % 7) % 1e9; }); return sum; })()";
/// How many pixels of the first chart have (nearly) a colour of the style.
fn pixels_like(variable: &str) -> String {
    format!(
        "(() => {{ const c = document.querySelector('canvas'); const probe = document.createElement('i'); probe.style.color = 'var({variable})'; \
        document.body.append(probe); const want = getComputedStyle(probe).color.match(/\\d+/g).map(Number); probe.remove(); \
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; \
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200 && [0, 1, 2].every((k) => Math.abs(d[i + k] - want[k]) < 12)) n += 1; return n; }})()"
    )
}

#[test]
fn the_page_shows_a_switch_and_changes_it() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(SETTINGS, None);
    browser.look(1600, 1000, "light");
    open(&mut browser, &stage.url);

    // Every port and queue has its names, its numbers and its chart, which moves.
    let names = browser.value("[...document.querySelectorAll('.port h3')].map((h) => h.textContent).join()");
    assert_eq!(names, "fb-h1,fb-h2,fb-h3,fb-h4");
    assert_eq!(browser.value("document.querySelectorAll('.port .queues tbody tr').length"), 8);
    assert_eq!(browser.value("document.querySelectorAll('#counters tbody tr').length"), 9);
    let before = browser.value(PIXELS);
    browser.until(&format!("{PIXELS} !== {before}"));
    for variable in ["--q0", "--q1"] {
        browser.until(&format!("{} > 100", pixels_like(variable)));
    }
    browser.until("document.querySelectorAll('#buffer-bar .part:not([hidden])').length > 0");
    browser.until(
        "Number(document.querySelector('#counters tbody td:nth-child(3)').textContent.replaceAll(',', '')) > 1000",
    );

    // Losses are told with their reason, and shown in the chart.
    browser
        .until("document.querySelector('#loss-list .what')?.textContent.includes('its queue was above its threshold')");
    browser.until(&format!("{} > 5", pixels_like("--drop")));

    the_alpha_changes(&mut browser, &stage);
    the_policy_and_a_rate_change(&mut browser, &stage);

    // Paused, it stands still.
    browser.value("document.getElementById('pause').click()");
    browser.until("document.getElementById('status').dataset.state === 'paused'");
    let before = browser.value(PIXELS);
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(browser.value(PIXELS), before);
    browser.value("document.getElementById('pause').click()");
    browser.until(&format!("{PIXELS} !== {before}"));
    assert_eq!(browser.value(NO_ERRORS), true);
}

fn the_alpha_changes(browser: &mut Browser, stage: &Stage) {
    // The slider, by keyboard: a quarter of a power of two for each step.
    browser.value("document.getElementById('set-policy-alpha').focus()");
    for _ in 0..4 {
        browser.press("ArrowRight", 39);
    }
    let mut last = stage.next();
    while last.0 != changed("policy.alpha", "2") {
        assert_eq!(last.1, Ok(()));
        last = stage.next();
    }
    browser.until("document.getElementById('set-policy-alpha-value').value === '2'");
    browser.until("document.querySelector('.answer.taken') !== null");
    browser.until("fetch('/api/settings').then((a) => a.json()).then((s) => s.keys.find((k) => k.key === 'policy.alpha').value === '2.0')");

    // A value that is refused, with the reason beside it; then the slider has its old value again.
    browser.value("document.getElementById('set-policy-alpha-value').select(), document.getElementById('set-policy-alpha-value').focus()");
    browser.type_text("-3");
    browser.press("Tab", 9);
    let (asked, outcome) = stage.next();
    assert_eq!(asked, changed("policy.alpha", "-3"));
    assert!(outcome.is_err());
    browser.until("document.querySelector('.answer.refused')?.textContent.includes('a threshold cannot be negative')");
    browser.until("document.getElementById('set-policy-alpha-value').value === '2'");
    assert_eq!(browser.value("document.getElementById('set-policy-alpha').value"), "1");
    browser.picture("wide-light-refused");

    // An alpha for each queue number.
    browser.value("document.getElementById('set-policy-alpha-each').click()");
    assert_eq!(stage.next().0, changed("policy.alpha", "[2, 2]"));
    browser.until("document.getElementById('set-policy-alpha-1') !== null");
    browser.value("document.getElementById('set-policy-alpha-1').focus()");
    browser.press("ArrowLeft", 37);
    assert_eq!(stage.next().0, changed("policy.alpha", "[2, 1.68]"));
}

fn the_policy_and_a_rate_change(browser: &mut Browser, stage: &Stage) {
    // Another policy, and the rate of a port.
    let choose = |word: &str| {
        format!(
            "(() => {{ const s = document.getElementById('set-policy-kind'); s.value = '{word}'; s.dispatchEvent(new Event('change')); }})()"
        )
    };
    browser.value(&choose("cs"));
    assert_eq!(stage.next(), (changed("policy.kind", "cs"), Ok(())));
    browser.until("document.getElementById('policy').textContent === 'cs' && document.getElementById('set-policy-alpha') === null");
    browser.until("document.querySelector('.queues td:nth-child(3)').textContent === 'none'");
    browser.value(&choose("occamy"));
    assert_eq!(stage.next().0, changed("policy.kind", "occamy"));
    browser.until("document.getElementById('set-policy-alpha') !== null");
    browser.value("document.getElementById('set-interface-3-rate').select(), document.getElementById('set-interface-3-rate').focus()");
    browser.type_text("fast");
    browser.press("Tab", 9);
    assert!(stage.next().1.is_err());
    browser.until(
        "[...document.querySelectorAll('.answer.refused')].some((a) => a.textContent.includes('is not a rate'))",
    );
    browser.value("document.getElementById('set-interface-3-rate').select(), document.getElementById('set-interface-3-rate').focus()");
    browser.type_text("25Mbps");
    browser.press("Tab", 9);
    assert_eq!(stage.next(), (changed("interface.3.rate", "25Mbps"), Ok(())));
    browser.until("document.querySelectorAll('.port .link')[3].textContent === '25.0 Mb/s'");
}

#[test]
fn the_page_fits_small_and_large_windows_by_day_and_night() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(SETTINGS, Some("open-sesame"));
    // Without the token there is nothing to see, and with it once, a cookie opens.
    browser.open(&stage.url);
    browser.until("document.body?.innerText.includes('a token is needed') === true");
    open(&mut browser, &format!("{}?token=open-sesame", stage.url));
    assert_eq!(browser.value("location.search"), "");
    for (name, width, height, scheme) in [
        ("wide-light", 1600, 1000, "light"),
        ("wide-dark", 1600, 1000, "dark"),
        ("middle-light", 820, 1100, "light"),
        ("narrow-light", 360, 740, "light"),
        ("narrow-dark", 360, 740, "dark"),
    ] {
        browser.look(width, height, scheme);
        let wide = format!("document.documentElement.scrollWidth <= {width} && innerWidth === {width}");
        browser.until(&wide);
        let dark = "matchMedia('(prefers-color-scheme: dark)').matches";
        assert_eq!(browser.value(dark), scheme == "dark");
        browser.until(&format!("{} > 50", pixels_like("--q0")));
        browser.picture(name);
        // Everything that can be operated has a name, and nothing is cut off.
        let nameless = "[...document.querySelectorAll('input, select, button, canvas')].filter((n) => n.checkVisibility()).filter((n) => \
            !(n.labels?.length || n.textContent.trim() || n.getAttribute('aria-label'))).map((n) => n.id).join()";
        assert_eq!(browser.value(nameless), "");
        let outside = format!(
            "[...document.querySelectorAll('input, select, button, canvas, .queues, .flow, #facts div, #loss-list li')] \
            .filter((n) => n.checkVisibility() && n.getBoundingClientRect().right > {width} - 8).map((n) => n.outerHTML).join()"
        );
        assert_eq!(browser.value(&outside), "", "at {width}");
    }
    assert_eq!(browser.value(NO_ERRORS), true);
}

#[test]
fn who_does_not_like_motion_sees_little_of_it() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(SETTINGS, None);
    browser.look(800, 800, "light");
    browser.prefer("prefers-reduced-motion", "reduce");
    open(&mut browser, &stage.url);
    // Looked at often for two seconds, it is another picture once a second.
    let pictures = format!(
        "new Promise((done) => {{ let [last, n] = [{PIXELS}, 0]; const start = performance.now(); const timer = setInterval(() => {{ \
        const now = {PIXELS}; if (now !== last) n += 1; last = now; const time = performance.now() - start; \
        if (time > 2000 && n > 0) {{ clearInterval(timer); done(n - time / 1000); }} }}, 40); }})"
    );
    let beyond = browser.value(&pictures).as_f64().unwrap();
    assert!(beyond <= 1.0, "{beyond} pictures more than one a second");
}

/// How often the canvas is called to draw a chart of four queues over half a minute, with lengths that move or stand
/// still.
fn calls_to_draw(browser: &mut Browser, moving: bool) -> u64 {
    let script = format!(
        "(async () => {{ const [{{Model}}, {{Chart, colors}}] = await Promise.all([import('/page/model.js'), import('/page/charts.js')]); \
        const count = () => ({{packets: 0, bytes: 0}}); \
        const counters = () => ({{sent: count(), headers_sent: count(), trimmed: count(), returned: count(), drops: {{}}}}); \
        const model = new Model(); \
        const queue = (i) => (q) => ({{bytes: 50000 * (1 + Math.sin({moving} ? i / 9 + q : q)), watermark_bytes: 1e5, threshold_bytes: {moving} ? 9e4 + 200 * i : null, counters: counters()}}); \
        for (let i = 1; i <= 600; i += 1) model.push({{sequence: i, uptime_s: i / 20, buffer_bytes: 410000, \
          ports: [{{name: 'p', received: count(), counters: counters(), queues: [0, 1, 2, 3].map(queue(i))}}]}}, i / 20); \
        const canvas = document.createElement('canvas'); document.body.append(canvas); const chart = new Chart(canvas, 0); let calls = 0; \
        chart.context = new Proxy(chart.context, {{ get: (of, name) => typeof of[name] === 'function' ? (...all) => {{ calls += 1; return of[name](...all); }} : of[name], \
          set: (of, name, value) => {{ of[name] = value; return true; }} }}); \
        chart.draw(model, 30, 'fit', colors()); canvas.remove(); return calls; }})()"
    );
    browser.value(&script).as_u64().unwrap()
}

/// Times are another thing on a busy machine; calls are what they are made of.
#[test]
fn drawing_a_chart_is_little_work() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(SETTINGS, None);
    open(&mut browser, &stage.url);
    // Of each queue a length and a threshold, with a call for each of 600 points at most, and a level area.
    let moving = calls_to_draw(&mut browser, true);
    assert!((1_000..5_200).contains(&moving), "{moving} calls");
    let still = calls_to_draw(&mut browser, false);
    assert!((20..200).contains(&still), "{still} calls");
}

#[test]
fn hostile_names_do_nothing() {
    let Some(mut browser) = Browser::start() else { return };
    let nasty = "<img src=x onerror=alert(1)>";
    let stage = stage(&SETTINGS.replace("fb-h1", nasty), None);
    open(&mut browser, &stage.url);
    assert_eq!(browser.value("document.querySelector('.port h3').textContent"), nasty);
    assert_eq!(browser.value("document.querySelectorAll('img').length"), 0);
    assert_eq!(browser.value(NO_ERRORS), true);
}

#[test]
fn a_switch_that_is_gone_is_said_to_be_gone() {
    let Some(mut browser) = Browser::start() else { return };
    let stage = stage(SETTINGS, None);
    open(&mut browser, &stage.url);
    drop(stage);
    browser.until("document.getElementById('status').dataset.state === 'lost'");
    assert_eq!(browser.value(NO_ERRORS), true);
}
