// All checks, in the order of reports and of the page.

import type { Check } from "./check.ts";
import { addChecks } from "./checks/add.ts";
import { checkChecks } from "./checks/check.ts";
import { concurrencyChecks } from "./checks/concurrency.ts";
import { delChecks } from "./checks/del.ts";
import { delegationChecks } from "./checks/delegation.ts";
import { errorChecks } from "./checks/errors.ts";
import { gcChecks } from "./checks/gc.ts";
import { outputChecks } from "./checks/output.ts";
import { prevResultChecks } from "./checks/prev-result.ts";
import { statusChecks } from "./checks/status.ts";
import { versionChecks } from "./checks/version.ts";

/** Every check of the kit. */
export const catalogue: readonly Check[] = [
  ...versionChecks,
  ...addChecks,
  ...prevResultChecks,
  ...delChecks,
  ...checkChecks,
  ...gcChecks,
  ...statusChecks,
  ...errorChecks,
  ...outputChecks,
  ...delegationChecks,
  ...concurrencyChecks,
];
