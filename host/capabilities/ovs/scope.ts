// Binds the capability `ovs` to one call: its verb, its attachment, the links that it made, and the grant's bridges. Any other request is refused here,
// before the database is asked.

import { type AttachmentId, attachmentKey } from "../../../src/cni/attachment.ts";
import type { Verb } from "../../../src/cni/environment.ts";
import { matchesPattern } from "../../../src/configuration/grant-patterns.ts";
import { defaultOvsSocket } from "../../../src/configuration/keys/grant-keys.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { attachmentMarks, hasMarks, markedAttachment, ownerMarks } from "../../../src/ovsdb/owner-marks.ts";
import { readNamed, selectBridges, selectInterface, selectMarkedInterfaces } from "../../../src/ovsdb/port-operations.ts";
import { normalMac } from "../../../src/ovsdb/port-request.ts";
import type { OvsCapability, OvsPortState } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { type Deferred, refuse, type WitOutcome, witOutcome } from "../outcome.ts";
import { addPort, idKeys, type Marks, ownedPort, removePorts, settlePort } from "./change-ports.ts";
import { type Database, withDatabase } from "./database.ts";
import { findPorts, type FoundPort, rowsOf } from "./find-ports.ts";
import { attachmentIn, attachmentVerbs, linkMistake, noPortToAwait, type OvsCall, portDenial, retainDenial } from "./requests.ts";

/** The call that the capability is bound to, and its grant. */
export interface OvsScope extends OvsCall {
  readonly network: string;
  /** In a GC: the containers whose ports may be removed; undefined: all of them. */
  readonly knownContainers?: ReadonlySet<string> | undefined;
  /** Milliseconds that the step has. */
  readonly maxMs: number;
}

/** The functions of the capability. */
export type OvsImports = Deferred<OvsCapability>;

/** Maximum milliseconds of one function besides the wait of `settle`. A database on the same node answers in less than one. */
const answerMs = 10_000;
/** Maximum milliseconds of the wait of `settle`. */
const maxSettleMs = 60_000;
/** The fault of a wait comes before the end of the step. */
const reserveMs = 100;

/** The capability for the delegate of one call. `clock`: a monotonic clock, in milliseconds. */
export function ovsFor(scope: OvsScope, clock: () => number): OvsImports {
  const end = clock() + scope.maxMs;
  const leftMs = (): number => Math.max(0, end - clock());
  const inDatabase = <T>(use: (database: Database) => Promise<Result<T>>, maxWaitMs = 0): Promise<Result<T>> => {
    const timeoutMs = Math.round(Math.min(maxWaitMs + answerMs, leftMs()));
    return withDatabase({ socket: scope.grant.socket ?? defaultOvsSocket, timeoutMs, clock }, use);
  };
  return {
    addPort: (port) =>
      onAttachment(scope, ["ADD"], (marks) => {
        const denied = portDenial(scope, port);
        const request = { ...port, mac: normalMac(port.mac) };
        return denied === undefined ? inDatabase((database) => addPort(database, request, marks)) : failed(denied);
      }),
    settle: (link, milliseconds) =>
      onLink(scope, ["ADD", "CHECK"], link, async (marks) => {
        const maxWaitMs = Math.round(Math.min(milliseconds, maxSettleMs, Math.max(0, leftMs() - reserveMs)));
        const settled = await inDatabase((database) => settlePort(database, link, marks, maxWaitMs), maxWaitMs);
        if (!settled.ok) return settled;
        if (settled.value !== undefined) return ok(portState(settled.value));
        return failed(noPortToAwait(link));
      }),
    port: (link) =>
      onLink(scope, attachmentVerbs, link, async (marks) => {
        const found = await inDatabase((database) => ownedPort(database, link, marks));
        return found.ok ? ok(found.value && portState(found.value)) : found;
      }),
    ports: () =>
      onAttachment(scope, attachmentVerbs, async (marks) => {
        const found = await inDatabase((database) => markedPorts(database, marks));
        return found.ok ? ok(found.value.map(portState)) : found;
      }),
    removePort: (link) =>
      onLink(scope, ["ADD", "DEL"], link, async (marks) => {
        const removed = await inDatabase((database) =>
          removePorts(database, marks, () => onlyMarked(findPorts(database, selectInterface(link)), marks)),
        );
        return removed.ok ? ok(removed.value > 0) : removed;
      }),
    removePorts: () =>
      onAttachment(scope, ["ADD", "DEL"], (marks) =>
        inDatabase((database) => removePorts(database, marks, () => markedPorts(database, marks))),
      ),
    retain: async (valid) => {
      const denied = retainDenial(scope);
      if (denied !== undefined) return refuse(denied);
      return witOutcome(await inDatabase((database) => removeStale(database, scope, valid)));
    },
    probe: async () => witOutcome(await inDatabase((database) => probe(database, scope))),
  };
}

/** Runs a request for the call's attachment if its verb allows that. Fault: CAPABILITY_MISUSED. */
async function onAttachment<T>(
  scope: OvsScope,
  verbs: readonly Verb[],
  run: (marks: Marks) => Result<T> | Promise<Result<T>>,
): Promise<WitOutcome<T>> {
  const attachment = attachmentIn(scope, verbs);
  if (!attachment.ok) return refuse(attachment.fault);
  return witOutcome(await run(attachmentMarks(scope, attachment.value)));
}

/** Like `onAttachment`, for a request that names a link. */
function onLink<T>(
  scope: OvsScope,
  verbs: readonly Verb[],
  link: string,
  run: (marks: Marks) => Promise<Result<T>>,
): Promise<WitOutcome<T>> {
  const mistake = linkMistake(link);
  return onAttachment(scope, verbs, (marks) => (mistake === undefined ? run(marks) : failed(mistake)));
}

/** Removes the delegate's ports of attachments that are not valid, and answers their number. */
async function removeStale(
  database: Database,
  { type, network, knownContainers }: OvsScope,
  valid: readonly AttachmentId[],
): Promise<Result<number>> {
  const marks = ownerMarks({ type, network });
  const kept = new Set(valid.map(attachmentKey));
  const isStale = ({ interface: { externalIds } }: FoundPort): boolean => {
    const attachment = markedAttachment(externalIds);
    if (attachment === undefined || kept.has(attachmentKey(attachment))) return false;
    return knownContainers?.has(attachment.containerId) ?? true;
  };
  return removePorts(database, marks, async () => {
    const found = await markedPorts(database, marks);
    return found.ok ? ok(found.value.filter(isStale)) : found;
  });
}

async function probe(database: Database, { grant: { bridges = [] } }: OvsScope): Promise<Result<undefined>> {
  const rows = await rowsOf(database, [selectBridges()], readNamed);
  if (!rows.ok) return rows;
  const isGranted = ({ name }: { readonly name: string }): boolean => bridges.some((pattern) => matchesPattern(pattern, name));
  if (rows.value[0]?.some(isGranted) === true) return ok(undefined);
  const wanted = bridges.length === 0 ? "the grant names no bridge" : `none matches ${bridges.join(", ")}`;
  return failed(fault("OVS_BRIDGE_MISSING", `ovs: Open vSwitch has no granted bridge: ${wanted}`));
}

/** The ports with the marks. A server that answers other ports is not believed. */
function markedPorts(database: Database, marks: Marks): Promise<Result<readonly FoundPort[]>> {
  return onlyMarked(findPorts(database, selectMarkedInterfaces(marks)), marks);
}

async function onlyMarked(finding: Promise<Result<readonly FoundPort[]>>, marks: Marks): Promise<Result<readonly FoundPort[]>> {
  const found = await finding;
  return found.ok ? ok(found.value.filter((each) => hasMarks(each.interface.externalIds, marks))) : found;
}

function portState({ interface: row, port: { tag, trunks = [] }, bridge }: FoundPort): OvsPortState {
  const { externalIds, name, number, error, linkUp } = row;
  return {
    bridge: bridge.name,
    link: name,
    interfaceId: externalIds.get(idKeys.interfaceId) ?? "",
    mac: externalIds.get(idKeys.mac) ?? "",
    number: number === undefined || number < 0 ? undefined : number,
    error,
    linkUp,
    installed: externalIds.get("ovn-installed") === "true",
    tag,
    trunks,
  };
}
