//! Writes generated resources in the layouts that people use: flow and block style, comments beside and above fields, and block scalars.

use crate::corpus::random::Random;
use crate::differential::tree::Tree::{self, List, Map, Scalar};

/// How many fields get comments, and which.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// The percentage of fields with a reference to a setter.
    pub(super) setters: u64,
    /// The percentage of collections in flow style.
    pub(super) flow: u64,
}

/// A resource as YAML.
pub(super) fn write(tree: &Tree, layout: Layout, random: &mut Random) -> String {
    let mut writer = Writer { layout, random, out: String::new() };
    writer.block(tree, 0);
    writer.out
}

struct Writer<'a> {
    layout: Layout,
    random: &'a mut Random,
    out: String,
}

impl Writer<'_> {
    fn block(&mut self, tree: &Tree, indent: usize) {
        let pad = " ".repeat(indent);
        match tree {
            Scalar(_) => unreachable!("scalars are written beside their key or dash"),
            Map(entries) => {
                for (at, (key, value)) in entries.iter().enumerate() {
                    // A comment above the first key of a list element would separate it from its dash.
                    if at > 0 && self.random.chance(3) {
                        self.out.push_str(&format!("{pad}# about {key}\n"));
                    }
                    self.out.push_str(&format!("{pad}{key}:"));
                    self.value(key, value, indent);
                }
            }
            List(items) => {
                for item in items {
                    self.item(item, indent);
                }
            }
        }
    }

    fn item(&mut self, item: &Tree, indent: usize) {
        let pad = " ".repeat(indent);
        self.out.push_str(&format!("{pad}-"));
        match item {
            Scalar(_) => self.value("", item, indent),
            item if is_empty(item) || self.random.chance(self.layout.flow) => {
                self.flow_value("", item);
            }
            item => {
                let start = self.out.len();
                self.block(item, indent + 2);
                self.out.replace_range(start..start + indent + 2, " ");
            }
        }
    }

    fn value(&mut self, key: &str, value: &Tree, indent: usize) {
        match value {
            Scalar(text) if text.contains('\n') => {
                let pad = " ".repeat(indent + 2);
                let lines = text.lines().map(|line| format!("{pad}{line}\n"));
                let lines: String = lines.collect();
                self.out.push_str(&format!(" |\n{lines}"));
            }
            Scalar(text) => {
                let comment = self.comment(key, text);
                self.out.push_str(&format!(" {text}{comment}\n"));
            }
            value if is_empty(value) || self.random.chance(self.layout.flow) => {
                self.flow_value(key, value);
            }
            List(_) => {
                let comment = self.comment(key, "");
                self.out.push_str(&format!("{comment}\n"));
                let indent = indent + if self.random.chance(50) { 2 } else { 0 };
                self.block(value, indent);
            }
            Map(_) => {
                self.out.push('\n');
                self.block(value, indent + 2);
            }
        }
    }

    fn flow_value(&mut self, key: &str, value: &Tree) {
        let comment = match value {
            List(_) => self.comment(key, ""),
            _ => String::new(),
        };
        self.out.push_str(&format!(" {}{comment}\n", flow(value)));
    }

    /// A comment for a field: a reference to a setter, as far as its name suggests one, or a remark.
    fn comment(&mut self, key: &str, text: &str) -> String {
        // Comments of the annotations of the orchestrator are removed with them; a list of mappings has no setter.
        let is_list = text.is_empty() && !matches!(key, "environments" | "args");
        let has_setter = !key.contains("config.kubernetes.io/") && !is_list;
        if has_setter && self.random.chance(self.layout.setters) {
            let pattern = match key {
                "name" | "app" if text.starts_with("my-") => "my-${app}",
                "name" | "app" => "${app}",
                "namespace" => "${namespace}",
                "replicas" | "maxReplicas" => "${replicas}",
                "image" if text.contains(':') && !text.contains(['@', '/']) => "${image}:${tag}",
                "image" => "${image}",
                "environments" | "args" => "${list}",
                "url" => "http://${app}.${stage}:${port}/${image}",
                "port" | "containerPort" | "targetPort" => "${port}",
                "stage" | "value" | "" => "${stage}",
                _ => "${other}",
            };
            return format!(" # kpt-set: {pattern}");
        }
        if self.random.chance(6) { " # as agreed".to_owned() } else { String::new() }
    }
}

fn is_empty(tree: &Tree) -> bool {
    match tree {
        Map(entries) => entries.is_empty(),
        List(items) => items.is_empty(),
        Scalar(_) => false,
    }
}

/// A value in flow style.
fn flow(tree: &Tree) -> String {
    match tree {
        Scalar(text) if text.contains('\n') => format!("{text:?}"),
        // `~`, `{` and the like are only written where they mean themselves.
        Scalar(text) => text.clone(),
        Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key}: {}", flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        List(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
    }
}
