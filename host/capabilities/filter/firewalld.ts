// The attachment's addresses in a zone of firewalld, whose chains reject forwarded packets after each `accept` of another table. A node on which firewalld does
// not run has no zones, and nothing to do. The shim calls firewalld: the bus obeys each process of uid 0, so the daemon must not reach the bus itself.

import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type BusMessage, receivedMessages } from "../../../src/dbus/messages.ts";
import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import type { ZoneEffect, ZoneEffects } from "../../protocol/shim.ts";
import { ECONNREFUSED, ENOENT } from "../../system/errno.ts";
import { systemError } from "../../system/system-error.ts";

/** firewalld's answer: a value, a refusal, or the reason why there is none. */
type Answer =
  | { readonly kind: "answer"; readonly value: string | boolean | undefined }
  | { readonly kind: "error"; readonly name: string; readonly text: string }
  | { readonly kind: "absent"; readonly what: "bus" | "firewalld"; readonly why: string }
  | { readonly kind: "lost"; readonly why: string };

/** Errors of the bus itself. The first two: no process is firewalld. */
const busError = "org.freedesktop.DBus.Error.";
const noService: readonly string[] = [`${busError}ServiceUnknown`, `${busError}NameHasNoOwner`];
/** The serial number of the call; the shim's first call greets the bus. */
const callSerial = 2;

/** Puts the addresses into the zone. An address in it already is no fault, and a node without a bus is one. Fault: FIREWALL_FAILED. */
export async function enterZone(shim: ZoneEffects, zone: string, addresses: readonly IpAddress[]): Promise<Result<undefined>> {
  for (const source of addresses.map(sourceOf)) {
    const answer = await ask(shim, { operation: "add", zone, source });
    if (answer.kind === "absent" && answer.what === "firewalld") return ok(undefined);
    const isThere = answer.kind === "error" && answer.text.includes("ZONE_ALREADY_SET");
    if (answer.kind !== "answer" && !isThere) return failed(refusal(`adding ${source} to the zone ${zone}`, answer));
  }
  return ok(undefined);
}

/**
 * Removes the addresses from the zones that have them, if `isGranted` holds. A zone or an address that has gone meanwhile is no fault, and neither is a bus that
 * has gone. Fault: FIREWALL_FAILED.
 */
export async function leaveZones(
  shim: ZoneEffects,
  isGranted: (zone: string) => boolean,
  addresses: readonly IpAddress[],
): Promise<Result<undefined>> {
  for (const source of addresses.map(sourceOf)) {
    const found = await ask(shim, { operation: "zone-of", zone: "", source });
    if (found.kind === "absent") return ok(undefined);
    if (!isOfFirewalld(found)) return failed(refusal(`looking for the zone of ${source}`, found));
    const zone = found.kind === "answer" && typeof found.value === "string" ? found.value : "";
    if (zone === "" || !isGranted(zone)) continue;
    const removed = await ask(shim, { operation: "remove", zone, source });
    if (!isOfFirewalld(removed)) return failed(refusal(`removing ${source} from the zone ${zone}`, removed));
  }
  return ok(undefined);
}

/** The first address that the zone lacks, as text; undefined: it has all, or firewalld does not run. Fault: FIREWALL_FAILED. */
export async function lackedByZone(
  shim: ZoneEffects,
  zone: string,
  addresses: readonly IpAddress[],
): Promise<Result<string | undefined>> {
  for (const source of addresses.map(sourceOf)) {
    const answer = await ask(shim, { operation: "query", zone, source });
    if (answer.kind === "absent" && answer.what === "firewalld") return ok(undefined);
    if (answer.kind !== "answer") return failed(refusal(`looking for ${source} in the zone ${zone}`, answer));
    if (answer.value !== true) return ok(source);
  }
  return ok(undefined);
}

async function ask(shim: ZoneEffects, effect: ZoneEffect): Promise<Answer> {
  const { errno, sent, reply } = await shim.zone(effect);
  const why = systemError(errno);
  if (!sent && (errno === ENOENT || errno === ECONNREFUSED))
    return { kind: "absent", what: "bus", why: `there is no system bus: ${why}` };
  if (errno !== 0) return { kind: "lost", why };
  const message = answerIn(reply);
  if (message === undefined)
    return { kind: "lost", why: "the system bus has refused the shim, or has sent what D-Bus does not allow" };
  if (message.kind === "error" && noService.includes(message.name))
    return { kind: "absent", what: "firewalld", why: message.text };
  return message;
}

/** The answer to the call in what the bus has sent: a line, then messages. */
function answerIn(reply: Uint8Array): Exclude<BusMessage, { readonly kind: "other" }> | undefined {
  const line = reply.indexOf(0x0a);
  const received = receivedMessages(reply.subarray(line + 1));
  if (line < 0 || !received.ok) return undefined;
  for (const message of received.messages) if (message.kind !== "other" && message.serial === callSerial) return message;
  return undefined;
}

/** Whether firewalld itself has answered, also by a refusal. */
function isOfFirewalld(answer: Answer): boolean {
  return answer.kind === "answer" || (answer.kind === "error" && !answer.name.startsWith(busError));
}

function sourceOf(address: IpAddress): string {
  return `${formatAddress(address)}/${address.family === 4 ? 32 : 128}`;
}

function refusal(action: string, answer: Answer): Fault {
  const why = answer.kind === "error" ? `${answer.text} (${answer.name})` : "why" in answer ? answer.why : "no answer";
  return fault("FIREWALL_FAILED", `filter: firewalld: ${action}: ${why}`);
}
