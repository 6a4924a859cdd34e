// Runs a kubeconfig's credential plugin (`exec`) without a shell, as client-go does. Only an administrator's commands run one: a daemon or a
// one-shot engine never starts a program that a kubeconfig names.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { isatty } from "node:tty";
import { fault } from "../../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../../src/fault/result.ts";
import { quote } from "../../../../src/json/quote.ts";
import {
  type CredentialPlugin,
  pluginInput,
  type PluginCredential,
  readPluginOutput,
} from "../../../../src/kube/credential-plugin.ts";
import { inertLine } from "../../../../src/text/inert-text.ts";
import type { RunPlugin } from "../../../cluster/kube/credentials.ts";
import { systemClock } from "../../../system/clock.ts";

/** Limits of one run. */
interface Limits {
  /** A person may have to log in in a browser: the programs themselves wait 3 minutes for that. */
  readonly maxMs: number;
  readonly maxBytes: number;
}

const defaultLimits: Limits = { maxMs: 300_000, maxBytes: 1024 * 1024 };

/** Maximum length of an install hint, in UTF-16 units. */
const maxHint = 1000;

/** Runs one kubeconfig's plugin once, and again when its credential has expired. Requests at the same time share a run. Fault CREDENTIALS_UNREADABLE. */
export function credentialPluginRunner(limits: Limits = defaultLimits): RunPlugin {
  let current: Promise<Result<PluginCredential>> | undefined;
  /** Milliseconds since 1970. */
  let expires = Infinity;
  const run: RunPlugin = async (plugin, authority, path) => {
    const name = `credential plugin ${quote(plugin.command)} of kubeconfig ${path}`;
    const output = await outputOf(plugin, authority, name, limits);
    const credential = output.ok ? readPluginOutput(output.value, plugin, name) : output;
    if (!credential.ok || credential.value.expirationTimestamp === undefined) return credential;
    expires = Date.parse(credential.value.expirationTimestamp);
    if (!Number.isNaN(expires)) return credential;
    return failed(fault("CREDENTIALS_UNREADABLE", `${name}: status.expirationTimestamp is not a time`));
  };
  return (...request) => {
    if (current === undefined || systemClock.date().getTime() >= expires) {
      expires = Infinity;
      current = run(...request);
    }
    return current;
  };
}

/** The stdout of one run. The plugin's stderr is the command's own: it may ask the administrator to log in. */
function outputOf(
  plugin: CredentialPlugin,
  authority: string | undefined,
  name: string,
  { maxMs, maxBytes }: Limits,
): Promise<Result<string>> {
  const refused = (why: string): Result<never> => failed(fault("CREDENTIALS_UNREADABLE", `${name}: ${why}`));
  const { command, args, interactiveMode } = plugin;
  const isTerminal = isatty(0);
  if (interactiveMode === "Always" && !isTerminal)
    return Promise.resolve(refused("it needs a terminal as stdin (interactiveMode: Always)"));
  const isInteractive = isTerminal && interactiveMode !== "Never";
  const input = pluginInput(plugin, isInteractive, authority && Buffer.from(authority).toString("base64"));
  return new Promise((resolve) => {
    const environment = { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: input };
    let child: ChildProcessByStdio<null, Readable, null>;
    try {
      child = spawn(command, args, { env: environment, stdio: [isInteractive ? "inherit" : "ignore", "pipe", "inherit"] });
    } catch (error) {
      // E2BIG: the variables are too long.
      resolve(refused(notStarted(error, plugin)));
      return;
    }
    const settle = (result: Result<string>): void => {
      clearTimeout(timer);
      // A process that the plugin started may keep the pipe open.
      child.stdout.destroy();
      resolve(result);
    };
    const end = (why: string): void => {
      child.kill("SIGKILL");
      settle(refused(why));
    };
    const timer = setTimeout(() => end(`it gave no credential within ${maxMs / 1000} s`), maxMs);
    const chunks: Buffer[] = [];
    let length = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) end(`it wrote more than ${maxBytes} bytes`);
      else chunks.push(chunk);
    });
    child.on("error", (error) => settle(refused(notStarted(error, plugin))));
    child.on("close", (status, signal) => {
      if (status === 0) settle(ok(Buffer.concat(chunks).toString("utf8")));
      else settle(refused(`it ended with ${signal ?? `status ${status}`}; its own messages are above`));
    });
  });
}

function notStarted(error: unknown, { command, installHint }: CredentialPlugin): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  if (code !== "ENOENT") return `it cannot be started: ${code}`;
  const where = command.includes("/") ? "the program does not exist" : "the program is not on PATH";
  const hint = inertLine(installHint, maxHint).replaceAll(/\s+/g, " ").trim();
  return `${where}: ${hint === "" ? "install it, or use a kubeconfig with a token or a client certificate" : hint}`;
}
