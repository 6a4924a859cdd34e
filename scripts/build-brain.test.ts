import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { refuseUnresolved } from "./build-brain.ts";

async function bundled(source: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-bundle-"));
  try {
    const input = join(directory, "program.ts");
    writeFileSync(input, source);
    const bundle = await rolldown({ input, platform: "node", external: [/^node:/], onLog: refuseUnresolved });
    const { output } = await bundle.generate({ format: "cjs" });
    await bundle.close();
    return output[0].code;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test("a build with a package that isn't there fails, and says what to do", async () => {
  await expect(bundled('import { a } from "a-package-that-is-not-there";\na();\n')).rejects.toThrow(
    /a-package-that-is-not-there[\s\S]*npm install/,
  );
});

test("a build with Node's own modules only does not", async () => {
  expect(await bundled('import { sep } from "node:path";\nconsole.log(sep);\n')).toContain('require("node:path")');
});
