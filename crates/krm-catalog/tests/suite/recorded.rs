//! Stands in for `helm` and for the files of a package: what `helm` printed for two small charts is recorded here.

use std::cell::RefCell;

use krm_catalog::generate_kpt_pkg_docs::Documents;
use krm_catalog::render_helm_chart::{Helm, HelmCommand};
use krm_sdk::Diagnostic;

/// The files that the cases name.
const FILES: &[(&str, &str)] = &[
    ("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.2.3\n"),
    ("charts/web/values.yaml", "color: green\n"),
    ("charts/echo/Chart.yaml", "apiVersion: v2\nname: echo\nversion: 0.1.0\n"),
    ("charts/echo/values.yaml", "from: chart\n"),
    ("tmp/charts/echo/Chart.yaml", "apiVersion: v2\nname: echo\nversion: 0.1.0\n"),
    ("a.yaml", "from: a\n"),
    ("b.yaml", "from: b\n"),
    ("charts/broken/Chart.yaml", "apiVersion: v2\nname: broken\nversion: 0.1.0\n"),
];

/// The output of helm 3.17.3 for the release `shop` of the chart `web`.
const WEB: &str = "---
# Source: web/templates/configmap.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: shop-web
data:
  color: green
---
# Source: web/templates/service.yaml
apiVersion: v1
kind: Service
metadata:
  name: shop-web
spec:
  type: ClusterIP
";

/// A stand-in that knows the charts `web` and `echo`; the latter renders to the command line and the values.
pub(crate) struct RecordedHelm;

impl Helm for RecordedHelm {
    fn read(&self, path: &str) -> Result<Option<String>, Diagnostic> {
        let found = FILES.iter().find(|(name, _)| *name == path);
        Ok(found.map(|(_, text)| (*text).to_owned()))
    }

    fn run(&self, command: &HelmCommand) -> Result<String, Diagnostic> {
        Ok(match command.chart.as_str() {
            "charts/web" => WEB.to_owned(),
            "charts/broken" => "---\nkind: A\n---\nmessage: [\n".to_owned(),
            chart => {
                let arguments: String =
                    command.arguments.iter().map(|it| format!("  - '{it}'\n")).collect();
                let values: String =
                    command.values.iter().map(|it| format!("  - '{}'\n", it.trim_end())).collect();
                format!(
                    "---\napiVersion: v1\nkind: Echo\nmetadata:\n  name: echo\nspec:\n  chart: {chart}\n  arguments:\n{arguments}  values:\n{values}"
                )
            }
        })
    }
}

/// The documents of a package, and what a function makes of them.
#[derive(Default)]
pub(crate) struct RecordedDocuments {
    pub(crate) texts: RefCell<Vec<(String, String)>>,
}

impl Documents for RecordedDocuments {
    fn read(&self, path: &str) -> Result<Option<String>, Diagnostic> {
        let texts = self.texts.borrow();
        Ok(texts.iter().find(|(name, _)| name == path).map(|(_, text)| text.clone()))
    }

    fn replace(&self, path: &str, text: String) -> Result<(), Diagnostic> {
        let mut texts = self.texts.borrow_mut();
        let found = texts.iter_mut().find(|(name, _)| name == path);
        found.expect("only a document that was read is replaced").1 = text;
        Ok(())
    }
}
