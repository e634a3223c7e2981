#!/usr/bin/env node
/** The command's own file once it is packed: opens the parts and runs the one that is the command line. */
import { join } from "node:path";
import type * as commandLine from "./main.ts";
import { openParts } from "./parts.ts";

const parts = openParts(join(import.meta.dirname, "..", "packed"));
// scripts/pack.mjs makes that part from this very module.
const { main } = parts.load("./main.js") as typeof commandLine;
void main(process.argv.slice(2), parts);
