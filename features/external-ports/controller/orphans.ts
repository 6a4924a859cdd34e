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

/** Settings of the looks for orphans of one provider. */
export interface OrphanLooks {
  /** Whether a watched object has the port. */
  readonly isInUse: (port: OwnedPort) => boolean;
  /** Interval between looks, in ms. */
  readonly everyMs: number;
}

/** Looks for orphans of the provider until `signal` is aborted, at once and then at each interval. */
export async function lookForOrphans(
  context: Pick<PartContext, "objects" | "log">,
  name: string,
  provider: PortProvider,
  { isInUse, everyMs }: OrphanLooks,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await releaseOrphans(context, name, provider, isInUse);
    } catch (error) {
      // A mistake in one provider must not end the controller.
      const why = error instanceof Error ? error.message : String(error);
      context.log("warn", `provider "${name}": the look for orphans failed: ${why}`);
    }
    await setTimeout(everyMs, undefined, { signal }).catch(() => undefined);
  }
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
): Promise<number> {
  const owned = await provider.list();
  if (!owned.ok) {
    log("warn", `provider "${name}": its ports cannot be listed: ${owned.message}`);
    return 0;
  }
  let released = 0;
  let asked = 0;
  for (const port of owned.value) {
    if (released >= maxReleased || asked >= maxAsked) break;
    if (isInUse(port)) continue;
    asked += 1;
    if (!(await isOrphan(objects, name, port))) continue;
    const outcome = await provider.release(port);
    if (outcome.ok) released += 1;
    log(
      outcome.ok ? "info" : "warn",
      `port ${quote(port.providerId)} of provider "${name}" has no ExternalPort ${port.key}: ${outcome.ok ? "released" : outcome.message}`,
    );
  }
  return released;
}

async function isOrphan(objects: PartContext["objects"], provider: string, { key, providerId }: OwnedPort): Promise<boolean> {
  const [namespace = "", name = "", ...more] = key.split("/");
  // A key in another form is not Plexus' own.
  if (more.length > 0 || !/^[a-z0-9-]{1,63}$/.test(namespace) || !/^[a-z0-9.-]{1,253}$/.test(name)) return false;
  const answer = await objects.get(portPath(namespace, name));
  if (answer.kind === "absent") return true;
  if (answer.kind !== "object") return false;
  const object = readExternalPort(answer.object);
  if (!object.ok || object.value.spec.provider !== provider) return false;
  if (isReleased(object.value)) return true;
  if (object.value.port === undefined) return false;
  // The fabric has two ports of one object; its status names the one in use.
  return object.value.port.providerId !== providerId;
}
