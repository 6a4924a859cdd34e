import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { missing, privateNamespaces } from "../../test/harness/requires.ts";
import { removeFile } from "./durable-file.ts";
import { replaceNow } from "./file-writer.ts";
import { isSpare, Spares } from "./spares.ts";

let root: string;
let directory: string;
let home: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "plexus-spares-"));
  [directory, home] = [join(root, "files"), join(root, ".plexus-spares")];
  mkdirSync(directory);
});
afterEach(() => rmSync(root, { recursive: true }));

const at = (name: string): string => join(directory, name);
const text = (name: string): string => readFileSync(at(name), "utf8");
const inode = (name: string): number => statSync(at(name)).ino;
const kept = (): readonly string[] => (existsSync(home) ? readdirSync(home).filter(isSpare) : []);

function write(spares: Spares, name: string, content = `of ${name}\n`): void {
  const written = replaceNow(at(name), content, { most: 1e6, durable: false }, spares);
  if (!written.ok) throw new Error(written.fault.msg);
  closeSync(written.value.file);
}

function remove(spares: Spares, ...names: readonly string[]): void {
  for (const name of names) expect(removeFile(at(name), spares)).toEqual({ ok: true, value: undefined });
}

/** A brain that wrote and removed so many files. */
function brainWith(count: number, most?: number): Spares {
  const spares = new Spares(most);
  const names = Array.from({ length: count }, (_, index) => `old${index}`);
  for (const name of names) write(spares, name, `what ${name} had, and more of it than others\n`);
  remove(spares, ...names);
  return spares;
}

describe("keeping", () => {
  test("A removed file is the next one, whole, and its owner's alone; none lies among the files", () => {
    const spares = new Spares();
    write(spares, "a", "a long content\n");
    const ino = inode("a");
    remove(spares, "a");
    expect([readdirSync(directory), kept().length, statSync(home).mode & 0o777]).toEqual([[], 1, 0o700]);
    write(spares, "b", "short\n");
    expect([inode("b"), text("b"), statSync(at("b")).mode & 0o777, kept()]).toEqual([ino, "short\n", 0o600, []]);
  });

  test("Nothing is kept where this brain wrote nothing: nobody would use it", () => {
    writeFileSync(at("multus"), "x", { mode: 0o600 });
    remove(new Spares(), "multus");
    expect(readdirSync(root)).toEqual(["files"]);
  });

  test("No more than the bound are kept, and a brain that begins removes what is beyond it", () => {
    brainWith(5, 3);
    expect(kept()).toHaveLength(3);
    write(new Spares(2), "a");
    expect(kept()).toHaveLength(1);
  });

  test("What isn't a file of ours with one name only is removed and not kept", () => {
    const spares = brainWith(0);
    write(spares, "ours");
    linkSync(at("ours"), at("hard"));
    symlinkSync("ours", at("soft"));
    execFileSync("mkfifo", ["-m", "600", at("pipe")]);
    writeFileSync(at("open"), "x");
    chmodSync(at("open"), 0o644);
    writeFileSync(at("long"), "x".repeat(20_000), { mode: 0o600 });
    for (const name of ["hard", "soft", "pipe", "open", "long"]) {
      expect([name, spares.keep(at(name))]).toEqual([name, "there"]);
      remove(spares, name);
    }
    mkdirSync(at("directory"), 0o600);
    expect(spares.keep(at("directory"))).toBe("there");
    expect(removeFile(at("directory"), spares)).toMatchObject({ ok: false, fault: { kind: "STORE_FAILED" } });
    expect([readdirSync(directory), kept(), spares.keep(at("nothing"))]).toEqual([["directory", "ours"], [], "nothing"]);
  });

  test("Where a file can't be moved to the others it is removed", () => {
    const spares = brainWith(0);
    write(spares, "a");
    writeFileSync(home, "a file in the way");
    remove(spares, "a");
    expect([readdirSync(directory), readFileSync(home, "utf8")]).toEqual([[], "a file in the way"]);
  });

  test("A link in the place of the spares' directory is not followed", () => {
    const elsewhere = join(root, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, ".plexus-spare-theirs"), "theirs", { mode: 0o600 });
    symlinkSync(elsewhere, home);
    const spares = new Spares();
    write(spares, "a");
    remove(spares, "a");
    write(spares, "b");
    expect([readdirSync(elsewhere), readdirSync(directory)]).toEqual([[".plexus-spare-theirs"], ["b"]]);
    expect(readFileSync(join(elsewhere, ".plexus-spare-theirs"), "utf8")).toBe("theirs");
  });
});

describe("taking", () => {
  test("A brain that begins takes over what the last one left", () => {
    brainWith(1);
    const ino = statSync(join(home, kept()[0] ?? "")).ino;
    write(new Spares(), "a");
    expect([inode("a"), text("a"), kept()]).toEqual([ino, "of a\n", []]);
  });

  const place: Readonly<Record<string, (spare: string, theirs: string) => void>> = {
    "a symbolic link": (spare, theirs) => symlinkSync(theirs, spare),
    "a hard link": (spare, theirs) => linkSync(theirs, spare),
    "a file that others may read": (spare) => writeFileSync(spare, "x", { mode: 0o644 }),
    "a pipe": (spare) => execFileSync("mkfifo", ["-m", "600", spare]),
    "a long file": (spare) => writeFileSync(spare, "x".repeat(20_000), { mode: 0o600 }),
    nothing: () => undefined,
  };
  test.each(Object.keys(place))("%s in the place of a spare is not written into: a file is made", (what) => {
    const spares = brainWith(1);
    const [spare, theirs] = [join(home, kept()[0] ?? ""), join(root, "theirs")];
    writeFileSync(theirs, "theirs", { mode: 0o600 });
    rmSync(spare);
    place[what]?.(spare, theirs);
    write(spares, "a");
    expect([text("a"), readFileSync(theirs, "utf8"), lstatSync(at("a")).nlink, statSync(at("a")).mode & 0o777]).toEqual([
      "of a\n",
      "theirs",
      1,
      0o600,
    ]);
    // And goes on as before.
    remove(spares, "a");
    write(spares, "b");
    expect([readdirSync(directory), text("b")]).toEqual([["b"], "of b\n"]);
  });

  test("A directory with a spare's name is left alone", () => {
    mkdirSync(join(home, ".plexus-spare-directory"), { recursive: true });
    write(new Spares(), "a");
    expect([text("a"), kept()]).toEqual(["of a\n", [".plexus-spare-directory"]]);
  });

  test("What a killed write left is replaced, and if it is another name of a file, that one keeps its content", () => {
    const spares = brainWith(1);
    write(new Spares(), "whole", "whole\n");
    renameSync(at("whole"), at("kept"));
    linkSync(at("kept"), at(".a"));
    write(spares, "a");
    expect([text("a"), text("kept"), readdirSync(directory)]).toEqual(["of a\n", "whole\n", ["a", "kept"]]);
  });

  test("A name that is too long is a fault, and costs no spare", () => {
    const spares = brainWith(2);
    const answer = replaceNow(at("n".repeat(255)), "x", { most: 9, durable: false }, spares);
    expect(answer).toMatchObject({ ok: false, fault: { kind: "STORE_FAILED" } });
    const inodes = kept().map((name) => statSync(join(home, name)).ino);
    for (const name of ["a", "b"]) write(spares, name);
    expect([inode("a"), inode("b")].toSorted()).toEqual(inodes.toSorted());
  });

  test("Directories that were removed and made again are written in as before", () => {
    const spares = brainWith(3);
    rmSync(root, { recursive: true });
    write(spares, "a");
    remove(spares, "a");
    write(spares, "b");
    remove(spares, "b");
    expect([readdirSync(directory), kept().length]).toEqual([[], 1]);
  });

  test("After somebody cleaned some of the spares away the others are used, and there are never more than the bound", () => {
    const spares = brainWith(4, 4);
    for (let round = 0; round < 3; round++) {
      rmSync(join(home, kept().at(-1) ?? ""));
      rmSync(join(home, kept()[0] ?? ""));
      for (const name of ["a", "b", "c", "d", "e", "f"]) write(spares, name);
      expect(kept()).toEqual([]);
      remove(spares, "a", "b", "c", "d", "e", "f");
      expect(kept()).toHaveLength(4);
    }
  });
});

test("Two brains on one directory never have one file, whoever keeps and takes", () => {
  const brains = [brainWith(4), new Spares()];
  const held = new Map<string, string>();
  for (let step = 0; step < 400; step++) {
    const brain = brains[step % 2];
    if (brain === undefined) throw new Error("no brain");
    // Fixed, but without a pattern.
    const name = `f${(step * step * 7 + step) % 13}`;
    if (held.has(name)) {
      remove(brain, name);
      held.delete(name);
    } else {
      write(brain, name, `${step}\n`);
      held.set(name, `${step}\n`);
    }
    expect(Object.fromEntries(readdirSync(directory).map((each) => [each, text(each)]))).toEqual(Object.fromEntries(held));
  }
  expect(new Set([...held.keys()].map(inode)).size).toBe(held.size);
});

test("A process with the same id replaces no spare of the one before", () => {
  brainWith(8);
  const spares = new Spares();
  for (let time = 0; time < 3; time++) {
    write(spares, "a");
    remove(spares, "a");
  }
  expect(kept()).toHaveLength(8);
});

test.skipIf(missing("spares and another file system", privateNamespaces))(
  "A directory of another file system has none, and others' are not looked up anew for it",
  () => {
    const spares = brainWith(4);
    // A list that is made anew has this one, too.
    const planted = join(home, ".plexus-spare-planted");
    writeFileSync(planted, "", { mode: 0o600 });
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", directory]);
    try {
      write(spares, "a");
      expect([kept().length, text("a")]).toEqual([5, "of a\n"]);
    } finally {
      execFileSync("umount", [directory]);
    }
    for (const name of ["b", "c", "d", "e", "f"]) write(spares, name);
    expect(kept()).toEqual([".plexus-spare-planted"]);
  },
);
