// The program: stdin to stdout.

import { readFileSync, writeFileSync } from "node:fs";
import { run } from "./function.js";

const { output, failed } = run(readFileSync(0, "utf8"));
writeFileSync(1, output);
process.exitCode = failed ? 1 : 0;
