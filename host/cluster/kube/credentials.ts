// Plexus' credentials for the Kubernetes API and its trust in the server, from a kubeconfig or a service account's files. Each
// call of a runtime reads them again, so that rotation needs no restart (MC-14).

import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import type { CredentialPlugin, PluginCredential } from "../../../src/kube/credential-plugin.ts";
import { type KubeconfigEntry, type Material, type PluginReader, readKubeconfig } from "../../../src/kube/kubeconfig.ts";

/** The server, and the client's credentials for it. */
export interface Credentials {
  /** The path of their file, for messages. */
  readonly source: string;
  /** `https://host:port`, with a path if any; without a trailing slash. */
  readonly server: string;
  /** PEM certificates; undefined: the authorities that Node knows. */
  readonly authority: string | undefined;
  readonly serverName: string | undefined;
  readonly insecure: boolean;
  readonly token: string | undefined;
  readonly certificate: { readonly certificate: string; readonly key: string } | undefined;
}

/** Reads the current credentials. Faults KUBECONFIG_INVALID, CREDENTIALS_UNREADABLE. */
export type CredentialSource = () => Promise<Result<Credentials>>;

/** Called with each opened file of the credentials and its state at that time. */
export type NoteFile = (path: string, stats: BigIntStats) => void;

/**
 * Runs a credential plugin of the kubeconfig at `path`, for a cluster with this authority (PEM). A `command` with a slash is an absolute path.
 */
export type RunPlugin = (
  plugin: CredentialPlugin,
  authority: string | undefined,
  path: string,
) => Promise<Result<PluginCredential>>;

/** The rules by which a kubeconfig is accepted. */
export interface KubeconfigRules {
  /** Whether the kubeconfig may have insecure-skip-tls-verify. */
  readonly allowInsecure?: boolean;
  /** Undefined: a kubeconfig with a credential plugin is refused. Only an administrator's own command may run one. */
  readonly plugins?: { readonly read: PluginReader; readonly run: RunPlugin };
  readonly note?: NoteFile;
}

/** Maximum size of a kubeconfig, a certificate or a token, in bytes. */
const maxFileBytes = 1024 * 1024;

/**
 * Credentials from the current context of a kubeconfig. `insecure-skip-tls-verify` is refused unless `allowInsecure`: an attacker
 * between node and API server could choose a pod's networks. A kubeconfig that another user may write names no files: that user would
 * have this process read them, and send them to a server of that user.
 */
export function kubeconfigCredentials(path: string, rules: KubeconfigRules = {}): CredentialSource {
  return async () => {
    let writer: string | undefined;
    const value = await parseKubeconfig(path, (file, stats) => {
      writer = otherWriter(stats);
      rules.note?.(file, stats);
    });
    // An administrator's own command has the rights of the administrator alone.
    const isAdministrators = rules.plugins !== undefined;
    return value.ok ? credentialsIn(value.value, path, rules, isAdministrators ? undefined : writer) : value;
  };
}

/** The users besides root and this process' own that may write the file, in a phrase; undefined: there are none. */
function otherWriter({ uid, gid, mode }: BigIntStats): string | undefined {
  if (uid !== 0n && uid !== BigInt(process.geteuid?.() ?? 0)) return `user ${uid}`;
  if ((mode & 0o002n) !== 0n) return "every user";
  const isOwnGroup = gid === 0n || gid === BigInt(process.getegid?.() ?? 0);
  return (mode & 0o020n) !== 0n && !isOwnGroup ? `group ${gid}` : undefined;
}

/** The parsed content of a kubeconfig. Faults KUBECONFIG_INVALID, CREDENTIALS_UNREADABLE. */
export async function parseKubeconfig(path: string, note?: NoteFile): Promise<Result<unknown>> {
  const text = readFile(path, "kubeconfig", note);
  return text.ok ? parse(text.value, path) : text;
}

/**
 * The credentials in the parsed kubeconfig from `path`, as `kubeconfigCredentials`. `writer`: other users that may write the kubeconfig,
 * which then may name no file.
 */
export async function credentialsIn(
  value: unknown,
  path: string,
  { allowInsecure = false, plugins, note }: KubeconfigRules,
  writer?: string,
): Promise<Result<Credentials>> {
  const entry = readKubeconfig(value, path, plugins?.read);
  if (!entry.ok) return entry;
  if (entry.value.insecure && !allowInsecure) {
    return invalid(path, "insecure-skip-tls-verify is not accepted: give the server's certificate-authority instead");
  }
  const credentials = withFiles(path, entry.value, note, writer);
  const { plugin } = entry.value;
  return plugin === undefined || plugins === undefined || !credentials.ok
    ? credentials
    : withPlugin(credentials.value, plugin, plugins.run);
}

/** Credentials from the files of a pod's service account: `token` and `ca.crt`. */
export function serviceAccountCredentials(directory: string, server: string, note?: NoteFile): CredentialSource {
  return async () => {
    const token = readFile(join(directory, "token"), "service account token", note);
    if (!token.ok) return token;
    const authority = readFile(join(directory, "ca.crt"), "service account's authority", note);
    if (!authority.ok) return authority;
    if (!hasCertificate(authority.value)) return invalid(join(directory, "ca.crt"), withoutCertificate);
    const bearerToken = token.value.trim();
    if (!headerSafe(bearerToken)) return invalid(join(directory, "token"), "it is not a bearer token");
    const none = { serverName: undefined, insecure: false, certificate: undefined };
    return ok({ source: directory, server, authority: authority.value, token: bearerToken, ...none });
  };
}

/** Loads the YAML library only for a text that is not JSON: loading it and parsing take a one-shot engine some 20 ms. */
async function parse(text: string, path: string): Promise<Result<unknown>> {
  if (text.trimStart().startsWith("{")) {
    const document = parseDocument(text, { what: `kubeconfig ${path}`, kind: "KUBECONFIG_INVALID" });
    return document.ok ? ok(document.value.parsed) : document;
  }
  const yaml = await import("yaml");
  try {
    const document = yaml.parseDocument(text, { stringKeys: true });
    const [problem] = document.errors;
    if (problem !== undefined) return invalid(path, quote(problem.message.split("\n")[0] ?? ""));
    const value: unknown = document.toJS({ maxAliasCount: 20 });
    return ok(value);
  } catch (error) {
    return invalid(path, quote(reason(error)));
  }
}

function withFiles(
  path: string,
  entry: KubeconfigEntry,
  note: NoteFile | undefined,
  writer: string | undefined,
): Result<Credentials> {
  const { server, serverName, insecure } = entry;
  const read = (material: Material | undefined, what: string): Result<string | undefined> => {
    if (material === undefined) return ok(undefined);
    if ("data" in material) return ok(material.data);
    if (writer !== undefined)
      return invalid(
        path,
        `the ${what} is a file, which is not read, because ${writer} may write the kubeconfig. Put the content into it`,
      );
    const file = isAbsolute(material.file) ? material.file : join(dirname(path), material.file);
    return readFile(file, `${what} of kubeconfig ${path}`, note);
  };
  const authority = read(entry.authority, "certificate-authority");
  if (!authority.ok) return authority;
  if (authority.value !== undefined && !hasCertificate(authority.value)) return invalid(path, withoutCertificate);
  const token = read(entry.token, "token");
  if (!token.ok) return token;
  const certificate = read(entry.certificate?.certificate, "client-certificate");
  if (!certificate.ok) return certificate;
  const key = read(entry.certificate?.key, "client-key");
  if (!key.ok) return key;
  const bearerToken = token.value?.trim();
  if (bearerToken !== undefined && !headerSafe(bearerToken)) return invalid(path, "the token is not a bearer token");
  return ok({
    source: path,
    server,
    serverName,
    insecure,
    authority: authority.value,
    token: bearerToken,
    certificate:
      certificate.value === undefined || key.value === undefined ? undefined : { certificate: certificate.value, key: key.value },
  });
}

/** The credentials that a plugin gives, for the server of `credentials`. */
async function withPlugin(credentials: Credentials, plugin: CredentialPlugin, run: RunPlugin): Promise<Result<Credentials>> {
  const { source: path, authority } = credentials;
  // Relative to the kubeconfig, as in clientcmd.
  const command = plugin.command.includes("/") ? resolve(dirname(path), plugin.command) : plugin.command;
  const given = await run({ ...plugin, command }, authority, path);
  if (!given.ok) return given;
  const { token, certificate } = given.value;
  if (token !== undefined && !headerSafe(token)) return invalid(path, "the credential plugin's token is not a bearer token");
  return ok({ ...credentials, token, certificate });
}

const withoutCertificate = "certificate-authority has no certificate in PEM";

/**
 * Node treats an empty text as no authority at all and trusts the public ones; a file that is just being written may be empty.
 */
function hasCertificate(text: string): boolean {
  return /-----BEGIN ([A-Z\d ]{0,16}CERTIFICATE)-----[^-]+-----END \1-----/.test(text);
}

/** Printable ASCII only: no character that ends a header line. */
function headerSafe(token: string): boolean {
  return /^[!-~]+$/.test(token);
}

/** Reads a regular file of limited size; a FIFO or device in its place does not block. */
function readFile(path: string, what: string, note?: NoteFile): Result<string> {
  const unreadable = (why: string, kind: FaultKind = "CREDENTIALS_UNREADABLE"): Result<never> =>
    failed(fault(kind, `${what} ${path}: ${why}`));
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file, { bigint: true });
    note?.(path, stats);
    if (!stats.isFile()) return unreadable("is not a file", "KUBECONFIG_INVALID");
    if (stats.size > maxFileBytes) {
      return unreadable(`has ${stats.size} bytes; at most ${maxFileBytes} are read`, "KUBECONFIG_INVALID");
    }
    const buffer = Buffer.alloc(Number(stats.size));
    const length = readSync(file, buffer, 0, buffer.length, 0);
    return ok(buffer.toString("utf8", 0, length));
  } catch (error) {
    return unreadable(reason(error));
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function invalid(path: string, why: string): Result<never> {
  return failed(fault("KUBECONFIG_INVALID", `kubeconfig ${path}: ${why}`));
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
