import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { resolverFor } from "../../../../host/capabilities/resolver/scope.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-resolver-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

test("An allowed resolv.conf is read as native host-local reads it", () => {
  const path = file(
    "resolv.conf",
    "# a comment\n; another\nnameserver 192.0.2.1\n  nameserver\t192.0.2.2 ignored\nnameserver\ndomain a.example\ndomain b.example\nsearch x.example y.example\nsearch z.example\noptions ndots:5 rotate\nsortlist 1.2.3.4\n",
  );
  expect(resolverFor({ allowedFiles: [path] }).read(path)).toEqual({
    ok: {
      nameservers: ["192.0.2.1", "192.0.2.2"],
      domain: "b.example",
      search: ["x.example", "y.example", "z.example"],
      options: ["ndots:5", "rotate"],
    },
  });
});

test("A path that is not listed is refused, and the fault has the list", () => {
  const listed = file("resolv.conf", "");
  const secret = file("secret", "nameserver 192.0.2.9");
  const resolver = resolverFor({ allowedFiles: [listed] });
  for (const path of [secret, `${listed}/../secret`, "secret", "", `${listed}\0`, directory]) {
    expect(resolver.read(path)).toMatchObject({ err: { code: 7, msg: expect.stringContaining(listed) } });
  }
  expect(resolver.read(`${directory}/x/../resolv.conf`)).toMatchObject({ ok: {} });
});

test("Without a list only /etc/resolv.conf may be read", () => {
  expect(resolverFor({}).read("/etc/passwd")).toMatchObject({
    err: { msg: expect.stringContaining("allowed: /etc/resolv.conf") },
  });
});

test("A listed file may be a symbolic link", () => {
  const target = file("stub", "nameserver 192.0.2.53\n");
  const link = join(directory, "resolv.conf");
  symlinkSync(target, link);
  expect(resolverFor({ allowedFiles: [link] }).read(link)).toMatchObject({ ok: { nameservers: ["192.0.2.53"] } });
});

test("A missing file, a file that is not regular and a too large file are faults with the reason", () => {
  const fifo = join(directory, "fifo");
  execFileSync("mkfifo", [fifo]);
  const large = file("large", "x".repeat(65_537));
  const full = file("full", `nameserver 192.0.2.1${" ".repeat(65_516)}`);
  const resolver = resolverFor({ allowedFiles: [fifo, large, full, directory, "/dev/zero", join(directory, "none")] });
  expect(resolver.read(fifo)).toMatchObject({ err: { code: 5, msg: expect.stringContaining("not a regular file") } });
  expect(resolver.read("/dev/zero")).toMatchObject({ err: { code: 5, msg: expect.stringContaining("not a regular file") } });
  expect(resolver.read(directory)).toMatchObject({ err: { code: 5 } });
  expect(resolver.read(large)).toMatchObject({ err: { code: 5, msg: expect.stringContaining("more than 65536 bytes") } });
  expect(resolver.read(full)).toMatchObject({ ok: { nameservers: ["192.0.2.1"] } });
  expect(resolver.read(join(directory, "none"))).toMatchObject({ err: { code: 5, msg: expect.stringContaining("ENOENT") } });
});
