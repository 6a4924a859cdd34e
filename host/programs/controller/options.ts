// plexus-controller's command line.

import { parseArgs } from "node:util";
import type { ControllerFeature } from "../../controller/controller-feature.ts";
import type { PluginNames } from "../../controller/definitions/component-facts.ts";
import type { MakePart } from "../../controller/part.ts";
import { type DaemonLogLevel, levelOf } from "../../telemetry/log.ts";
import { addressOf, collectorOf, countOf, pathOf, serverOf } from "../../node/command-line/option-values.ts";
import { subdomainProblem } from "../../../src/npwg/object-names.ts";

/** plexus-controller's command line with every default filled in; see `usageOf`. */
export interface ControllerOptions {
  /** Undefined: the service account of the controller's pod. */
  readonly kubeconfig: string | undefined;
  /** The API server's URL for the service account; undefined: that of the pod's environment. */
  readonly apiServer: string | undefined;
  readonly serviceAccount: string;
  readonly leaseNamespace: string;
  readonly leaseName: string;
  readonly leaseSeconds: number;
  readonly identity: string | undefined;
  readonly metricsListen: { readonly host: string; readonly port: number } | undefined;
  readonly otlp: URL | undefined;
  readonly logLevel: DaemonLogLevel;
  /** Makes the part of each feature that is on. */
  readonly parts: readonly (() => Promise<MakePart>)[];
  /** The check of definitions; undefined: off. */
  readonly definitions: { readonly configuration: string; readonly plugins: PluginNames } | undefined;
}

/** The help text. */
export const usageOf = (
  features: readonly ControllerFeature[],
): string => `plexus-controller: the cluster's part of Plexus (defaults in parentheses)

  --kubeconfig PATH     cluster and credentials (the pod's service account)
  --service-account PATH
                        directory of the pod's service account
                        (/var/run/secrets/kubernetes.io/serviceaccount)
  --api-server URL      API server for the service account
                        (KUBERNETES_SERVICE_HOST and _PORT)
  --lease-namespace NAME
                        namespace of the Lease that elects the leader
                        (POD_NAMESPACE, else kube-system)
  --lease-name NAME     name of the Lease (plexus-controller)
  --lease-seconds N     seconds without a renewal after which another replica
                        leads, 3 to 600 (15)
  --identity NAME       this replica's name in the Lease, unique (host name, and
                        a random text)
  --metrics-listen [ADDRESS:]PORT
                        serve /metrics, /healthz and /readyz over TCP; the
                        default address is 127.0.0.1 (no TCP)
  --otlp URL            OpenTelemetry collector for a span of each
                        reconciliation (none)
${features.map(({ usage }) => usage).join("")}  --check-definitions PATH
                        write problems of NetworkAttachmentDefinitions into their
                        annotation plexus.dev/conditions; PATH is Plexus'
                        configuration without the default network (off)
  --known-plugins LIST  types of the nodes' plugins, separated by commas; another
                        type is then a problem of a definition (not known)
  --components DIR      directory with the components of the nodes (none)
  --shipped-components LIST
                        which of them nodes have: all, none, or types separated
                        by commas (all)
  --log-level LEVEL     debug, info, warn or error (info)
  --help                show this text
`;

const ownOptions = {
  kubeconfig: { type: "string" },
  "service-account": { type: "string", default: "/var/run/secrets/kubernetes.io/serviceaccount" },
  "api-server": { type: "string" },
  "lease-namespace": { type: "string" },
  "lease-name": { type: "string", default: "plexus-controller" },
  "lease-seconds": { type: "string", default: "15" },
  identity: { type: "string" },
  "metrics-listen": { type: "string" },
  otlp: { type: "string" },
  "log-level": { type: "string", default: "info" },
  "check-definitions": { type: "string" },
  "known-plugins": { type: "string", default: "" },
  components: { type: "string" },
  "shipped-components": { type: "string", default: "all" },
  help: { type: "boolean", short: "h" },
} as const;

/** The options with those of the features, whose values the features read themselves. */
function allOptions(features: readonly ControllerFeature[]): typeof ownOptions {
  return Object.assign({}, ...features.map(({ options }) => options), ownOptions);
}

/** The parsed options; `help`; or `wrong`, one line about the mistake. */
export function readOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  features: readonly ControllerFeature[],
): ControllerOptions | "help" | { readonly wrong: string } {
  try {
    const { values } = parseArgs({ args: [...args], options: allOptions(features) });
    if (values.help === true) return "help";
    return {
      kubeconfig: values.kubeconfig === undefined ? undefined : pathOf("kubeconfig", values.kubeconfig, 4095),
      apiServer: values["api-server"] === undefined ? undefined : serverOf(values["api-server"]),
      serviceAccount: pathOf("service-account", values["service-account"], 4095),
      leaseNamespace: nameOf("lease-namespace", values["lease-namespace"] ?? environment["POD_NAMESPACE"] ?? "kube-system"),
      leaseName: nameOf("lease-name", values["lease-name"]),
      leaseSeconds: countOf("lease-seconds", values["lease-seconds"], 3, 600),
      identity: values.identity,
      metricsListen: values["metrics-listen"] === undefined ? undefined : addressOf(values["metrics-listen"]),
      otlp: values.otlp === undefined ? undefined : collectorOf(values.otlp),
      logLevel: levelOf(values["log-level"]),
      parts: features.flatMap(({ read }) => read(values) ?? []),
      definitions: definitionsOf(values),
    };
  } catch (error) {
    // The message of parseArgs for a positional argument has several sentences; the first names the mistake.
    const [wrong = ""] = (error instanceof Error ? error.message : String(error)).split(/\n|\. /);
    return { wrong: wrong.replace(/\.$/, "") };
  }
}

function nameOf(option: string, text: string): string {
  if (subdomainProblem(text) === undefined) return text;
  throw new Error(`--${option} ${text}: must be a name of lower-case letters, digits, "-" and "."`);
}

function definitionsOf(values: Readonly<Record<string, unknown>>): ControllerOptions["definitions"] {
  const text = (option: string): string => String(values[option] ?? "");
  const types = (option: string): readonly string[] =>
    text(option)
      .split(",")
      .filter((type) => type !== "");
  const shipped = text("shipped-components");
  const components = text("components");
  if (text("check-definitions") === "") return undefined;
  return {
    configuration: pathOf("check-definitions", text("check-definitions"), 4095),
    plugins: {
      known: types("known-plugins"),
      components: components === "" ? undefined : pathOf("components", components, 4095),
      shipped: shipped === "all" ? "all" : shipped === "none" ? [] : types("shipped-components"),
    },
  };
}
