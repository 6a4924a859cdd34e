import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { root } from "./compiled.ts";
import { computingTests } from "./computing-tests.ts";
import { dependsOnUser, onlyOfApiServer, sameForEveryUser } from "./same-for-every-user.ts";

test("no listed test file that is left out of an ordinary user's run starts programs, changes namespaces or modes", () => {
  for (const pattern of sameForEveryUser) {
    const files = globSync(pattern, { cwd: root });
    expect(files, `${pattern}`).not.toEqual([]);
    expect(files.filter((file) => dependsOnUser.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
  }
});

test("a test file of the API server alone neither has a node nor starts a program of its own", () => {
  const ofNode =
    /\b(?:execFile|execa|getuid|openNode|openPoolNode|openStage|startDaemon|installPlexus|createPodNamespace|chmod|spawn)/u;
  for (const file of onlyOfApiServer) {
    const text = readFileSync(join(root, file), "utf8");
    expect([file, text.includes("startApiServer("), ofNode.exec(text)?.[0]]).toEqual([file, true, undefined]);
  }
});

test("a test file only computes if no module that it reaches can act", () => {
  const tree = mkdtempSync(join(tmpdir(), "plexus-computing-"));
  const file = (path: string, text: string): void => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  };
  try {
    file("src/sum.ts", 'import { join } from "node:path";\nexport const sum = (a: number) => join(String(a));\n');
    file("host/starts.ts", 'import { spawn } from "node:child_process";\nexport const starts = spawn;\n');
    file("host/through.ts", 'export { starts } from "./starts.ts";\n');
    file("src/computes.test.ts", '// A process.exit() in a comment does nothing.\nimport { sum } from "./sum.ts";\nsum(1);\n');
    file("host/starts.test.ts", 'import { starts } from "./through.ts";\nstarts("true");\n');
    file("host/later.test.ts", 'const { starts } = await import("./through.ts");\nstarts("true");\n');
    file("host/user.test.ts", "export const user = process.getuid?.();\n");
    file("host/unknown.test.ts", "const name = String(1);\nawait import(name);\n");
    file("host/package.test.ts", 'import { execa } from "execa";\nawait execa("true");\n');
    file("host/absent.test.ts", 'import "./absent.ts";\n');
    expect(computingTests(tree)).toEqual(["src/computes.test.ts"]);
  } finally {
    rmSync(tree, { recursive: true });
  }
  // Most of src/, at least.
  expect(computingTests(root).length).toBeGreaterThan(100);
});
