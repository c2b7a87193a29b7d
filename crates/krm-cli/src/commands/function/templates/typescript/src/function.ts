// {{name}}: sets an owner on every resource.

import { ResourceList, set } from "./resource-list.js";

const OWNER = "example.com/owner";

/** The result of a run: the output, and the error if the function failed. */
export interface Outcome {
  output: string;
  error?: string;
}

/** Reads a ResourceList and returns it with its resources changed. An error becomes a result. */
export function run(input: string): Outcome {
  const list = new ResourceList(input);
  try {
    transform(list);
    return { output: list.toString() };
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.message : String(thrown);
    list.results.push({ message: error, severity: "error" });
    return { output: list.toString(), error };
  }
}

function transform(list: ResourceList): void {
  // The functionConfig is a custom resource with a spec, or a ConfigMap with data.
  const owner = list.config("spec", "owner") ?? list.config("data", "owner");
  if (owner === undefined) {
    throw new Error("the functionConfig has no `owner`");
  }
  for (const item of list.items) {
    set(item, ["metadata", "annotations", OWNER], owner);
  }
}
