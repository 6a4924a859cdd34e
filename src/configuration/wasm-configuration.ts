// The section `wasm`: switch, isolation, limits, grants and demands of sandboxed delegates.

import { isJsonObject } from "../json/document.ts";
import {
  checkKeyName,
  type ComponentDemand,
  type ComponentRequirement,
  demandKeys,
  publicKeys,
  requirement,
  unmeetable,
} from "./keys/component-keys.ts";
import { defaultGrants, defaultLeaseDirectory, defaultResolverFiles, type DelegateGrants, grantKeys } from "./keys/grant-keys.ts";
import { type DelegateLimits, limitSection } from "./keys/limit-keys.ts";
import { defaultUids, uidsKind } from "./keys/sandbox-uids.ts";
import type { ObjectReader } from "./object-reader.ts";
import { defaultsOf, key, type ValuesOf } from "./table/key.ts";
import type { Kind } from "./table/kind.ts";
import { boolean, oneOf } from "./table/kinds.ts";
import { texts } from "./table/lists.ts";
import { named, section } from "./table/section.ts";

/** The levels of isolation of a daemon, the weaker one first. */
export const daemonIsolations = ["process", "strict"] as const;

/** See `daemonIsolations`. */
export type DaemonIsolation = (typeof daemonIsolations)[number];

/** The levels of isolation, the weakest first. */
export const isolations = ["in-process", ...daemonIsolations] as const;

/** See `isolations`. */
export type Isolation = (typeof isolations)[number];

/** True: for all types; a list: for these types. */
const allOrListed: Kind<boolean | readonly string[]> = {
  read: (reader, at) => (Array.isArray(reader.value(at)) ? texts.read(reader, at) : boolean.read(reader, at)),
  schema: () => ({ anyOf: [boolean.schema(), texts.schema()] }),
};

const wasmKeys = {
  enabled: key({
    kind: boolean,
    about:
      "false: the emergency switch. No component is examined or run; a step whose plugin is a component fails with code 11 (WASM_DISABLED), and its DEL is repeated until the switch is on again. Native plugins are not affected.",
    usual: true,
    // A DEL must not run what an administrator wanted to stop.
    mistaken: false,
  }),
  prefer: key({
    kind: allOrListed,
    about:
      "Whether a component takes precedence over a native binary in the same directory: for all types, or for the listed ones.",
    usual: false,
  }),
  isolation: key({
    kind: oneOf(isolations),
    about:
      "Where delegates are examined and run; {usual} by default: in sandbox processes, in a jail with every control that the node has. in-process: in the process of a one-shot engine, which is faster, but a delegate that breaks out of V8 then has the engine's rights, usually root's. strict: the same, in a process for each call, and refused with code 11 if a control is missing. A daemon always runs them in sandbox processes.",
    usual: "process",
  }),
  sandboxUids: key({
    kind: uidsKind,
    about: `The uids, and gids of the same numbers, of a one-shot engine's sandbox processes: ${defaultUids.count} from ${defaultUids.first} by default. No other process may have them. "same": the engine's own uid. A daemon has the option --sandbox-uids.`,
    usual: defaultUids,
  }),
  limits: key<DelegateLimits>({
    kind: limitSection,
    about: "Limits of one call of a delegate. No limit can be switched off.",
    usual: {},
  }),
  keys: key({
    kind: publicKeys,
    about:
      "Public keys that sign components, by name. The value is the key in PEM (ECDSA on P-256 as cosign makes it, or RSA), or the absolute path of such a file, which the engine must be able to read.",
    usual: {},
  }),
  require: key({
    kind: requirement,
    about:
      "A demand on every component of the node: it must be signed by one of the keys, or have one of the digests. The demand also holds for the components that Plexus brings and for definitions' networks. A type's own digest or signedBy in grants takes its place, and require: false there exempts the type.",
    mistaken: unmeetable,
  }),
  grants: key({
    kind: named(section({ ...grantKeys, ...demandKeys })),
    about: `Capabilities of each delegate, by type. They replace the default: log, leases in ${defaultLeaseDirectory}, ${defaultResolverFiles.join(", ")}. The default grants nothing that changes the kernel's state.`,
    usual: {},
  }),
};

/** The section `wasm` with every default filled in. */
export interface WasmConfiguration extends Omit<ValuesOf<typeof wasmKeys>, "grants" | "require"> {
  /** Grants by the delegate's type; an entry replaces the default grants. */
  readonly grants: Readonly<Record<string, DelegateGrants>>;
  /** Grants of the types that `grants` does not list. */
  readonly otherGrants: DelegateGrants;
  /** Demands on components by type: `digest` and `signedBy` in `wasm.grants.TYPE`. They hold for definitions, too. */
  readonly demands: Readonly<Record<string, ComponentDemand>>;
  /** The demand on components of all types without an entry in `demands`; undefined if any component may run. */
  readonly require: ComponentRequirement | undefined;
  /** Types with `"require": false` among their grants. */
  readonly exempt: readonly string[];
}

/** The kind of the section. A call that goes on in spite of a mistake (DEL) grants nothing: the administrator's intention is unknown. */
export const wasmSection = section(wasmKeys, {
  finish: (values, reader): WasmConfiguration => {
    checkRequirement(values, reader);
    for (const [type, { signedBy = "" }] of Object.entries(values.grants))
      checkKeyName(reader, `grants.${type}.signedBy`, signedBy, values.keys);
    return configurationOf(values);
  },
  flawed: (configuration) => ({ ...configuration, grants: {}, otherGrants: {} }),
});

/** The meaning of a configuration without `wasm`. */
export const defaultWasm: WasmConfiguration = configurationOf(defaultsOf(wasmKeys));

function configurationOf({ grants, require, ...values }: ValuesOf<typeof wasmKeys>): WasmConfiguration {
  const types = Object.entries(grants);
  const demands = types.map(([type, { digest, signedBy }]): [string, ComponentDemand] => [
    type,
    { ...(digest === undefined ? {} : { digest }), ...(signedBy === undefined ? {} : { signedBy }) },
  ]);
  return {
    ...values,
    grants: Object.fromEntries(types.map(([type, { digest: _d, signedBy: _s, require: _r, ...granted }]) => [type, granted])),
    otherGrants: defaultGrants,
    demands: Object.fromEntries(demands.filter(([, demand]) => Object.keys(demand).length > 0)),
    require,
    exempt: types.filter(([, each]) => each.require === false).map(([type]) => type),
  };
}

function checkRequirement({ require, keys }: ValuesOf<typeof wasmKeys>, reader: ObjectReader): void {
  const { signedBy, digests } = require?.anyOf ?? { signedBy: [], digests: [] };
  for (const name of signedBy) checkKeyName(reader, "require.signedBy", name, keys);
  if (isJsonObject(reader.value("require")) && signedBy.length + digests.length === 0)
    reader.refuse("require", "must name keys in signedBy, or digests: no component would meet it");
}
