// Binds the capability `ovs` to one call: its verb, its attachment, the links that it made, and the grant's bridges. Any other request is refused here,
// before the database is asked.

import { type AttachmentId, attachmentKey } from "../../../src/cni/attachment.ts";
import type { Verb } from "../../../src/cni/environment.ts";
import { matchesPattern } from "../../../src/configuration/grant-patterns.ts";
import { notGranted } from "../../../src/configuration/not-granted.ts";
import { defaultOvsSocket, type OvsGrant } from "../../../src/configuration/keys/grant-keys.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { attachmentMarks, hasMarks, markedAttachment, ownerMarks } from "../../../src/ovsdb/owner-marks.ts";
import { readNamed, selectBridges, selectInterface, selectMarkedInterfaces } from "../../../src/ovsdb/port-operations.ts";
import { isLinkName, normalMac, requestProblem } from "../../../src/ovsdb/port-request.ts";
import type { OvsCapability, OvsNewPort, OvsPortState } from "../../sandbox/abi/generated/delegate-1.0.0.ts";
import type { AttachmentFacts } from "../call-facts.ts";
import { type Deferred, misuseOf, refuse, type WitOutcome, witOutcome } from "../outcome.ts";
import { addPort, idKeys, type Marks, ownedPort, removePorts, settlePort } from "./change-ports.ts";
import { type Database, withDatabase } from "./database.ts";
import { findPorts, type FoundPort, rowsOf } from "./find-ports.ts";

/** The call that the capability is bound to, and its grant. */
export interface OvsScope {
  /** The delegate's type, which is the key of its grant. */
  readonly type: string;
  readonly network: string;
  readonly verb: Verb;
  /** Undefined for GC and STATUS. */
  readonly attachment: AttachmentId | undefined;
  readonly grant: OvsGrant;
  /** The links that the call made. */
  readonly facts: Pick<AttachmentFacts, "hostVeths">;
  /** The interface ID of the fabric's port in the call's configuration; undefined if there is none that the node trusts. */
  readonly providedInterfaceId: string | undefined;
  /** In a GC: the containers whose ports may be removed; undefined: all of them. */
  readonly knownContainers?: ReadonlySet<string> | undefined;
  /** Milliseconds that the step has. */
  readonly maxMs: number;
}

/** The functions of the capability. */
export type OvsImports = Deferred<OvsCapability>;

/** Maximum milliseconds of one function besides the wait of `settle`. A database on the same node answers in less than one. */
const maxAnswerMs = 10_000;
/** Maximum milliseconds of the wait of `settle`. */
const maxWaitMs = 60_000;
/** The fault of a wait comes before the end of the step. */
const reservedMs = 100;

const misused = misuseOf("ovs");

/** The capability for the delegate of one call. `clock`: a monotonic clock, in milliseconds. */
export function ovsFor(scope: OvsScope, clock: () => number = () => performance.now()): OvsImports {
  const end = clock() + scope.maxMs;
  const remainingMs = (): number => Math.max(0, end - clock());
  const inDatabase = <T>(use: (database: Database) => Promise<Result<T>>, waitMs = 0): Promise<Result<T>> => {
    const timeoutMs = Math.round(Math.min(waitMs + maxAnswerMs, remainingMs()));
    return withDatabase({ socket: scope.grant.socket ?? defaultOvsSocket, timeoutMs }, use);
  };
  return {
    addPort: (port) =>
      onAttachment(scope, ["ADD"], (marks) => {
        const denied = denial(scope, port);
        const request = { ...port, mac: normalMac(port.mac) };
        return denied === undefined ? inDatabase((database) => addPort(database, request, marks)) : failed(denied);
      }),
    settle: (link, milliseconds) =>
      onLink(scope, ["ADD", "CHECK"], link, async (marks) => {
        const waitMs = Math.round(Math.min(milliseconds, maxWaitMs, Math.max(0, remainingMs() - reservedMs)));
        const settled = await inDatabase((database) => settlePort(database, link, marks, waitMs), waitMs);
        if (!settled.ok) return settled;
        if (settled.value !== undefined) return ok(portState(settled.value));
        return failed(misused(`the attachment has no port ${quote(link, 40)} that could be awaited`));
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
      if (scope.verb !== "GC") return refuse(misused(`retain is allowed in GC only, and this call is ${scope.verb}`));
      return witOutcome(await inDatabase((database) => removeStale(database, scope, valid)));
    },
    probe: async () => witOutcome(await inDatabase((database) => probe(database, scope))),
  };
}

const attachmentVerbs: readonly Verb[] = ["ADD", "DEL", "CHECK"];

/** Runs a request for the call's attachment if its verb allows that. Fault: CAPABILITY_MISUSED. */
async function onAttachment<T>(
  { verb, attachment, type, network }: OvsScope,
  verbs: readonly Verb[],
  run: (marks: Marks) => Result<T> | Promise<Result<T>>,
): Promise<WitOutcome<T>> {
  if (attachment === undefined || !verbs.includes(verb)) {
    return refuse(misused(`this function is allowed in ${verbs.join(" and ")} only, and this call is ${verb}`));
  }
  return witOutcome(await run(attachmentMarks({ type, network }, attachment)));
}

/** Like `onAttachment`, for a request that names a link. */
function onLink<T>(
  scope: OvsScope,
  verbs: readonly Verb[],
  link: string,
  run: (marks: Marks) => Promise<Result<T>>,
): Promise<WitOutcome<T>> {
  return onAttachment(scope, verbs, (marks) =>
    isLinkName(link) ? run(marks) : failed(misused(`${quote(link, 40)} is not the name of a link`)),
  );
}

/** Why the call may not make this port; undefined if it may. Faults: CAPABILITY_MISUSED, NOT_GRANTED. */
export function denial(scope: OvsScope, { bridge, link, interfaceId, mac }: OvsNewPort): Fault | undefined {
  const { type, grant, facts, providedInterfaceId } = scope;
  const problem = requestProblem({ bridge, link, interfaceId, mac });
  if (problem !== undefined) return misused(problem);
  const { bridges = [], interfaceIds = [] } = grant;
  if (!bridges.some((pattern) => matchesPattern(pattern, bridge))) {
    return notGranted({ type, key: "ovs.bridges", request: `ovs: bridge ${quote(bridge, 40)}`, granted: bridges });
  }
  if (!facts.hostVeths.includes(link)) {
    const made = facts.hostVeths.length === 0 ? "this call made no veth" : `this call made ${facts.hostVeths.join(", ")}`;
    return misused(`${quote(link, 40)} is not the node's end of a veth that this call made: ${made}`);
  }
  if (interfaceId === providedInterfaceId || interfaceIds.some((pattern) => matchesPattern(pattern, interfaceId)))
    return undefined;
  const provided = providedInterfaceId === undefined ? "has none" : `has ${quote(providedInterfaceId, 60)}`;
  const request = `ovs: interface ID ${quote(interfaceId, 60)} (the attachment's external port ${provided})`;
  return notGranted({ type, key: "ovs.interfaceIds", request, granted: interfaceIds });
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

function portState({ interface: row, bridge }: FoundPort): OvsPortState {
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
  };
}
