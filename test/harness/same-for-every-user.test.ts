import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { root } from "./compiled.ts";
import { dependsOnUser, sameForEveryUser } from "./same-for-every-user.ts";

test("no test file that is left out of an ordinary user's run starts programs, changes namespaces or modes", () => {
  for (const pattern of sameForEveryUser) {
    const files = globSync(pattern, { cwd: root });
    expect(files, `${pattern}`).not.toEqual([]);
    expect(files.filter((file) => dependsOnUser.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
  }
});
