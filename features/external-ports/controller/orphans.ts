// Ports of a fabric that no ExternalPort has: a controller ended between the port's creation and the object's status, or somebody removed the object.

import { setTimeout } from "node:timers/promises";
import { isReleased, readExternalPort } from "../rules/external-port.ts";
import { quote } from "../../../src/json/quote.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import type { OwnedPort, PortProvider } from "./provider.ts";
import { portPath } from "./status.ts";

/** Ports that one look releases at most: a mistake in the owner's name must not empty a fabric at once. */
const maxReleased = 500;
/** Ports that one look asks the API about: a provider's list may be long and wrong, and each question is a request. */
const maxAsked = 2_000;
/** Failures in a row that end a look: a provider that does not answer takes the time limit of a request for each port. */
const maxFailures = 10;

/** Settings of the looks for orphans of one provider. */
export interface OrphanLooks {
  /** Whether a watched object has the port. */
  readonly isInUse: (port: OwnedPort) => boolean;
  /** Interval between looks, in ms. */
  readonly intervalMs: number;
}

/** Looks for orphans of the provider until `signal` is aborted, at once and then at each interval. */
export async function lookForOrphans(
  context: Pick<PartContext, "objects" | "log">,
  name: string,
  provider: PortProvider,
  { isInUse, intervalMs }: OrphanLooks,
  signal: AbortSignal,
): Promise<void> {
  const position = { index: 0 };
  while (!signal.aborted) {
    try {
      await releaseOrphans(context, name, provider, isInUse, { signal, position });
    } catch (error) {
      // A mistake in one provider must not end the controller.
      const why = error instanceof Error ? error.message : String(error);
      context.log("warn", `provider "${name}": the look for orphans failed: ${why}`);
    }
    await setTimeout(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

/** The bounds of one look. */
export interface OrphanLook {
  /** The end of the controller's term. */
  readonly signal?: AbortSignal;
  /** Where the look begins in the provider's list, and afterwards where it ended: ports that cannot be released must not hide those behind them. */
  readonly position?: { index: number };
}

/**
 * Releases the orphans. An ExternalPort is created before its port, so a port without an object is never about to get one. A port that `isInUse` knows
 * stays; for another one the API's store is asked, not a watch. Answers the number of released ports.
 */
export async function releaseOrphans(
  { objects, log }: Pick<PartContext, "objects" | "log">,
  name: string,
  provider: PortProvider,
  isInUse: (port: OwnedPort) => boolean = () => false,
  { signal, position = { index: 0 } }: OrphanLook = {},
): Promise<number> {
  const owned = await provider.list();
  if (!owned.ok) {
    log("warn", `provider "${name}": its ports cannot be listed: ${owned.message}`);
    return 0;
  }
  const { length } = owned.value;
  const from = position.index % Math.max(1, length);
  let [released, asked, failures] = [0, 0, 0];
  for (const [count, port] of [...owned.value.slice(from), ...owned.value.slice(0, from)].entries()) {
    if (signal?.aborted === true || released >= maxReleased || asked >= maxAsked || failures >= maxFailures) break;
    position.index = (from + count + 1) % length;
    const path = isInUse(port) ? undefined : pathOf(port);
    if (path === undefined) continue;
    asked += 1;
    if (!(await isOrphan(objects, name, port, path))) continue;
    const outcome = await provider.release(port);
    if (outcome.ok) released += 1;
    failures = outcome.ok ? 0 : failures + 1;
    log(
      outcome.ok ? "info" : "warn",
      `port ${quote(port.providerId)} of provider "${name}" has no ExternalPort ${port.key}: ${outcome.ok ? "released" : outcome.message}`,
    );
  }
  return released;
}

/** The path of the port's ExternalPort; undefined for a key in another form, which is not Plexus' own. */
function pathOf({ key }: OwnedPort): string | undefined {
  const [namespace = "", name = "", ...more] = key.split("/");
  if (more.length > 0 || !/^[a-z0-9-]{1,63}$/.test(namespace) || !/^[a-z0-9.-]{1,253}$/.test(name)) return undefined;
  return portPath(namespace, name);
}

async function isOrphan(
  objects: PartContext["objects"],
  provider: string,
  { providerId }: OwnedPort,
  path: string,
): Promise<boolean> {
  const answer = await objects.get(path);
  if (answer.kind === "absent") return true;
  if (answer.kind !== "object") return false;
  const object = readExternalPort(answer.object);
  if (!object.ok || object.value.spec.provider !== provider) return false;
  if (isReleased(object.value)) return true;
  if (object.value.port === undefined) return false;
  // The fabric has two ports of one object; its status names the one in use.
  return object.value.port.providerId !== providerId;
}
