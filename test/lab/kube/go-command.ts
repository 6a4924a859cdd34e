// Runs Go for programs that tests need: without cgo, without a download of another Go, and with a time limit.

import { spawnSync } from "node:child_process";

/** Whether Go is on PATH. */
export function hasGo(): boolean {
  return spawnSync("go", ["version"], { stdio: "ignore" }).status === 0;
}

export interface GoInit {
  readonly args: readonly string[];
  readonly timeoutMinutes: number;
  /** The module's directory. Default: no module. */
  readonly directory?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs Go and answers the reason of a failure. Go's children end with Go, because `timeout` signals the whole group. */
export function runGo({ args, timeoutMinutes, directory, env = {} }: GoInit): string | undefined {
  const ran = spawnSync("timeout", ["-k", "10", `${timeoutMinutes}m`, "nice", "go", ...args], {
    cwd: directory,
    env: { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "", GOWORK: "off", CGO_ENABLED: "0", ...env },
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
    maxBuffer: 64 << 20,
  });
  if (ran.status === 0) return undefined;
  const command = `go ${args[0]}${args[1] === "download" ? " download" : ""}`;
  return ran.status === 124
    ? `${command} took longer than ${timeoutMinutes} minutes`
    : `${command} failed: ${lastLines(ran.stderr ?? "")}`;
}

/** The last lines of Go's stderr, which have the error. Go lists its downloads before them. */
function lastLines(text: string): string {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("go: downloading"));
  return lines.slice(-3).join(" ").slice(-300);
}
