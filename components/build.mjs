// Builds every hook of this folder twice: as a component, which is shipped, and as a program of this machine, which
// needs no WebAssembly engine. A hook is a folder with its source, hook.c and what is beside it, and its manifest,
// murmur.yaml.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { componentEmbed, componentNew, preview1AdapterReactorPath } from "@bytecodealliance/jco";

const SHIPPED = "../src/hookline/shipped";
const WORLD = "hook";

const C = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Werror"];
const COMPONENT = {
  compile: ["--target=wasm32-wasi", "-Oz", "-flto"],
  // The stack comes first, so that running over it ends the component instead of overwriting its data.
  link: ["-mexec-model=reactor", "-Wl,--strip-all", "-Wl,--stack-first", "-Wl,-z,stack-size=262144"],
};
const NATIVE = {
  compile: ["-O2", "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong", "-fPIE"],
  link: ["-pie", "-lm"],
};

// Every path is relative, so that none of this machine comes into what is built.
process.chdir(fileURLToPath(new URL(".", import.meta.url)));

function sources(folder) {
  return readdirSync(folder).filter((name) => name.endsWith(".c")).sort().map((name) => join(folder, name));
}

// What is wrong, clang has then said itself.
function clang(args) {
  const { status, error } = spawnSync("clang", args, { stdio: ["ignore", "inherit", "inherit"] });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(1);
}

/** The object file of *source*, below *into*. */
function compiled(source, into, kind) {
  const object = join(into, `${source.replaceAll("/", "-")}.o`);
  clang([...C, ...kind.compile, "-c", source, "-o", object]);
  return object;
}

/** What every hook is linked with. */
function library(kind, name) {
  const into = join("build", "objects", name);
  mkdirSync(into, { recursive: true });
  return [...sources("lib"), ...sources(join("lib", name))].map((source) => compiled(source, into, kind));
}

function linked(hook, objects, kind, name, output) {
  const own = sources(hook).map((source) => compiled(source, join("build", "objects", name), kind));
  clang([...kind.compile, ...own, ...objects, ...kind.link, "-o", output]);
}

/** Make the module smaller, which the linker leaves some room for. */
function shrunk(core) {
  const optimiser = join("node_modules", "binaryen", "bin", "wasm-opt");
  const { status } = spawnSync(process.execPath, [optimiser, "-Oz", "--strip-producers", core, "-o", core], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

function nameOf(hook) {
  const found = /^name: *([a-z0-9-]+)$/m.exec(readFileSync(join(hook, "murmur.yaml"), "utf8"));
  if (found === null) throw new Error(`components/${hook}/murmur.yaml has no name`);
  return found[1];
}

/** The world, and every package that it names, as one text: jco cannot find packages in other files. */
function interfaces() {
  const wasi = new URL("wit/builtin/0.2.12/", preview1AdapterReactorPath());
  const nested = readdirSync(wasi).map((name) => {
    const [first, ...rest] = readFileSync(new URL(`${name}/package.wit`, wasi), "utf8").split("\n");
    return `${first.replace(";", " {")}\n${rest.join("\n")}}`;
  });
  return [...["wit/hook.wit", "wit/murmur.wit"].map((path) => readFileSync(path, "utf8")), ...nested].join("\n");
}

async function component(core, wit) {
  const embedded = await componentEmbed({ binary: core, witSource: wit, world: WORLD });
  const adapter = readFileSync(preview1AdapterReactorPath());
  return componentNew(embedded, [["wasi_snapshot_preview1", adapter]]);
}

const hooks = readdirSync(".").filter((name) => existsSync(join(name, "hook.c"))).sort();
const wit = interfaces();

rmSync("build", { recursive: true, force: true });
mkdirSync("build/native", { recursive: true });
const shared = { component: library(COMPONENT, "component"), native: library(NATIVE, "native") };
for (const hook of hooks) {
  const name = nameOf(hook);
  const core = join("build", `${name}.core.wasm`);
  linked(hook, shared.component, COMPONENT, "component", core);
  shrunk(core);
  const bytes = await component(readFileSync(core), wit);
  mkdirSync(join(SHIPPED, name), { recursive: true });
  writeFileSync(join(SHIPPED, name, "capsule.wasm"), bytes);
  copyFileSync(join(hook, "murmur.yaml"), join(SHIPPED, name, "murmur.yaml"));
  linked(hook, shared.native, NATIVE, "native", join("build", "native", name));
  console.log(`${name}: ${bytes.length} bytes`);
}
