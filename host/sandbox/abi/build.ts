// Writes the generated glue: `node host/sandbox/abi/build.ts`. A test fails if the committed glue differs.

import { readFileSync, writeFileSync } from "node:fs";
import type { WitModel } from "../../../wit/model.ts";
import { generateGlue } from "./generate.ts";

const model: WitModel = JSON.parse(readFileSync(new URL("../../../wit/0.1.0/model.json", import.meta.url), "utf8"));
writeFileSync(new URL("./generated/delegate-0.1.0.ts", import.meta.url), generateGlue(model));
