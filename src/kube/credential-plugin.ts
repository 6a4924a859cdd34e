// A credential plugin of a kubeconfig (a user's `exec`): its entry, its input KUBERNETES_EXEC_INFO and its output, by
// client.authentication.k8s.io/v1 and v1beta1. https://kubernetes.io/docs/reference/config-api/client-authentication.v1/

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";

/** When a plugin gets the terminal as its stdin. */
type InteractiveMode = "Never" | "IfAvailable" | "Always";

/** The entry `exec`. */
export interface CredentialPlugin {
  readonly apiVersion: string;
  /** A name that is looked up on PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that are added to the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly interactiveMode: InteractiveMode;
  /** Foreign text about how to install the program; may be empty. */
  readonly installHint: string;
  /** The cluster, if the plugin is to be told about it (`provideClusterInfo`). */
  readonly cluster: PluginCluster | undefined;
}

/** `spec.cluster` of the input, without the authority, which may be a file. */
type PluginCluster = Readonly<Record<string, unknown>>;

/** The plugin's `status`. */
export interface PluginCredential {
  readonly token: string | undefined;
  /** PEM texts. */
  readonly certificate: { readonly certificate: string; readonly key: string } | undefined;
  /** RFC 3339; undefined: valid until the process ends. */
  readonly expirationTimestamp: string | undefined;
}

type Section = Readonly<Record<string, unknown>>;
type Refuse = (why: string) => undefined;

const apiVersions: readonly unknown[] = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];
const interactiveModes: readonly unknown[] = ["Never", "IfAvailable", "Always"];
/** The name of the cluster's extension with the plugin's own configuration. */
const clusterExtension = "client.authentication.k8s.io/exec";

/** Reads a user's `exec`, with the entry of its cluster. Each mistake goes to `refuse`. */
export function readCredentialPlugin(exec: unknown, cluster: Section, refuse: Refuse): CredentialPlugin | undefined {
  if (!isJsonObject(exec)) return refuse(`user: exec must be an object, but is ${describeJson(exec)}`);
  const problems: string[] = [];
  const text = (key: string): string => {
    const value = exec[key] ?? "";
    if (isArgument(value)) return value;
    problems.push(`${key} must be a string without a null character`);
    return "";
  };
  const { apiVersion, args, env } = exec;
  const command = text("command");
  if (command === "" && problems.length === 0) problems.push("command is missing");
  if (!isApiVersion(apiVersion)) problems.push(`apiVersion must be ${apiVersions.join(" or ")}`);
  // Only v1 has no default. An empty text counts as absent, as in Go.
  const mode = exec["interactiveMode"] || (apiVersion === apiVersions[1] ? "IfAvailable" : undefined);
  if (!isInteractiveMode(mode)) problems.push(`interactiveMode must be ${interactiveModes.join(", ")}`);
  const isArguments = args === undefined || args === null || (Array.isArray(args) && args.every(isArgument));
  if (!isArguments) problems.push("args must be an array of strings without a null character");
  const variables = environmentOf(env);
  if (variables === undefined) problems.push("env must be an array of objects with name and value");
  const installHint = text("installHint");
  for (const problem of problems) refuse(`user: exec: ${problem}`);
  if (problems.length > 0 || variables === undefined || !isInteractiveMode(mode) || !isApiVersion(apiVersion)) return undefined;
  return {
    apiVersion,
    command,
    args: Array.isArray(args) ? args : [],
    env: variables,
    interactiveMode: mode,
    installHint,
    cluster: exec["provideClusterInfo"] === true ? clusterOf(cluster) : undefined,
  };
}

/** The value of KUBERNETES_EXEC_INFO. `authority`: PEM certificates of the cluster, in base64. */
export function pluginInput(
  { apiVersion, cluster }: CredentialPlugin,
  interactive: boolean,
  authority: string | undefined,
): string {
  const told = cluster && { ...cluster, "certificate-authority-data": authority };
  return JSON.stringify({ kind: "ExecCredential", apiVersion, spec: { cluster: told, interactive } });
}

/** Reads a plugin's stdout. No message has a part of it, because it has secrets. Fault CREDENTIALS_UNREADABLE. */
export function readPluginOutput(stdout: string, { apiVersion }: CredentialPlugin, plugin: string): Result<PluginCredential> {
  const refuse = (why: string): Result<never> => failed(fault("CREDENTIALS_UNREADABLE", `${plugin}: ${why}`));
  const output = parsed(stdout);
  if (!isJsonObject(output) || output["kind"] !== "ExecCredential") return refuse("its output is no ExecCredential in JSON");
  if (output["apiVersion"] !== apiVersion) {
    const other = typeof output["apiVersion"] === "string" ? quote(output["apiVersion"], 80) : "none";
    return refuse(
      `the kubeconfig has apiVersion ${apiVersion}, but the output has ${other}: update the program or exec.apiVersion`,
    );
  }
  const status = output["status"];
  if (!isJsonObject(status)) return refuse("its output has no status");
  const [token, certificate, key, expires] = ["token", "clientCertificateData", "clientKeyData", "expirationTimestamp"].map(
    (member) => status[member] ?? "",
  );
  if (typeof token !== "string" || typeof certificate !== "string" || typeof key !== "string" || typeof expires !== "string")
    return refuse("status has a member that is not a string");
  if (token === "" && certificate === "" && key === "") return refuse("status has neither a token nor a client certificate");
  if ((certificate === "") !== (key === "")) return refuse("status: clientCertificateData and clientKeyData belong together");
  if (certificate !== "" && !(isPem(certificate) && isPem(key)))
    return refuse("status: clientCertificateData and clientKeyData must be PEM");
  return ok({
    token: token === "" ? undefined : token,
    certificate: certificate === "" ? undefined : { certificate, key },
    expirationTimestamp: expires === "" ? undefined : expires,
  });
}

function clusterOf(cluster: Section): PluginCluster {
  const extensions: readonly unknown[] = Array.isArray(cluster["extensions"]) ? cluster["extensions"] : [];
  const extension = extensions.find((each) => isJsonObject(each) && each["name"] === clusterExtension);
  const config = isJsonObject(extension) ? extension["extension"] : undefined;
  const { server, "tls-server-name": name, "insecure-skip-tls-verify": insecure } = cluster;
  return { server, "tls-server-name": name ?? undefined, "insecure-skip-tls-verify": insecure ?? undefined, config };
}

function environmentOf(env: unknown): Readonly<Record<string, string>> | undefined {
  if (env === undefined || env === null) return {};
  if (!Array.isArray(env)) return undefined;
  const variables: [string, string][] = [];
  for (const each of env) {
    if (!isJsonObject(each)) return undefined;
    const { name, value = "" } = each;
    if (!isArgument(name) || !isArgument(value) || name === "" || name.includes("=")) return undefined;
    variables.push([name, value]);
  }
  return Object.fromEntries(variables);
}

function isApiVersion(value: unknown): value is string {
  return apiVersions.includes(value);
}

function isInteractiveMode(value: unknown): value is InteractiveMode {
  return interactiveModes.includes(value);
}

/** Whether the kernel can pass the value to a program. */
function isArgument(value: unknown): value is string {
  return typeof value === "string" && !value.includes("\0");
}

function isPem(text: string): boolean {
  return text.includes("-----BEGIN ");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
