// The schema of the chart's values, with which helm refuses a mistake before anything changes in the cluster. It contains the schema of Plexus'
// configuration, so `npm run docs` writes it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { logLevels } from "../host/telemetry/log.ts";
import { daemonCounts } from "../src/configuration/daemon-counts.ts";
import { allKeys } from "../src/configuration/keys/host-keys.ts";
import { uidOptionPattern } from "../src/configuration/uid-option.ts";
import { daemonIsolations } from "../src/configuration/wasm-configuration.ts";
import type { Key, KeyTable } from "../src/configuration/table/key.ts";
import { tableSchema } from "../src/configuration/table/table-schema.ts";

/** A JSON Schema, as far as this file reads it. */
interface JsonSchema {
  readonly [key: string]: unknown;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | false;
  readonly propertyNames?: JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

/** Without characters that end a text in YAML's flow mappings. */
const path = z.string().regex(/^\/[^\s:"\\,[\]{}]*[^\s:"\\/,[\]{}]$/u);
const port = z.int().min(1).max(65_535);
const labels = z.record(z.string(), z.string());
/** A piece of a Kubernetes object, which the API server validates. */
const kubernetes = z.looseObject({});
const resources = z.strictObject({ requests: kubernetes.optional(), limits: kubernetes.optional() });
const capability = z.string().regex(/^[A-Z][A-Z_]*$/u);
const monitor = z.strictObject({ enabled: z.boolean(), interval: z.string(), labels });

const counts = Object.fromEntries(Object.entries(daemonCounts).map(([name, { min, max }]) => [name, z.int().min(min).max(max)]));

const values = z.strictObject({
  // Helm passes the values of a chart that includes this one.
  global: kubernetes.optional(),
  image: z.strictObject({
    repository: z.string().min(1),
    tag: z.string(),
    digest: z.string().regex(/^(?:sha256:[0-9a-f]{64})?$/u),
    pullPolicy: z.enum(["Always", "IfNotPresent", "Never"]),
    pullSecrets: z.array(z.string().min(1)),
  }),
  dynamicResources: z.strictObject({
    enabled: z.boolean(),
    namespaces: z.array(z.string().regex(/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/u)),
  }),
  // YAML 1.1 reads `off` as false.
  definitionChecks: z.strictObject({
    enabled: z.boolean(),
    knownPlugins: z.array(z.string().regex(/^[\w.-]{1,255}$/u)),
    admission: z.enum(["none", "warn", "deny"]),
  }),
  definitionUse: z.strictObject({ mode: z.enum(["none", "warn", "deny"]) }),
  networks: z.strictObject({ enabled: z.boolean(), createDefault: z.boolean(), requireDefault: z.boolean() }),
  // plexusd reads the devices, and tells a mistake in its log.
  claims: z.strictObject({
    enabled: z.boolean(),
    devices: z.array(kubernetes),
    use: z.enum(["none", "warn", "deny"]),
    classes: z.array(z.string().min(1)),
    cdi: z.boolean(),
  }),
  networkApi: z.strictObject({
    enabled: z.boolean(),
    // With /network.sock at most 107 bytes, the longest path of a socket.
    directory: path.max(94),
    feedNamespace: z.string().regex(/^(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)?$/u),
  }),
  controller: z.strictObject({
    replicas: z.int().min(1).max(9),
    port,
    otlp: z.string().regex(/^(?:https?:\/\/.+)?$/u),
    resources,
    nodeSelector: labels,
    tolerations: z.array(kubernetes),
  }),
  pools: z.strictObject({ enabled: z.boolean() }),
  policies: z.strictObject({ enabled: z.boolean(), createDefinition: z.boolean() }),
  linkWatch: z.strictObject({ enabled: z.boolean(), repair: z.boolean() }),
  linkCounters: z.strictObject({ enabled: z.boolean() }),
  probes: z.strictObject({ enabled: z.boolean() }),
  services: z.strictObject({ enabled: z.boolean() }),
  externalPorts: z.strictObject({
    enabled: z.boolean(),
    // plexus-controller checks the providers' settings itself.
    providers: z.array(kubernetes),
    secretName: z.string(),
    // Node ignores a file without a certificate.
    authority: z.string().regex(/^$|-----BEGIN CERTIFICATE-----/u),
    kuryr: z.strictObject({ annotation: z.boolean(), kuryrPorts: z.boolean(), bridge: z.string().regex(/^[\w.-]{1,15}$/u) }),
    ovs: z.strictObject({ socket: z.union([path, z.literal("")]) }),
  }),
  oneShot: z.literal(["node", "off", false]),
  nativePlugins: z.enum(["keep", "none"]),
  shippedComponents: z.string().regex(/^(?:all|none|[\w.-]+(?:,[\w.-]+)*)$/u),
  components: z.array(
    z.strictObject({
      type: z.string().min(1),
      reference: z.string().min(1),
      digest: z.string().optional(),
      signedBy: z.string().optional(),
    }),
  ),
  componentKeys: labels,
  componentsPullSecret: z.string(),
  componentsAuthority: z.string(),
  cni: z.strictObject({
    binDir: path,
    binDirMount: z.union([path, z.literal("")]),
    confDir: path,
    configName: z.string().regex(/^[\w.-]+\.conflist$/u),
    clusterNetwork: z.string().regex(/^(?:[\w.-]+\.(?:conf|conflist|json))?$/u),
    foreignSteps: z.enum(["keep", "strip"]),
    networksDir: z.union([path, z.literal("")]),
  }),
  home: path,
  kubeletRoot: path,
  capabilities: z.strictObject({
    install: z.array(capability),
    plexusd: z.array(capability),
    agent: z.array(capability),
    hotPlugAgent: z.array(capability),
  }),
  config: kubernetes,
  definitions: kubernetes,
  wasm: kubernetes,
  daemon: z.strictObject({
    ...counts,
    // 0: as many as CPUs.
    sandboxes: z.int().min(0).max(daemonCounts.sandboxes.max),
    isolation: z.enum(daemonIsolations),
    sandboxUids: z.string().regex(uidOptionPattern),
    // The kernel's last uid means none, and Kubernetes' groups end at 2^31 - 1.
    uid: z
      .int()
      .min(0)
      .max(2 ** 31 - 1),
    shareDirectories: z.array(path),
    sandboxStart: z.enum(["copy", "new"]),
    logLevel: z.enum(logLevels),
    otlp: z.string().regex(/^(?:https?:\/\/.+)?$/u),
  }),
  // A name or an address, without scheme and port.
  apiServer: z.strictObject({ host: z.string().regex(/^(?:[\w.-]+|\[?[\da-fA-F:.]+\]?)?$/u), port }),
  metrics: z.strictObject({
    address: z.enum(["127.0.0.1", "node"]),
    port,
    podMonitor: monitor,
    serviceMonitor: monitor,
    alerts: z.strictObject({ enabled: z.boolean(), labels }),
    dashboard: z.strictObject({ enabled: z.boolean(), labels }),
  }),
  admissionPolicy: z.strictObject({ enabled: z.boolean() }),
  ready: z.strictObject({ wait: z.boolean(), timeoutSeconds: z.int().min(1).max(86_400) }),
  uninstall: z.strictObject({
    wait: z.boolean(),
    timeoutSeconds: z.int().min(1).max(86_400),
    removeFiles: z.boolean(),
    purgeState: z.boolean(),
  }),
  resources: z.strictObject({ plexusd: resources, agent: resources, hotPlugAgent: resources, install: resources }),
  priorityClassName: z.string(),
  tolerations: z.array(kubernetes),
  nodeSelector: labels,
  affinity: kubernetes,
  updateStrategy: z.strictObject({
    type: z.enum(["RollingUpdate", "OnDelete"]),
    // No maxSurge: two daemons of a node would share its sockets.
    rollingUpdate: z.strictObject({ maxUnavailable: z.union([z.int(), z.string()]).optional() }).optional(),
  }),
  podAnnotations: labels,
  podLabels: labels,
  seccompProfile: z.strictObject({
    type: z.enum(["RuntimeDefault", "Localhost", "Unconfined"]),
    localhostProfile: z.string().optional(),
  }),
  seLinuxType: z.string(),
  openshift: z.strictObject({ scc: z.boolean() }),
});

/** The text of values.schema.json. */
export function chartValuesSchema(): string {
  const schema = z.toJSONSchema(values) as JsonSchema;
  const written = Object.entries<Key<unknown>>(allKeys);
  const config = Object.fromEntries(written.filter(([, { inChart, byRuntime }]) => inChart === undefined && byRuntime !== true));
  const own = Object.fromEntries(written.filter(([, { inChart }]) => inChart === "own"));
  const properties = {
    ...schema.properties,
    ...propertiesOf(own),
    config: { type: "object", properties: propertiesOf(config), additionalProperties: false as const },
  };
  return `${JSON.stringify(withNames({ ...schema, properties }), undefined, 2)}\n`;
}

function propertiesOf(table: KeyTable): Readonly<Record<string, JsonSchema>> {
  const { properties = {} }: JsonSchema = tableSchema(table);
  return properties;
}

/**
 * The schema for helm: each closed object lists its valid names, because helm's message for `additionalProperties` does not. Patterns
 * that Go's regular expressions lack (look-ahead, more than 1000 repetitions) are left out; plexusd reports such mistakes.
 */
function withNames(schema: JsonSchema): JsonSchema {
  const { pattern, properties, additionalProperties, propertyNames, items, anyOf, ...rest } = schema;
  const each = Object.entries(properties ?? {}).map(([name, value]) => [name, withNames(value)] as const);
  return {
    ...rest,
    ...(pattern === undefined || /\(\?[=!<]|\{(?:\d+,)?\d{4,}\}/u.test(pattern) ? {} : { pattern }),
    ...(propertyNames === undefined ? {} : { propertyNames: withNames(propertyNames) }),
    ...(properties === undefined ? {} : { properties: Object.fromEntries(each) }),
    ...(additionalProperties === undefined
      ? {}
      : { additionalProperties: additionalProperties === false ? false : withNames(additionalProperties) }),
    ...(items === undefined ? {} : { items: withNames(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(withNames) }),
    ...(additionalProperties === false && properties !== undefined ? { propertyNames: { enum: Object.keys(properties) } } : {}),
  };
}

/** The path of the chart's schema. */
export const chartSchemaPath = join(import.meta.dirname, "..", "deploy", "helm", "plexus", "values.schema.json");

if (import.meta.main) writeFileSync(chartSchemaPath, chartValuesSchema());
