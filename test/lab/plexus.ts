// An installation of Plexus in a temporary directory, called exactly as a container runtime calls it.

import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { root } from "./compiled.ts";
import { referencePlugin } from "./requires.ts";

/** The output directory of `npm run build`. PLEXUS_TEST_DIST names another build to test. */
export const dist = process.env["PLEXUS_TEST_DIST"] ?? join(root, "dist");

export interface Call {
  readonly verb: string;
  readonly containerId?: string;
  readonly netns?: string;
  readonly ifname?: string;
  /** CNI_ARGS. */
  readonly args?: string;
  /** stdin as a value that is written as JSON. `stdin` has the bytes instead. */
  readonly config?: unknown;
  readonly stdin?: string | Buffer;
  /** CNI_PATH. Default: the installation's directory of plugins. */
  readonly cniPath?: string;
  /** Variables that override the environment. `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The name of the called executable. Default: `plexus`. */
  readonly as?: string;
  /** A program with arguments that starts the plugin, such as `nsenter`. Default: none. */
  readonly through?: readonly string[];
  /** Milliseconds until SIGKILL. Default: 120 000, which only ends a hang. */
  readonly deadlineMs?: number;
}

export interface Answer {
  /** The exit status; 128 + n for a signal. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** stdout parsed as one JSON object, undefined for other output. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
  readonly ms: number;
}

export interface Installation {
  readonly serving: Serving;
  /** The temporary directory of the whole installation. */
  readonly directory: string;
  /** PLEXUS_HOME: bin/node, plexusd.cjs. */
  readonly home: string;
  /** The only directory of CNI_PATH: `plexus`, links to reference plugins, components. */
  readonly cniPath: string;
  /** Makes an empty directory of this installation for state (journal, cache, leases) and answers its path. */
  state(name: string): string;
  /** Makes an empty directory below /run for state that a reboot removes (`runDir`) and answers its path. */
  runState(name: string): string;
  /** Calls `plexus` as a runtime does: with the environment and stdin of the call, and without inherited variables. */
  call(call: Call): Promise<Answer>;
  /** As `call`, through the script at `entrance`, which executes the shim. */
  callThrough(entrance: string, call: Call): Promise<Answer>;
  dispose(): void;
}

/** The server of an installation's calls: the run's daemon, or an engine that the shim starts for each call. */
export type Serving = "daemon" | "one-shot";

export interface InstallationInit {
  /**
   * The server of calls that name no PLEXUS_SOCKET. Default: the run's daemon, or one-shot engines outside of a run of tests. Tests of what differs
   * with one-shot engines (their start, waits between processes, isolation, crashes) choose them.
   */
  readonly serving?: Serving;
  /** Reference plugins to link into the CNI_PATH, by name. */
  readonly native?: readonly string[];
  /** Answers the path of a reference plugin. Default: the distribution's. */
  readonly findNative?: (name: string) => string | undefined;
  /** Components (dist/delegates/NAME.wasm) to install, by name. */
  readonly components?: readonly string[];
  /** False if the shim alone is enough, for tests that play the engine. */
  readonly engine?: boolean;
}

/** The missing files of the build as one phrase, or undefined if the build is complete. */
export function missingBuild({ components = [], engine = true }: InstallationInit = {}): string | undefined {
  const wanted = [
    "plexus",
    ...(engine ? ["plexusd.cjs", "bin/plexus-sandbox", "bin/plexus-zygote.node"] : []),
    ...components.map((name) => `delegates/${name}.wasm`),
  ];
  const absent = wanted.filter((name) => !existsSync(join(dist, name)));
  return absent.length === 0 ? undefined : `dist/ lacks ${absent.join(", ")}: npm run build`;
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The environment of a runtime's call: the CNI variables and PATH. */
export function runtimeEnvironment(call: Call, cniPath: string): Record<string, string> {
  const env: Record<string, string | undefined> = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    CNI_COMMAND: call.verb,
    CNI_CONTAINERID: call.containerId,
    CNI_NETNS: call.netns,
    CNI_IFNAME: call.ifname,
    CNI_ARGS: call.args,
    CNI_PATH: call.cniPath ?? cniPath,
    ...call.env,
  };
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** `call` with the environment for what serves it. A socket that the call names itself stays. */
function servedBy(serving: Serving, call: Call): Call {
  return serving === "one-shot" ? call : { ...call, env: { PLEXUS_SOCKET: process.env["PLEXUS_TEST_SOCKET"], ...call.env } };
}

/** Calls any CNI plugin binary as a runtime does. */
export function callBinary(binary: string, call: Call, cniPath: string): Promise<Answer> {
  const stdin = call.stdin ?? (call.config === undefined ? "" : JSON.stringify(call.config));
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const [command = binary, ...rest] = [...(call.through ?? []), binary];
    const child = spawn(command, rest, { env: runtimeEnvironment(call, cniPath), stdio: ["pipe", "pipe", "pipe"] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    const timer = setTimeout(() => child.kill("SIGKILL"), call.deadlineMs ?? 120_000);
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.stdin.on("error", () => {
      // The plugin ended without reading all of stdin; its answer has the reason.
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      const stdout = Buffer.concat(out).toString("utf8");
      resolve({
        status: code ?? (signal === "SIGKILL" ? 137 : 128),
        stdout,
        stderr: Buffer.concat(err).toString("utf8"),
        json: parsed(stdout),
        ms: performance.now() - started,
      });
    });
    child.stdin.end(stdin);
  });
}

/**
 * Installs the built files of dist/ as an administrator does. The shim and the components lie beside the native plugins in a directory
 * of CNI_PATH. The link `.plexus` beside the shim leads to the home, which has Node and the engine.
 */
export function installPlexus(init: InstallationInit = {}): Installation {
  const lacking = missingBuild(init);
  if (lacking !== undefined) throw new Error(lacking);
  const directory = mkdtempSync(join(tmpdir(), "plexus-test-"));
  const home = join(directory, "home");
  const cniPath = join(directory, "cni");
  mkdirSync(join(home, "bin"), { recursive: true });
  mkdirSync(cniPath);
  symlinkSync(process.execPath, join(home, "bin", "node"));
  // Symbolic links: Node resolves them, so that all installations share the compile cache beside the code.
  for (const name of ["plexusd.cjs", "engine"]) {
    if (existsSync(join(dist, name))) symlinkSync(join(dist, name), join(home, name));
  }
  copyFileSync(join(dist, "plexus"), join(cniPath, "plexus"));
  chmodSync(join(cniPath, "plexus"), 0o755);
  symlinkSync(home, join(cniPath, ".plexus"));
  for (const name of init.native ?? []) {
    const source = (init.findNative ?? referencePlugin)(name);
    if (source === undefined) throw new Error(`reference plugin ${name} is not installed`);
    symlinkSync(source, join(cniPath, name));
  }
  for (const name of init.components ?? []) copyFileSync(join(dist, "delegates", `${name}.wasm`), join(cniPath, `${name}.wasm`));
  const runDirectory = join("/run", basename(directory));
  const serving = init.serving ?? "daemon";
  return {
    serving,
    directory,
    home,
    cniPath,
    state(name) {
      const path = join(directory, "state", name);
      mkdirSync(path, { recursive: true });
      return path;
    },
    runState(name) {
      if (process.env["PLEXUS_PRIVATE"] === undefined)
        throw new Error("/run belongs to the machine: start the tests by scripts/run.sh");
      const path = join(runDirectory, name);
      mkdirSync(path, { recursive: true });
      return path;
    },
    call: (call) => callBinary(join(cniPath, call.as ?? "plexus"), servedBy(serving, call), cniPath),
    callThrough: (entrance, call) => callBinary(entrance, servedBy(serving, call), cniPath),
    dispose() {
      for (const path of [directory, runDirectory]) rmSync(path, { recursive: true, force: true });
    },
  };
}
