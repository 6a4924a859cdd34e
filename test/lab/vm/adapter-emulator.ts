// An emulator of an adapter with virtual functions (SR-IOV): QEMU has the device igb since 8.0. Where the installed one is older, that of the
// distribution's backports is unpacked, and nothing is installed.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testCache, unpackPackages } from "../debian-packages.ts";
import { emulator } from "./kernel.ts";

/** The arguments for an adapter on a PCI Express port of its own, whose network leads nowhere. Without `ipv6=off` its router would give each function addresses. */
export const adapter: readonly string[] =
  "-M q35 -netdev user,id=n0,restrict=on,ipv6=off -device pcie-root-port,id=rp0,slot=1,chassis=1 -device igb,netdev=n0,bus=rp0".split(
    " ",
  );

/** A program with its environment. */
export interface Emulator {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
}

const packages = ["qemu-system-x86", "qemu-system-common", "qemu-system-data", "seabios"];

/** An emulator with the adapter. A string is the reason why there is none. */
export function adapterEmulator(): Emulator | string {
  if (hasAdapter({ program: emulator, env: {} })) return { program: emulator, env: {} };
  const directory = join(testCache, "vm-qemu-backports");
  const why = existsSync(directory) ? undefined : unpackBackports(directory);
  if (why !== undefined) return why;
  const [libraries = ""] = readdirSync(join(directory, "usr/lib")).filter((name) => name.includes("linux-gnu"));
  const unpacked = {
    program: join(directory, "usr/bin", emulator),
    env: { QEMU_MODULE_DIR: join(directory, "usr/lib", libraries, "qemu") },
  };
  return hasAdapter(unpacked) ? unpacked : `${unpacked.program} has no device igb, which QEMU has since 8.0`;
}

function hasAdapter({ program, env }: Emulator): boolean {
  const { stdout } = spawnSync(program, ["-device", "igb,help"], { encoding: "utf8", env: { ...process.env, ...env } });
  return (stdout ?? "").startsWith("igb options");
}

/** Lists of packages of their own, so that the machine's lists stay as they are. */
function unpackBackports(directory: string): string | undefined {
  const wanted = ["--format", "$(REPO_URI) $(CODENAME) $(COMPONENT) $(ARCHITECTURE)", "Created-By: Packages"];
  const targets = spawnSync("apt-get", ["indextargets", ...wanted], { encoding: "utf8" });
  const source = (targets.stdout ?? "").split("\n").find((line) => /^\S+\/debian\/? [a-z]+ main amd64$/u.test(line));
  if (source === undefined) return "apt-get knows no Debian release, whose backports have a newer QEMU";
  const [uri = "", codename = ""] = source.split(" ");
  const work = mkdtempSync(join(tmpdir(), "plexus-backports-"));
  try {
    for (const name of ["lists/partial", "archives/partial"]) mkdirSync(join(work, name), { recursive: true });
    writeFileSync(join(work, "sources.list"), `deb ${uri} ${codename}-backports main\n`);
    const settings = [`Dir::Etc::sourcelist=${join(work, "sources.list")}`, "Dir::Etc::sourceparts=-"];
    const places = [`Dir::State::lists=${join(work, "lists")}`, `Dir::Cache=${work}`];
    const options = [...settings, ...places].flatMap((option) => ["-o", option]);
    const updated = spawnSync("apt-get", [...options, "update"], { encoding: "utf8" });
    if (updated.status !== 0) return `apt-get update for ${codename}-backports: ${(updated.stderr ?? "").trim().slice(-300)}`;
    return unpackPackages(
      packages.map((name) => `${name}/${codename}-backports`),
      directory,
      options,
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
