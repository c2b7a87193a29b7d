//! The HTML report in a real browser: what it shows, its keys and filters, and that names cannot become markup.
//!
//! The browser loads the page with one more script, which uses the page like a person and leaves what it saw in the document.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sandbox::{self, Sandbox};

/// A browser to test with; the test is skipped without one, unless `KRM_REQUIRE_BROWSER` is set.
fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("KRM_BROWSER").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let on_path = std::env::split_paths(&path)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|path| path.is_file());
    let found = named.or(on_path);
    if found.is_none() {
        assert!(std::env::var_os("KRM_REQUIRE_BROWSER").is_none(), "no browser was found");
        sandbox::skipped("the HTML report in a browser", "chromium is not installed");
    }
    found
}

/// Runs a script in a report and returns its lines.
fn observe(sandbox: &Sandbox, browser: &Path, width: u32, script: &str) -> Vec<String> {
    let page = fs::read_to_string(sandbox.path().join("report.html")).unwrap();
    let script = format!(
        "<script>\"use strict\"; (() => {{ const seen = []; const see = (it) => seen.push(String(it)); {HELPERS}
         try {{ {script} }} catch (error) {{ see(error); }}
         document.body.replaceChildren(make('pre', {{ id: 'seen' }}, seen.join('\\n'))); }})();</script></body>"
    );
    let tested = sandbox.path().join("tested.html");
    fs::write(&tested, page.replace("</body>", &script)).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--dump-dom"])
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", sandbox.path().join("profile").display()))
        .arg(format!("file://{}", tested.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let (_, rest) = dom.split_once("<pre id=\"seen\">").unwrap_or_else(|| {
        panic!("the page did not run: {dom}{}", String::from_utf8_lossy(&output.stderr))
    });
    let (seen, _) = rest.split_once("</pre>").unwrap();
    let seen = seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    seen.lines().map(str::to_owned).collect()
}

/// A toggled row fills itself in an event that comes later, so the script sends it.
const HELPERS: &str = "
    const all = (selector) => [...document.querySelectorAll(selector)];
    const open = (row) => { row.open = true; row.dispatchEvent(new Event('toggle')); };
    const press = (key) => (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    const type = (text) => { filter.value = text; search(); };
    const rows = (kind) => all(`main .${kind} > summary`).map((it) => it.textContent);";

const KPTFILE: &str = "\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: shop}
pipeline:
  mutators:
  - image: set-labels
    configMap: {tier: web}
  - image: set-annotations
    configMap: {tier: web}
  validators:
  - exec: sh ./check.sh
";

const CHECK: &str = "\
cat
cat <<'END'
results:
- message: \"</script><script>document.title='changed'</script><img src=x onerror=alert(1)>\"
  severity: warning
  resourceRef: {apiVersion: v1, kind: ConfigMap, name: web}
  field: {path: data.markup}
  file: {path: web.yaml, index: 0}
  tags: {rule: '<b>bold</b>'}
END
";

const WEB: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
data:
  markup: \"</script><script>document.title='changed'</script>\"
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: \"<img src=x onerror=document.title='changed'>\"
";

fn package() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("shop/Kptfile", KPTFILE.as_bytes());
    sandbox.write("shop/check.sh", CHECK.as_bytes());
    sandbox.write("shop/web.yaml", WEB.as_bytes());
    sandbox.write(
        "shop/db/Kptfile",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: db}\n".as_bytes(),
    );
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: db\n";
    sandbox.write("shop/db/<svg onload=document.title='changed'>.yaml", other.as_bytes());
    let ran = sandbox.run("krm fn render shop --allow-exec --check -q --report html=report.html");
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    sandbox
}

#[test]
fn page_shows_packages_resources_fields_and_functions() {
    let Some(browser) = browser() else { return };
    let sandbox = package();
    let script = "
        see(document.getElementById('summary').textContent);
        see(all('main details.resource[open], main details.finding[open]').length);
        see(rows('package')[0]);
        open(all('main details.package')[0]);
        see(rows('resource').length);
        const web = all('main details.resource').find((it) => it.textContent.startsWith('ConfigMap web'));
        open(web);
        see([...web.querySelectorAll('.fields li')].map((it) => it.textContent).join('; '));
        see([...web.querySelectorAll('.add small')].map((it) => it.textContent).join(' '));
        see(web.querySelectorAll('.diff .add').length);
        const finding = all('main details.finding').find((it) => it.textContent.startsWith('warning'));
        open(finding);
        see(finding.querySelector('mark').textContent);
        see(document.title);
        see(all('img, svg, b b').length + ' ' + document.scripts.length);";
    let seen = observe(&sandbox, &browser, 1280, script);
    let expected = [
        "5 resources in 2 packages, changed by 2 functions",
        "0",
        "shop5 resources4 errors1 warning",
        "3",
        "+ metadata.labels: {tier: web}; + metadata.annotations: {tier: web}",
        "set-labels:latest set-annotations:latest",
        "4",
        "\"</script><script>document.title='changed'</script>\"",
        "krm report",
        "0 3",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn page_is_filtered_and_used_by_keyboard() {
    let Some(browser) = browser() else { return };
    let sandbox = package();
    let script = "
        type('db ConfigMap'); see(rows('resource').length + ' ' + rows('finding').length);
        type('set-annotations web.yaml'); see(rows('resource').length);
        type('nothing-like-this'); see(document.querySelectorAll('main .row').length);
        type(''); see(rows('package').length);
        all('#chips button').find((it) => it.textContent === '1 warning').click(); see(rows('resource').length + ' ' + rows('finding').length);
        all('#chips button').find((it) => it.textContent === '1 warning').click();
        press('j'); see(document.activeElement.parentElement.className);
        for (let at = 0; at < 5; at++) press('j');
        see(document.activeElement.parentElement.className);
        press('k'); see(document.activeElement.parentElement.className);
        press('/'); see(document.activeElement.id);
        document.activeElement.blur();
        const before = getComputedStyle(document.body).backgroundColor;
        press('t'); const dark = getComputedStyle(document.body).backgroundColor;
        press('t'); const light = getComputedStyle(document.body).backgroundColor;
        see(dark + ' ' + light);";
    let seen = observe(&sandbox, &browser, 1280, script);
    let expected = [
        "1 0",
        "2",
        "0",
        "1",
        "0 1",
        "row finding",
        "row package",
        "row finding",
        "filter",
        "rgb(13, 17, 23) rgb(255, 255, 255)",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn narrow_page_has_no_horizontal_scroll_bar() {
    let Some(browser) = browser() else { return };
    let sandbox = package();
    let script = "open(all('main details.package')[0]); all('main details').forEach(open);
        see(document.documentElement.scrollWidth <= window.innerWidth); see(all('.diff td').length > 4);";
    assert_eq!(observe(&sandbox, &browser, 400, script), ["true", "true"]);
}

#[test]
fn page_of_ten_thousand_resources_is_small_and_fast() {
    let sandbox = Sandbox::new();
    sandbox.write("shop/Kptfile", KPTFILE.split("  validators").next().unwrap().as_bytes());
    for part in 0..100 {
        let documents: Vec<String> = (0..100)
            .map(|at| {
                let name = format!("web-{part}-{at}");
                format!(
                    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  replicas: {at}\n  selector:\n    matchLabels:\n      app: {name}\n  template:\n    metadata:\n      labels:\n        app: {name}\n    spec:\n      containers:\n      - name: web\n        image: web:{part}\n"
                )
            })
            .collect();
        sandbox.write(&format!("shop/d-{part}.yaml"), documents.join("---\n").as_bytes());
    }
    let ran = sandbox
        .run("krm fn render shop --check -q --report html=report.html --report markdown=report.md");
    assert_eq!(ran.exit, 1, "{}", ran.stderr);
    let size = |name: &str| fs::metadata(sandbox.path().join(name)).unwrap().len();
    assert!(size("report.html") < 5_000_000, "{} bytes", size("report.html"));
    assert!(size("report.md") < 65_536, "{} bytes", size("report.md"));
    let markdown = fs::read_to_string(sandbox.path().join("report.md")).unwrap();
    let shown = markdown.matches("```diff\n").count();
    assert!(markdown.contains(&format!("{} more resources not shown", 10_001 - shown)));
    let Some(browser) = browser() else { return };
    let script = "
        see(document.getElementById('summary').textContent);
        const start = performance.now();
        type('web-42-17'); see(rows('resource').length);
        see(performance.now() - start < 2000);
        open(all('main details.resource')[0]); see(all('.diff .add').length > 0);
        type(''); see(document.querySelectorAll('*').length < 3000);";
    let expected =
        ["10,001 resources in 1 package, changed by 2 functions", "1", "true", "true", "true"];
    assert_eq!(observe(&sandbox, &browser, 1280, script), expected);
}
