// Registries as children of a test, on a port of the loopback interface.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { request as requestTls } from "node:https";
import { join } from "node:path";

import type { Certificate } from "../kube/certificates.ts";
import { freePorts } from "../kube/child.ts";
import { goProgram, registryProgram } from "./programs.ts";
import type { TokenServer } from "./token-server.ts";

/** A running registry. */
export interface Registry {
  /** Host and port. */
  readonly host: string;
  /** Directory of docker-registry's content; empty for crane's registry, which has none. */
  readonly storage: string;
  dispose(): Promise<void>;
}

export interface RegistryInit {
  /** An existing directory for configuration, content and log. */
  readonly directory: string;
  /** Default: 127.0.0.1. */
  readonly address?: string;
  readonly tls?: Certificate;
  /** `basic`: the user and the password of `basicUser`. */
  readonly auth?: "basic" | TokenServer;
}

/** The user of registries with basic authentication. */
export const basicUser = { username: "robot", password: "opensesame" } as const;
/** bcrypt of `basicUser.password`. */
const basicHash = "$2a$05$abcdefghijklmnopqrstuuQbLfdQZSxZ9gjhA5V9o8Tyc6aQRO0Qi";
const readyMs = 60_000;

/** Starts Debian's docker-registry (2.8.2, without the referrers API). */
export async function startRegistry({ directory, address = "127.0.0.1", tls, auth }: RegistryInit): Promise<Registry> {
  const program = registryProgram();
  if (program === undefined) throw new Error("docker-registry is missing: see programs.ts");
  const [port = 0] = await freePorts(1);
  const storage = join(directory, "content");
  mkdirSync(storage, { recursive: true });
  writeFileSync(join(directory, "htpasswd"), `${basicUser.username}:${basicHash}\n`);
  const configuration = {
    version: "0.1",
    log: { level: "warn" },
    storage: { filesystem: { rootdirectory: storage } },
    http: {
      addr: `${address}:${port}`,
      ...(tls === undefined ? {} : { tls: { certificate: tls.certificate, key: tls.key } }),
    },
    ...(auth === undefined
      ? {}
      : {
          auth:
            auth === "basic"
              ? { htpasswd: { realm: "test", path: join(directory, "htpasswd") } }
              : { token: { realm: auth.realm, service: auth.service, issuer: auth.issuer, rootcertbundle: auth.certificate } },
        }),
  };
  const file = join(directory, "config.json");
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(configuration));
  const child = start(program, ["serve", file], join(directory, "registry.log"));
  await ready(child, { address, port, tls }, join(directory, "registry.log"));
  return { host: `${address}:${port}`, storage, dispose: () => end(child) };
}

/** Starts the registry of go-containerregistry, which has the referrers API. */
export async function startReferrersRegistry(directory: string): Promise<Registry> {
  const program = goProgram("crane");
  if (program === undefined) throw new Error("crane is missing: see programs.ts");
  const address = "127.0.0.1";
  const [port = 0] = await freePorts(1);
  const log = join(directory, "crane.log");
  const child = start(program, ["registry", "serve", "--address", `${address}:${port}`], log);
  await ready(child, { address, port }, log);
  return { host: `${address}:${port}`, storage: "", dispose: () => end(child) };
}

/** `setpriv` makes the kernel kill the child when this process ends, even after SIGKILL. */
function start(file: string, args: readonly string[], log: string): ChildProcess {
  const output = openSync(log, "a");
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", file, ...args], { stdio: ["ignore", output, output] });
  child.on("error", () => {
    // `ready` reports a program that could not be started.
  });
  closeSync(output);
  return child;
}

interface Listener {
  readonly address: string;
  readonly port: number;
  readonly tls?: Certificate | undefined;
}

async function ready(child: ChildProcess, listener: Listener, log: string): Promise<void> {
  const deadline = Date.now() + readyMs;
  while (!(await answers(listener))) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`the registry did not start:\n${readFileSync(log, "utf8")}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function answers({ address, port, tls }: Listener): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host: address, port, path: "/v2/" };
    const sent = tls !== undefined ? requestTls({ ...options, rejectUnauthorized: false }) : request(options);
    sent.on("response", (response) => {
      response.resume();
      resolve(true);
    });
    sent.on("error", () => resolve(false));
    sent.end();
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}
