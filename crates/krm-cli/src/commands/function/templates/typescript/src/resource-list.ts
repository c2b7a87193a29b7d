// Reads and writes a ResourceList so that only what the function changes is different afterwards.
//
// Comments, quotes and the order of fields stay. Every scalar is read as the text that is written, because a conversion would change
// values that YAML readers disagree about (`on`, `0777`, `1e3`): convert it where you need it, as in `Number(text)`.

import { Document, isCollection, isMap, isNode, isPair, isScalar, parseDocument, Scalar, visit, YAMLMap, YAMLSeq } from "yaml";

/** A value that can be set. */
export type Value = string | number | boolean | null;

/** The input and output of a function. */
export class ResourceList {
  /** The resources, which can be changed in place. */
  readonly items: YAMLMap[];
  /** Reported by the orchestrator. */
  readonly results: { message: string; severity: string }[] = [];
  private readonly envelope: Document;
  /** What was read: comments in front of an item belong to its document, and an item that did not change is written as it was. */
  private readonly read = new Map<YAMLMap, { document: Document; printed: string; text: string }>();

  constructor(input: string) {
    const { envelope, texts } = split(input);
    this.envelope = parse(envelope);
    if (this.envelope.get("kind") !== "ResourceList") {
      throw new Error("expected a ResourceList on stdin");
    }
    const inline = this.envelope.get("items");
    this.envelope.delete("items");
    (this.envelope.contents as YAMLMap).flow = false;
    const nodes = inline instanceof YAMLSeq ? inline.items : [];
    for (const text of texts) {
      const document = parse(text);
      nodes.push(document.contents);
      this.read.set(document.contents as YAMLMap, { document, printed: print(document), text });
    }
    this.items = nodes.filter((node): node is YAMLMap => isMap(node));
  }

  /** A text of the functionConfig, if there is one at this path. */
  config(...path: string[]): string | undefined {
    const node = this.envelope.getIn(["functionConfig", ...path], true);
    return isScalar(node) && node.value ? String(node.value) : undefined;
  }

  toString(): string {
    if (this.results.length > 0) {
      const results = new YAMLSeq();
      for (const { message, severity } of this.results) {
        const result = new YAMLMap();
        set(result, ["message"], message);
        set(result, ["severity"], severity);
        results.add(result);
      }
      this.envelope.set("results", results);
    }
    const items = this.items.map((item) => {
      const before = this.read.get(item);
      const printed = print(before?.document ?? new Document(item, { schema: "failsafe" }));
      const text = before?.printed === printed ? before.text : printed;
      return "- " + text.replace(/\n(?!\n|$)/g, "\n  ");
    });
    return print(this.envelope) + (items.length > 0 ? "items:\n" : "items: []\n") + items.join("");
  }
}

/** Sets a value of a resource and adds the mappings that are missing. */
export function set(item: YAMLMap, path: string[], value: Value): void {
  const [key, ...rest] = path;
  if (rest.length === 0) {
    item.set(key, scalar(value));
    return;
  }
  let next = item.get(key);
  if (!isMap(next)) {
    next = new YAMLMap();
    item.set(key, next);
  }
  set(next as YAMLMap, rest, value);
}

/** Strings that are strings for every reader, and the words among them that are not. */
const PLAIN = /^[A-Za-z_/][A-Za-z0-9_./@-]*$/;
const WORDS = /^(y|yes|n|no|on|off|true|false|null)$/i;

function scalar(value: Value): Scalar {
  const node = new Scalar(String(value));
  if (typeof value === "string" && (!PLAIN.test(value) || WORDS.test(value))) {
    node.type = Scalar.QUOTE_DOUBLE;
  }
  return node;
}

function parse(text: string): Document {
  const document = parseDocument(text, { schema: "failsafe" });
  if (document.errors.length > 0) {
    throw document.errors[0];
  }
  restoreComments(document, text);
  return document;
}

/** Marks a comment that stands on the line of its key; no YAML contains this character. */
const SAME_LINE = "\0";

function print(document: Document): string {
  const text = document.toString({ lineWidth: 0, indentSeq: false, flowCollectionPadding: false });
  return text.replaceAll(new RegExp(`\n *#${SAME_LINE}`, "g"), " #");
}

/**
 * Assigns comments to the entries beside which they are written. `yaml` moves a comment behind the key of a collection to the next
 * line, and comments below a collection into it, even those with less indentation. kpt would add such a comment once more.
 */
function restoreComments(document: Document, text: string): void {
  const column = (at: number) => at - text.lastIndexOf("\n", at - 1) - 1;
  visit(document, {
    Pair(_, { key, value }) {
      if (isNode(key) && isNode(value) && value.commentBefore) {
        const between = text.slice(key.range?.[1], value.range?.[0]);
        value.commentBefore = (/^ *: *#/.test(between) ? SAME_LINE : "") + value.commentBefore;
      }
    },
    Collection(_, node, ancestors) {
      if (node.flow) {
        return;
      }
      const [, end, next] = node.range ?? [0, 0, 0];
      const indents = text.slice(end, next).match(/^ *(?=#)/gm) ?? [];
      const lines = `\n${node.comment ?? ""}`.match(/\n+[^\n]+/g) ?? [];
      node.comment = undefined;
      lines.forEach((line, at) => {
        const add = (old?: string | null) => (old ? old + line : line.replace(/^\n/, ""));
        const chain = [...ancestors, node];
        // The innermost collection that begins at the column of the comment, or before it.
        const isOuter = (it: unknown) => isCollection(it) && column(it.range?.[0] ?? 0) <= (indents[at] ?? "").length;
        const depth = chain.findLastIndex(isOuter);
        const owner = chain[depth];
        if (!isCollection(owner)) {
          document.comment = add(document.comment);
          return;
        }
        const items: unknown[] = owner.items;
        const below = items[items.indexOf(chain[depth + 1]) + 1];
        const entry = isPair(below) ? below.key : below;
        if (owner !== node && isNode(entry)) {
          entry.commentBefore = add(entry.commentBefore);
        } else {
          owner.comment = add(owner.comment);
        }
      });
    },
  });
}

/**
 * The text without the items, and the text of each item.
 *
 * Each item is read and written by itself: a comment in front of its first field would move in front of its dash otherwise, where
 * other tools take it for another comment.
 */
function split(input: string): { envelope: string; texts: string[] } {
  const lines = input.split(/(?<=\n)/);
  const start = lines.findIndex((line) => line.trimEnd() === "items:");
  const dash = lines[start + 1]?.match(/^ *-(?= |$)/m)?.[0];
  if (start < 0 || dash === undefined) {
    return { envelope: input, texts: [] };
  }
  const texts: string[] = [];
  let end = start + 1;
  for (; end < lines.length; end++) {
    const line = lines[end];
    if (line.startsWith(dash) && /^( |\n|$)/.test(line.slice(dash.length))) {
      texts.push(line.slice(dash.length + 1) || "\n");
    } else if (/^[ #\n]/.test(line)) {
      const indent = Math.min(dash.length + 1, line.length - line.trimStart().length);
      texts[texts.length - 1] += line.slice(line.trim() === "" ? Math.min(indent, line.length - 1) : indent);
    } else {
      break;
    }
  }
  return { envelope: lines.slice(0, start).concat(lines.slice(end)).join(""), texts };
}
