// docs/reference/configuration.schema.json, for editors and validators: made from the schema in the code.

import { writeFileSync } from "node:fs";
import * as z from "zod";
import { hostConfigurationSchema } from "../src/configuration/schema.ts";

writeFileSync(
  "docs/reference/configuration.schema.json",
  `${JSON.stringify(z.toJSONSchema(hostConfigurationSchema), undefined, 2)}\n`,
);
