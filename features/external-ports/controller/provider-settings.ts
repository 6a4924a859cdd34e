// The providers of plexus-controller, from the file of --external-ports.

import { readFile } from "node:fs/promises";
import { z } from "zod";
import { profileOf } from "../../../src/npwg/profile.ts";
import { httpProvider } from "./http-provider.ts";
import type { KuryrSettings } from "./kuryr.ts";
import { neutronSettings } from "./neutron/settings.ts";
import { neutronProvider } from "./neutron/provider.ts";
import { noopProvider } from "./noop.ts";
import type { SelectionRules } from "./pod-work.ts";
import type { PortProvider } from "./provider.ts";
import { providerUrl } from "./provider-url.ts";

const name = z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'a name of lower-case letters, digits and "-"');
/** Namespaces whose definitions may use the provider. A definition's author chooses the fabric's network, so the list has no default. */
const namespaces = z.array(z.string().min(1)).min(1);
/** Neutron allows 60 characters in a tag. */
const owner = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{0,39}$/, 'a name of lower-case letters, digits, "." and "-", at most 40 characters');

const provider = z.discriminatedUnion("type", [
  z.strictObject({ name, namespaces, type: z.literal("noop") }),
  z.strictObject({
    name,
    namespaces,
    type: z.literal("http"),
    owner,
    url: providerUrl,
    tokenFile: z.string().startsWith("/").optional(),
  }),
  z.strictObject({ name, namespaces, type: z.literal("neutron"), owner, neutron: neutronSettings }),
]);

/** Kuryr's annotation and objects, which plexus-controller writes for programs that read them. */
const kuryr = z.strictObject({
  annotation: z.boolean().default(false),
  kuryrPorts: z.boolean().default(false),
  /** The nodes' Open vSwitch bridge. */
  bridge: z
    .string()
    .regex(/^[\w.-]{1,15}$/u, "a link's name")
    .default("br-int"),
});

/** The nodes' keys of these names: no port is made for a pod that its node refuses. */
const isolation = z.strictObject({
  namespaceIsolation: z.boolean().default(false),
  globalNamespaces: z.array(z.string()).default([]),
});

/** The schema of the file. */
export const providerFile = z.strictObject({
  providers: z.array(provider).min(1).max(16),
  kuryr: kuryr.optional(),
  isolation: isolation.optional(),
  /** The nodes' key of this name: controller and nodes read a pod's selection alike. */
  profile: z.enum(["strict", "compat", "multus"]).default("compat"),
  /** The nodes' key of this name, in place of the profile's. */
  invalidAnnotation: z.enum(["ignore", "fail"]).optional(),
});

/** A provider, and who may use it. */
export interface ConfiguredProvider {
  readonly type: z.infer<typeof provider>["type"];
  readonly provider: PortProvider;
  readonly namespaces: readonly string[];
}

/** The content of the file. */
export interface ExternalPortSettings {
  readonly providers: ReadonlyMap<string, ConfiguredProvider>;
  /** Undefined if nothing is to be written. */
  readonly kuryr: KuryrSettings | undefined;
  readonly rules: SelectionRules;
}

/** Reads the file, YAML or JSON. Rejects with a message that names the file, the key and the mistake. */
export async function readProviders(file: string): Promise<ExternalPortSettings> {
  const { parse } = await import("yaml");
  const read = providerFile.safeParse(parse(await readFile(file, "utf8"), { maxAliasCount: 0 }));
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`${file}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "invalid"}`);
  }
  const configured = new Map<string, ConfiguredProvider>();
  for (const each of read.data.providers) {
    if (configured.has(each.name)) throw new Error(`${file}: two providers have the name "${each.name}"`);
    configured.set(each.name, { type: each.type, provider: make(each), namespaces: each.namespaces });
  }
  const { kuryr: written } = read.data;
  return {
    providers: configured,
    kuryr: written?.annotation === true || written?.kuryrPorts === true ? written : undefined,
    rules: { profile: profileOf(read.data), isolation: isolation.parse(read.data.isolation ?? {}) },
  };
}

function make(settings: z.infer<typeof provider>): PortProvider {
  if (settings.type === "noop") return noopProvider();
  return settings.type === "http"
    ? httpProvider(settings.url, settings.owner, settings.tokenFile)
    : neutronProvider(settings.neutron, settings.owner);
}
