import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./function.js";

const list = `apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
  - apiVersion: v1
    kind: Pod
    metadata:
      name: web # do not rename
functionConfig:
  apiVersion: v1
  kind: ConfigMap
  data:
    owner: team-a
`;

test("the owner is set, and comments stay", () => {
  const expected = list.replace("rename\n", "rename\n      annotations:\n        example.com/owner: team-a\n");
  assert.deepEqual(run(list), { output: expected, failed: false });
});

test("no owner is an error", () => {
  const { output, failed } = run("kind: ResourceList\nitems: []\n");
  assert.ok(failed && output.includes("severity: error"));
});
