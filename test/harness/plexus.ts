// An installation of Plexus in a temporary directory, and calls of it exactly as a container runtime makes them.

import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { root } from "./compiled.ts";
import { referencePlugin } from "./requires.ts";

/** What `npm run build` leaves; PLEXUS_TEST_DIST names another build to be tested. */
export const dist = process.env["PLEXUS_TEST_DIST"] ?? join(root, "dist");

export interface Call {
  readonly verb: string;
  readonly containerId?: string;
  readonly netns?: string;
  readonly ifname?: string;
  /** CNI_ARGS. */
  readonly args?: string;
  /** stdin: a value to be written as JSON, or the bytes themselves. */
  readonly config?: unknown;
  readonly stdin?: string | Buffer;
  /** CNI_PATH; the installation's own directory unless given. */
  readonly cniPath?: string;
  /** Added to the environment, over all else; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The name under which it is called; `plexus` unless given. */
  readonly as?: string;
  /** A program and its arguments that start it in their turn; none unless given. */
  readonly through?: readonly string[];
  /** SIGKILL after this many ms; 60 000 unless given. */
  readonly deadlineMs?: number;
}

export interface Answer {
  /** The exit status; 128 + n for a signal. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** stdout parsed as one JSON object; undefined where it isn't one. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
  readonly ms: number;
}

export interface Installation {
  /** The temporary directory that holds it all. */
  readonly directory: string;
  /** PLEXUS_HOME: bin/node, brain.cjs. */
  readonly home: string;
  /** The one directory of its CNI_PATH: `plexus`, links to reference plugins, components. */
  readonly cniPath: string;
  /** A directory of this installation for state (journal, cache, leases): made, empty. */
  state(name: string): string;
  /** A directory for what no reboot outlives (`runDir`): below /run, in memory as on every node; made, empty. */
  runState(name: string): string;
  /** Calls `plexus` as a runtime does: env + stdin, nothing inherited. */
  call(call: Call): Promise<Answer>;
  dispose(): void;
}

export interface InstallationInit {
  /** Reference plugins to link into the CNI_PATH, by name. */
  readonly native?: readonly string[];
  /** Components (dist/delegates/NAME.wasm) to install, by name. */
  readonly components?: readonly string[];
  /** False: the hands alone are enough, for tests that are the brain themselves. */
  readonly brain?: boolean;
}

/** What is missing of the build, as one phrase; undefined where all is there. */
export function missingBuild({ components = [], brain = true }: InstallationInit = {}): string | undefined {
  const wanted = ["plexus", ...(brain ? ["brain.cjs"] : []), ...components.map((name) => `delegates/${name}.wasm`)];
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

/** The environment that a runtime gives: the CNI variables, a PATH, nothing else. */
export function runtimeEnvironment(call: Call, cniPath: string): Record<string, string> {
  const env: Record<string, string | undefined> = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    CNI_COMMAND: call.verb,
    CNI_CONTAINERID: call.containerId,
    CNI_NETNS: call.netns,
    CNI_IFNAME: call.ifname,
    CNI_ARGS: call.args,
    CNI_PATH: call.cniPath ?? cniPath,
    // The suites of one-shot calls serve a daemon too: whoever starts one names its socket.
    PLEXUS_SOCKET: process.env["PLEXUS_TEST_SOCKET"],
    ...call.env,
  };
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** Runs any CNI plugin binary as a runtime does. */
export function callBinary(binary: string, call: Call, cniPath: string): Promise<Answer> {
  const stdin = call.stdin ?? (call.config === undefined ? "" : JSON.stringify(call.config));
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const [command = binary, ...rest] = [...(call.through ?? []), binary];
    const child = spawn(command, rest, { env: runtimeEnvironment(call, cniPath), stdio: ["pipe", "pipe", "pipe"] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    const timer = setTimeout(() => child.kill("SIGKILL"), call.deadlineMs ?? 60_000);
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.stdin.on("error", () => {
      // The plugin ended without reading all of it: its answer says why.
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
 * Installs the built artefacts of dist/ as an administrator would: the hands in a directory of the CNI_PATH with a
 * link `.plexus` to the home beside them, the home with Node and the brain, components beside the native plugins.
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
  // Links: Node resolves them, so that all installations share the compile cache beside the code.
  for (const name of ["brain.cjs", "brain"]) {
    if (existsSync(join(dist, name))) symlinkSync(join(dist, name), join(home, name));
  }
  copyFileSync(join(dist, "plexus"), join(cniPath, "plexus"));
  chmodSync(join(cniPath, "plexus"), 0o755);
  symlinkSync(home, join(cniPath, ".plexus"));
  for (const name of init.native ?? []) {
    const source = referencePlugin(name);
    if (source === undefined) throw new Error(`reference plugin ${name} is not installed`);
    symlinkSync(source, join(cniPath, name));
  }
  for (const name of init.components ?? []) copyFileSync(join(dist, "delegates", `${name}.wasm`), join(cniPath, `${name}.wasm`));
  const runDirectory = join("/run", basename(directory));
  return {
    directory,
    home,
    cniPath,
    state(name) {
      const path = join(directory, "state", name);
      mkdirSync(path, { recursive: true });
      return path;
    },
    runState(name) {
      if (process.env["PLEXUS_PRIVATE"] === undefined) throw new Error("/run is the machine's: start this by scripts/run.sh");
      const path = join(runDirectory, name);
      mkdirSync(path, { recursive: true });
      return path;
    },
    call: (call) => callBinary(join(cniPath, call.as ?? "plexus"), call, cniPath),
    dispose() {
      for (const path of [directory, runDirectory]) rmSync(path, { recursive: true, force: true });
    },
  };
}
