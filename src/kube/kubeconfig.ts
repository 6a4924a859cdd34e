// A kubeconfig (k8s.io/client-go tools/clientcmd, v1): the API server and Plexus' credentials. Keys that would imply another user
// or another connection are refused, never ignored.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import type { CredentialPlugin, readCredentialPlugin } from "./credential-plugin.ts";

/** The content itself, or the path of a file with it. */
export type Material = { readonly data: string } | { readonly file: string };

/** The API server of a kubeconfig's current context, and the credentials for it. */
export interface KubeconfigEntry {
  /** `https://host:port`, with a path if the server is behind one; without a trailing slash. */
  readonly server: string;
  /** PEM certificates of the authorities to trust; undefined: the system's authorities. */
  readonly authority: Material | undefined;
  /** The name in the server's certificate, if it differs from the URL's. */
  readonly serverName: string | undefined;
  /** `insecure-skip-tls-verify`: the server's certificate is not verified. */
  readonly insecure: boolean;
  readonly token: Material | undefined;
  readonly certificate: { readonly certificate: Material; readonly key: Material } | undefined;
  /** The program that gives the credentials; only where the caller accepts one. */
  readonly plugin: CredentialPlugin | undefined;
}

/** Reads a user's `exec`. */
export type PluginReader = typeof readCredentialPlugin;

type Section = Readonly<Record<string, unknown>>;

/** Why a call of a runtime refuses `exec`. */
const refusedPlugin = "would start a program in each call: use a token file or a client certificate";

/** Refused keys of a user's entry, each with the reason. */
const refusedOfUser: Readonly<Record<string, string>> = {
  "auth-provider": "was removed from Kubernetes: use a token file or a client certificate",
  username: "was removed from Kubernetes: use a token file or a client certificate",
  password: "was removed from Kubernetes: use a token file or a client certificate",
  as: "would impersonate another user: bind the rights to Plexus' own user",
  "as-uid": "would impersonate another user: bind the rights to Plexus' own user",
  "as-groups": "would impersonate another user: bind the rights to Plexus' own user",
  "as-user-extra": "would impersonate another user: bind the rights to Plexus' own user",
};

/**
 * The current context's entry of the kubeconfig from `path`. The caller resolves relative paths, which refer to its directory.
 * `exec` is refused unless the caller brings a reader for it, so that an engine does not load one. Fault KUBECONFIG_INVALID names file and key.
 */
export function readKubeconfig(value: unknown, path: string, readPlugin?: PluginReader): Result<KubeconfigEntry> {
  const problems: string[] = [];
  const refuse = (why: string): undefined => void problems.push(why);
  if (!isJsonObject(value)) return invalid(path, [`it must be an object, but is ${describeJson(value)}`]);
  const current = textAt(value, "current-context", "current-context", refuse);
  if (current === undefined) return invalid(path, [...problems, "current-context is missing: it names the context to use"]);
  const context = named(value, "contexts", "context", current, refuse);
  const clusterName = context && textAt(context, "cluster", `context ${quote(current)}: cluster`, refuse);
  const userName = context && textAt(context, "user", `context ${quote(current)}: user`, refuse);
  if (context !== undefined && clusterName === undefined) refuse(`context ${quote(current)} names no cluster`);
  const cluster = clusterName === undefined ? undefined : named(value, "clusters", "cluster", clusterName, refuse);
  const user = userName === undefined ? undefined : named(value, "users", "user", userName, refuse);
  const server = cluster && serverOf(cluster, refuse);
  const entry = {
    authority: cluster && material(cluster, "certificate-authority", "certificate-authority-data", "cluster", refuse),
    serverName: cluster && textAt(cluster, "tls-server-name", "cluster: tls-server-name", refuse),
    insecure: cluster !== undefined && flagAt(cluster, "insecure-skip-tls-verify", refuse),
    ...credentials(user ?? {}, refuse),
    plugin: pluginOf(user ?? {}, cluster ?? {}, readPlugin, refuse),
  };
  if (server === undefined || problems.length > 0) return invalid(path, problems);
  return ok({ server, ...entry });
}

function credentials(user: Section, refuse: (why: string) => undefined): Pick<KubeconfigEntry, "token" | "certificate"> {
  for (const [key, why] of Object.entries(refusedOfUser)) {
    if (isSet(user, key)) refuse(`user: ${key} ${why}`);
  }
  const certificate = material(user, "client-certificate", "client-certificate-data", "user", refuse);
  const key = material(user, "client-key", "client-key-data", "user", refuse);
  if ((certificate === undefined) !== (key === undefined)) refuse("user: client-certificate and client-key belong together");
  const token = textAt(user, "token", "user: token", refuse);
  const file = textAt(user, "tokenFile", "user: tokenFile", refuse);
  return {
    // As in clientcmd: the file, which may rotate, takes precedence over the text.
    token: file !== undefined ? { file } : token === undefined ? undefined : { data: token },
    certificate: certificate && key && { certificate, key },
  };
}

function pluginOf(
  user: Section,
  cluster: Section,
  readPlugin: PluginReader | undefined,
  refuse: (why: string) => undefined,
): CredentialPlugin | undefined {
  if (!isSet(user, "exec")) return undefined;
  if (readPlugin === undefined) return refuse(`user: exec ${refusedPlugin}`);
  const other = ["token", "tokenFile", "client-certificate", "client-certificate-data"].find((key) => isSet(user, key));
  if (other !== undefined) return refuse(`user: exec and ${other} are two credentials. Remove one of them`);
  return readPlugin(user["exec"], cluster, refuse);
}

/** Multus' installer writes `https://[10.96.0.1]:443`, which Go accepts. */
const bracketedIpv4 = /(?<=^https:\/\/)\[(\d{1,3}(?:\.\d{1,3}){3})\]/;

function serverOf(cluster: Section, refuse: (why: string) => undefined): string | undefined {
  const text = textAt(cluster, "server", "cluster: server", refuse);
  if (isSet(cluster, "proxy-url")) refuse("cluster: proxy-url is not supported: name the API server itself");
  if (text === undefined) return refuse("cluster: server is missing");
  // Without query and fragment: the rest of a request's URL is appended to the path.
  const url = /^https:\/\/[!-~]+$/.test(text) && !/[?#]/.test(text) ? URL.parse(text.replace(bracketedIpv4, "$1")) : null;
  if (url === null) return refuse(`cluster: server ${quote(text)} must be a URL that begins with https://`);
  if (url.username !== "" || url.password !== "")
    return refuse("cluster: server must not contain a user name or password. Use a token or a client certificate");
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** The member `what` of the entry `name` in a list of named entries. */
function named(
  config: Section,
  list: string,
  what: string,
  name: string,
  refuse: (why: string) => undefined,
): Section | undefined {
  const entries = config[list];
  if (!Array.isArray(entries)) return refuse(`${list} must be an array, but is ${describeJson(entries)}`);
  const found = entries.find((entry) => isJsonObject(entry) && entry["name"] === name);
  if (!isJsonObject(found)) return refuse(`${list} has no entry with the name ${quote(name)}`);
  const value = found[what];
  return isJsonObject(value) ? value : refuse(`${list}: ${quote(name)}: ${what} is ${describeJson(value)}`);
}

/** Data takes precedence over a file, as in clientcmd. Base64 is decoded; the text must be PEM. */
function material(
  section: Section,
  fileKey: string,
  dataKey: string,
  where: string,
  refuse: (why: string) => undefined,
): Material | undefined {
  const data = textAt(section, dataKey, `${where}: ${dataKey}`, refuse);
  if (data !== undefined) {
    const pem = decoded(data);
    return pem === undefined ? refuse(`${where}: ${dataKey} must be the base64 of a PEM text`) : { data: pem };
  }
  const file = textAt(section, fileKey, `${where}: ${fileKey}`, refuse);
  return file === undefined ? undefined : { file };
}

function decoded(base64: string): string | undefined {
  try {
    const text = atob(base64);
    return text.includes("-----BEGIN ") ? text : undefined;
  } catch {
    return undefined;
  }
}

function isSet(section: Section, key: string): boolean {
  const value = Object.hasOwn(section, key) ? section[key] : undefined;
  return value !== undefined && value !== null && value !== "";
}

/** An empty text counts as absent, as in Go. */
function textAt(section: Section, key: string, where: string, refuse: (why: string) => undefined): string | undefined {
  const value = isSet(section, key) ? section[key] : undefined;
  if (value === undefined || typeof value === "string") return value;
  return refuse(`${where} must be a string, but is ${describeJson(value)}`);
}

function flagAt(section: Section, key: string, refuse: (why: string) => undefined): boolean {
  const value = isSet(section, key) ? section[key] : false;
  if (typeof value !== "boolean") refuse(`cluster: ${key} must be true or false, but is ${describeJson(value)}`);
  return value === true;
}

function invalid(path: string, problems: readonly string[]): Result<never> {
  return failed(fault("KUBECONFIG_INVALID", `kubeconfig ${path}: ${problems.join("; ")}`));
}
