// All checks of providers, in the order of reports and of the page.

import type { ProviderCheck } from "./check.ts";
import { activeChecks } from "./checks/active.ts";
import { ensureChecks } from "./checks/ensure.ts";
import { limitChecks } from "./checks/limits.ts";
import { listChecks } from "./checks/list.ts";
import { parameterChecks } from "./checks/parameters.ts";
import { releaseChecks } from "./checks/release.ts";
import { requestChecks } from "./checks/requests.ts";

/** Every check. The check of times is the last, because it judges the answers to all others. */
export const providerChecks: readonly ProviderCheck[] = [
  ...ensureChecks,
  ...parameterChecks,
  ...releaseChecks,
  ...listChecks,
  ...activeChecks,
  ...requestChecks,
  ...limitChecks,
];
