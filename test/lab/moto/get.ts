// `node test/lab/moto/get.ts` gets moto from PyPI and the EC2 provider's packages from npm, before the tests enter namespaces that reach neither.
// Without Python or an index, a line says so and the tests are skipped by name.

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ec2ProviderPackages, ec2ProviderSource, motoCache, motoServer, motoVersion } from "./toolchain.ts";

const reason = (existsSync(motoServer) ? undefined : getMoto()) ?? getPackages();
if (reason !== undefined) process.stderr.write(`plexus: ${reason}: tests of the EC2 provider are skipped\n`);

/** Answers the reason of a failure. Programs of a virtual environment have its path, so it is made in its place. */
function getMoto(): string | undefined {
  process.stderr.write("plexus: installing moto (140 MB, once)\n");
  rmSync(motoCache, { recursive: true, force: true });
  const packages = [`moto[ec2]==${motoVersion}`, "flask==3.1.3", "flask-cors==6.0.5"];
  const failed =
    run("python3", ["-m", "venv", motoCache]) ??
    run(join(motoCache, "bin/pip"), ["install", "--quiet", "--retries", "1", "--only-binary", ":all:", ...packages]);
  if (failed !== undefined) rmSync(motoCache, { recursive: true, force: true });
  return failed;
}

function getPackages(): string | undefined {
  const directory = ec2ProviderPackages();
  if (existsSync(join(directory, "node_modules"))) return undefined;
  process.stderr.write("plexus: installing the EC2 provider's packages (once)\n");
  const work = `${directory}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  try {
    for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(ec2ProviderSource, name), join(work, name));
    const failed = run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], work);
    if (failed !== undefined) return failed;
    rmSync(directory, { recursive: true, force: true });
    renameSync(work, directory);
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function run(program: string, args: readonly string[], cwd?: string): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: 300_000, cwd });
  if (status === 0) return undefined;
  const text = `${stdout ?? ""}${stderr ?? ""}`.trim().split("\n").at(-1) ?? "";
  return `${program} ${args[0]}: ${error?.message ?? text.slice(-300)}`;
}
