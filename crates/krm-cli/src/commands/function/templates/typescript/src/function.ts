// {{name}}: sets an owner on every resource.

import { isMap, isScalar, isSeq, parseDocument, type Document, type YAMLMap } from "yaml";

const OWNER = "example.com/owner";

/** The result of a run: the output, and whether the function failed. */
export interface Outcome {
  output: string;
  failed: boolean;
}

/** Reads a ResourceList and gives it back with its resources changed. The document is edited, so comments stay. */
export function run(input: string): Outcome {
  const list = parseDocument(input);
  if (list.errors.length > 0) {
    throw list.errors[0];
  }
  try {
    transform(list);
    return { output: list.toString({ lineWidth: 0 }), failed: false };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    list.set("results", list.createNode([{ message, severity: "error" }]));
    return { output: list.toString({ lineWidth: 0 }), failed: true };
  }
}

function transform(list: Document): void {
  const owner = ownerOf(list);
  const items = list.get("items");
  for (const item of isSeq(items) ? items.items : []) {
    if (isMap(item)) {
      (item as YAMLMap).setIn(["metadata", "annotations", OWNER], owner);
    }
  }
}

/** The functionConfig is a custom resource with a spec, or a ConfigMap with data. */
function ownerOf(list: Document): string {
  for (const part of ["spec", "data"]) {
    const owner = list.getIn(["functionConfig", part, "owner"], true);
    if (isScalar(owner) && owner.value) {
      return String(owner.value);
    }
  }
  throw new Error("the functionConfig has no `owner`");
}
