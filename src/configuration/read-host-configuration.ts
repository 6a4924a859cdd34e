// Reads the host configuration from the object on stdin, and fills in every default.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject } from "../json/document.ts";
import type { HostConfiguration } from "./host-configuration.ts";
import { specificationPrefix } from "./keys/call-keys.ts";
import { checkDefaultNetwork } from "./keys/default-network-keys.ts";
import { allKeys } from "./keys/host-keys.ts";
import { configurationDirectory } from "./keys/place-keys.ts";
import { trustedByDefault } from "./keys/policy-keys.ts";
import { ObjectReader } from "./object-reader.ts";
import { keysWhere } from "./table/key.ts";
import { TableReader } from "./table/section.ts";

const hostTable = new TableReader(allKeys);

/** Keys whose mistakes stop every call, and the configuration itself. */
const stateKeys = ["configuration", ...keysWhere(allKeys, ({ locatesState }) => locatesState === true)];

/**
 * Reads the configuration object from the runtime's stdin. The fault names every wrong field: FIELD_UNSUPPORTED (2) if a key of the object
 * itself is unknown, else CONFIG_INVALID (7). `lenient`: true for calls that remove or examine an existing attachment (DEL, CHECK).
 * Problems then become warnings, unless they concern the state's location: a mistake that is added to the file later must not keep a pod's
 * sandbox (RT-07). `earlierNotices`: notices and warnings from the steps that built the object.
 */
export function readHostConfiguration(
  value: unknown,
  lenient = false,
  earlierNotices: readonly string[] = [],
  warnings: readonly string[] = [],
): Result<HostConfiguration> {
  if (!isJsonObject(value)) return refused(`configuration: must be an object, but is ${describeJson(value)}`);
  const reader = new ObjectReader(value);
  const notices = [...earlierNotices];
  const values = hostTable.read(reader, notices);
  checkDefaultNetwork(reader, values, notices);
  reader.end(hostTable.names, isOfSpecification);
  const fatal = reader.problems.filter((problem) => !lenient || stateKeys.some((key) => problem.startsWith(`${key}:`)));
  if (fatal.length > 0)
    return refused(fatal.join("; "), reader.hasUnknownKeys && !lenient ? "FIELD_UNSUPPORTED" : "CONFIG_INVALID");
  const { trusted = trustedByDefault(values) } = values.definitions;
  return ok({
    ...values,
    ...configurationDirectory(reader, values),
    definitions: { ...values.definitions, trusted },
    notices,
    warnings: [...warnings, ...reader.problems.map((problem) => `configuration: ${problem}`)],
  });
}

/** Keys under `cni.dev/` are the specification's: a runtime of a later version may set more of them than Plexus knows (CNI section 3). */
function isOfSpecification(key: string): boolean {
  return key.startsWith(specificationPrefix);
}

function refused(
  why: string,
  kind: "CONFIG_INVALID" | "FIELD_UNSUPPORTED" = "CONFIG_INVALID",
): { readonly ok: false; readonly fault: ReturnType<typeof fault> } {
  return failed(fault(kind, why));
}
