// node component.mjs CORE WIT WORLD OUTPUT: makes a component of a core module that needs nothing of WASI.
import { readFileSync, writeFileSync } from "node:fs";

import { componentEmbed, componentNew } from "@bytecodealliance/jco";

const [core, wit, world, output] = process.argv.slice(2);
const embedded = await componentEmbed({ binary: readFileSync(core), witSource: readFileSync(wit, "utf8"), world });
writeFileSync(output, await componentNew(embedded, []));
