#!/usr/bin/env node
// The program: stdin to stdout. The exit code is 1 if the function fails.

import { readFileSync, writeFileSync } from "node:fs";
import { run } from "./function.js";

try {
  const { output, error } = run(readFileSync(0, "utf8"));
  writeFileSync(1, output);
  if (error !== undefined) {
    throw new Error(error);
  }
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
