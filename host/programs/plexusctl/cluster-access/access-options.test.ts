import { features } from "../../../../features/list.ts";
import { afterEach, expect, test, vi } from "vitest";
import { offerFor } from "../../../../src/command-line/complete.ts";
import { allCommands } from "../commands/all-commands.ts";
import { runCommandLine } from "../run-command-line.ts";

const commands = await allCommands();
/** Without a kind of finalizers the command has nothing to ask a cluster for. */
const hasFinalizers = features.some(({ finalizers }) => finalizers !== undefined);
/** Each command that reaches a cluster, with an argument where it needs one. */
const withAccess = commands
  .filter(({ options }) => options.some(({ name }) => name === "in-cluster"))
  .map(({ name, count }) => [name, ...Array.from({ length: count?.[0] ?? 0 }, () => "storage")].join(" "));

afterEach(() => vi.unstubAllEnvs());

test.each(withAccess)("%s offers both ways to a cluster in a shell", (command) => {
  const offer = JSON.stringify(offerFor(commands, [...command.split(" "), "--"]));
  for (const option of ["--in-cluster", "--kubeconfig"]) expect(offer).toContain(option);
});

test.each(withAccess.filter((name) => hasFinalizers || name !== "finalizers release"))(
  "%s needs one way to a cluster",
  async (command) => {
    const run = (...options: readonly string[]): ReturnType<typeof runCommandLine> =>
      runCommandLine([...command.split(" "), ...options], false);
    vi.stubEnv("KUBECONFIG", "");
    vi.stubEnv("HOME", "/none");
    vi.stubEnv("KUBERNETES_SERVICE_HOST", "");
    expect(await run()).toMatchObject({ status: 2, stderr: expect.stringMatching(/^give --kubeconfig FILE.*--in-cluster/) });
    expect(await run("--in-cluster")).toMatchObject({ status: 2, stderr: expect.stringContaining("needs a pod: KUBERNETES_") });
    expect(await run("--in-cluster", "--kubeconfig", "/none")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--in-cluster: --kubeconfig is not possible with it"),
    });
    // The environment's kubeconfig is no contradiction.
    vi.stubEnv("KUBECONFIG", "/none");
    vi.stubEnv("KUBERNETES_SERVICE_HOST", "127.0.0.1");
    vi.stubEnv("KUBERNETES_SERVICE_PORT", "1");
    // A machine without this file, or a pod, where port 1 refuses connections.
    const inCluster = expect.stringMatching(/serviceaccount\/token: ENOENT|ECONNREFUSED/);
    expect(await run("--in-cluster")).toMatchObject({ status: 1, stderr: inCluster });
    expect(await run()).toMatchObject({ status: 1, stderr: expect.stringMatching(/^kubeconfig \/none: ENOENT/) });
  },
);
