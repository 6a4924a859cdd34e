// The pool of the cluster that a step's configuration names (`ipam.pool`): whether the step's delegate may use the pool, and the configuration with
// the pool's ranges.

import { poolNameIn } from "../../../src/configuration/pool-name.ts";
import { matchesPattern } from "../../../src/configuration/grant-patterns.ts";
import { notGranted } from "../../../src/configuration/not-granted.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { parseConfiguration } from "../../../src/json/document.ts";
import type { DelegateHost } from "../../capabilities/delegate-host.ts";
import type { Step } from "../../capabilities/step.ts";

/** A configuration without these characters names no pool. A key may be written with an escape. */
const mayNamePool = /pool|\\u/iu;

/** The verbs that hand out addresses, or tell whether there are any. */
const handsOut: ReadonlySet<string> = new Set(["ADD", "STATUS"]);

/** The parts of a call's delegates that decide about a pool. */
type PoolHost = Pick<DelegateHost, "pools" | "bindRecorded">;

/**
 * The step with its pool. A step without `ipam.pool` stays as it is. `granted`: the component's capabilities; with `leases` the step takes the addresses. A
 * component that can ask the wire (`announce`, granted or in `ungranted`) gets the pool's conflictDetection, and refuses it without the grant. Faults:
 * CONFIG_INVALID, NOT_GRANTED, SHADOW_UNSUPPORTED, POOL_UNAVAILABLE; for STATUS, NOT_AVAILABLE with the reason.
 */
export async function withPool(
  host: PoolHost,
  running: Step,
  granted: readonly string[],
  ungranted: readonly string[] = [],
): Promise<Result<Step>> {
  const { step } = running;
  // A record has the completed configuration and the answers of the pool.
  if (host.bindRecorded !== undefined || !mayNamePool.test(step.stdin)) return ok(running);
  const asks = handsOut.has(step.verb) && [...granted, ...ungranted].includes("announce");
  if (!granted.includes("leases") && !asks) return ok(running);
  const found = granted.includes("leases") ? await find(host, running) : await withDetection(host, running);
  return found.ok ? found : failed(step.verb === "STATUS" ? fault("NOT_AVAILABLE", found.fault.msg) : found.fault);
}

async function find(host: PoolHost, running: Step): Promise<Result<Step>> {
  const { step, grants, dry } = running;
  const { type } = step.plugin;
  const isLenient = step.verb === "DEL" || step.verb === "GC";
  const document = parseConfiguration(step.stdin, { what: `configuration of ${type}` });
  if (!document.ok) return document;
  const name = poolNameIn(document.value.parsed);
  // An ADD with this mistake was refused, so its DEL has no address of a pool to release.
  if (!name.ok) return isLenient ? ok(running) : name;
  if (name.value === undefined) return ok(running);
  const pool = name.value;
  if (dry !== undefined)
    return failed(
      fault("SHADOW_UNSUPPORTED", `${type} can't run as a shadow: addresses of AddressPool ${pool} can't be simulated`),
    );
  const patterns = grants.leases?.pools ?? [];
  // Without the grant the delegate still releases what belongs to the attachment.
  if (handsOut.has(step.verb) && !patterns.some((pattern) => matchesPattern(pattern, pool))) {
    return failed(notGranted({ type, key: "leases.pools", request: `AddressPool "${pool}"`, granted: patterns }));
  }
  const source = await host.pools?.();
  if (source === undefined) return failed(withoutConfiguration(pool));
  const stdin = isLenient ? ok(step.stdin) : await source.complete(pool, step.stdin, "ipam");
  if (!stdin.ok) return stdin;
  if (stdin.value !== step.stdin) running.tell?.({ what: "configuration-completed", stdin: stdin.value });
  return ok({ ...running, step: { ...step, stdin: stdin.value }, pool: { name: pool, source } });
}

/** A main plugin's step with the pool's conflictDetection. The step of the IPAM plugin, which takes the addresses, refuses what is wrong with the pool's name. */
async function withDetection(host: PoolHost, running: Step): Promise<Result<Step>> {
  const { step } = running;
  const document = parseConfiguration(step.stdin, { what: `configuration of ${step.plugin.type}` });
  const name = document.ok ? poolNameIn(document.value.parsed) : document;
  const source = name.ok && name.value !== undefined && running.dry === undefined ? await host.pools?.() : undefined;
  if (!name.ok || name.value === undefined || source === undefined) return ok(running);
  const stdin = await source.complete(name.value, step.stdin, "main");
  if (!stdin.ok || stdin.value === step.stdin) return stdin.ok ? ok(running) : stdin;
  running.tell?.({ what: "configuration-completed", stdin: stdin.value });
  return ok({ ...running, step: { ...step, stdin: stdin.value } });
}

function withoutConfiguration(pool: string): Fault {
  const why = `AddressPool ${pool} can't be used by a component that a runtime calls directly: call it through Plexus' own configuration`;
  return fault("POOL_UNAVAILABLE", why);
}
