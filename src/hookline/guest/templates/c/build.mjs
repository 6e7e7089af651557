// Makes a component of a core module: the interface goes in, and what the module needs of WASI is adapted.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

import { componentEmbed, componentNew, preview1AdapterReactorPath } from "@bytecodealliance/jco";

const [core, output] = process.argv.slice(2);

// The world, and every package that it names, as one text.
const wasi = new URL("wit/builtin/0.2.12/", preview1AdapterReactorPath());
const nested = readdirSync(wasi).map((name) => {
  const [first, ...rest] = readFileSync(new URL(`${name}/package.wit`, wasi), "utf8").split("\n");
  return `${first.replace(";", " {")}\n${rest.join("\n")}}`;
});
const own = ["wit/hook.wit", "wit/murmur.wit"].map((path) => readFileSync(path, "utf8"));

const embedded = await componentEmbed({
  binary: readFileSync(core),
  witSource: [...own, ...nested].join("\n"),
  world: "hook",
});
const adapter = readFileSync(preview1AdapterReactorPath());
writeFileSync(output, await componentNew(embedded, [["wasi_snapshot_preview1", adapter]]));
